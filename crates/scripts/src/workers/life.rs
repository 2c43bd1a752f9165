//! The life of one worker: a task that starts its process, passes on what it says to those who called it, looks after
//! each call whether it may stay, and ends it with all it has started.

use super::fault::{Fault, Why};
use super::frame::{self, Said};
use super::news::{Printing, WorkerNews};
use super::pool::{Lease, Pool, StartPermit};
use super::ready::{Command, Event, OpenCall, ReadyWorker};
use super::stamps::Stamps;
use super::surrogates;
use mcp_bash_budget::Budget;
use mcp_bash_project::trust;
use mcp_bash_runner::{Frame, FrameFault, Runner, Stream, WorkerEvent, WorkerInvocation, WorkerProcess};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, Sleep, sleep_until, timeout, timeout_at};

/// How long a worker may take to answer a call that was cancelled.
const HEED: Duration = Duration::from_secs(1);

/// How long a worker may take to end when its input has ended, and to end after `TERM`.
const GRACE: Duration = Duration::from_secs(2);
const LAST_GRACE: Duration = Duration::from_millis(500);

/// How long to wait for the end of a process that has closed its descriptors, to say how it ended.
const EXIT_AFTER_CLOSE: Duration = Duration::from_millis(200);

const MB: u64 = 1024 * 1024;

/// Longer durations are taken to be this one, so that adding them to an instant cannot overflow.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// A worker that is to be started.
pub(super) struct Birth {
    pub(super) runner: Arc<Runner>,
    pub(super) script: PathBuf,
    /// The project.
    pub(super) root: PathBuf,
    pub(super) invocation: WorkerInvocation,
    /// What the script looked like before the start.
    pub(super) stamps: Stamps,
    pub(super) permit: StartPermit,
    /// What frames are charged to that belong to no single call.
    pub(super) budget: Arc<Budget>,
    pub(super) tell: Arc<dyn Fn(&WorkerNews<'_>) + Send + Sync>,
}

impl Birth {
    /// Starts the process, waits until it can serve, and stays with it to its end.
    pub(super) async fn live(self) {
        let Self { runner, script, root, invocation, stamps, permit, budget, tell } = self;
        let shows_errors = invocation.error_tail > 0;
        let mut about = About { script, tell, printing: Printing::new(), shows_errors, budget };
        let process = match runner.start_worker(invocation) {
            Ok(process) => process,
            Err(error) => {
                let source = crate::start_failure::StartFailure::explain(&about.script, error);
                permit.failed(Fault::new(Why::NotStarted(source.to_string())));
                return;
            }
        };
        let bounds = permit.pool().bounds;
        let begun = match begin(process, bounds.start, &mut about).await {
            Ok((process, files)) => {
                permit.pool().note_loaded(&files);
                match trust::judge_loaded(files.iter().map(PathBuf::as_path), &root) {
                    Ok(()) => Ok((process, files)),
                    Err(distrust) => Err(about.end(process, Why::Distrusted(distrust)).await),
                }
            }
            Err(fault) => Err(fault),
        };
        let (process, files) = match begun {
            Ok(ready) => ready,
            Err(fault) => {
                about.failed(&fault);
                permit.failed(fault);
                return;
            }
        };
        let mut stamps = stamps;
        stamps.add(&files);
        let (sender, commands) = unbounded_channel();
        let worker = Arc::new(ReadyWorker::new(Arc::clone(process.input()), stamps, sender));
        let pool = Arc::clone(permit.pool());
        let life = Life {
            presence: Presence { pool, worker: Arc::clone(&worker) },
            about,
            process,
            commands,
            cancelled: BTreeMap::new(),
            last_use: Instant::now(),
            served: 0,
            is_retired: false,
        };
        permit.succeeded(worker);
        life.serve().await;
    }
}

/// What is known of a worker besides its process.
struct About {
    script: PathBuf,
    tell: Arc<dyn Fn(&WorkerNews<'_>) + Send + Sync>,
    printing: Printing,
    /// Whether anybody may hear what it writes to standard error.
    shows_errors: bool,
    budget: Arc<Budget>,
}

impl About {
    fn print(&mut self, stream: Stream, line: &[u8]) {
        let is_shown = stream == Stream::Output || self.shows_errors;
        if is_shown && let Some(line) = self.printing.shown(line) {
            (self.tell)(&WorkerNews::Printed { script: &self.script, stream, line: &line });
        }
    }

    fn failed(&self, fault: &Fault) {
        (self.tell)(&WorkerNews::Failed { script: &self.script, why: fault.why.to_string() });
    }

    fn log(&self, frame: &[u8]) {
        let notification = &String::from_utf8_lossy(frame);
        (self.tell)(&WorkerNews::Logged { script: &self.script, notification });
    }
}

/// Waits until the worker says that it can serve, and returns which files it has loaded.
async fn begin(
    mut process: WorkerProcess,
    limit: Duration,
    about: &mut About,
) -> Result<(WorkerProcess, Vec<PathBuf>), Fault> {
    let deadline = Instant::now() + limit.min(FAR);
    let why = loop {
        match timeout_at(deadline, about.next(&mut process, None)).await {
            Err(_) => break Why::NotReady(limit),
            Ok(WorkerEvent::Frame(frame)) => match frame::read(&frame.bytes) {
                Ok(Said::Ready { files }) => return Ok((process, files)),
                Ok(Said::Failed { message, trace }) => {
                    for line in trace.lines() {
                        about.print(Stream::Errors, line.as_bytes());
                    }
                    break Why::Failed(message);
                }
                Ok(Said::Notification { call: None }) => about.log(&frame.bytes),
                Ok(Said::Unknown) => {}
                Ok(_) => break Why::Rubbish("wrote of a call before it was ready".to_owned()),
                Err(rubbish) => break Why::Rubbish(rubbish),
            },
            Ok(WorkerEvent::NoMoreFrames(fault)) => break about.closed(&mut process, fault).await,
            Ok(WorkerEvent::InputClosed) => break about.deaf(&mut process).await,
            Ok(WorkerEvent::Exited) => break EXITED,
        }
    };
    // What it said of why it failed is enough.
    let has_said = matches!(why, Why::Failed(_));
    let mut fault = about.end(process, why).await;
    if has_said {
        fault.errors.clear();
    }
    Err(fault)
}

/// In the place of how it exited, which is known when it is reaped.
const EXITED: Why = Why::Ended(mcp_bash_runner::ProcessEnding::Exited(0));

impl About {
    async fn next(&mut self, process: &mut WorkerProcess, only: Option<&ReadyWorker>) -> WorkerEvent {
        let budget = Arc::clone(&self.budget);
        let budget =
            || only.and_then(ReadyWorker::budget_of_only_call).unwrap_or_else(|| Arc::clone(&budget));
        process.next(&mut |stream, line| self.print(stream, line), &budget).await
    }

    /// Why there are no more frames: mostly since the process has ended.
    async fn closed(&mut self, process: &mut WorkerProcess, fault: FrameFault) -> Why {
        if !matches!(fault, FrameFault::Ended | FrameFault::Half) {
            return Why::Frames(fault);
        }
        if self.has_exited(process, EXIT_AFTER_CLOSE).await && fault == FrameFault::Ended {
            return EXITED;
        }
        Why::Frames(fault)
    }

    /// Why it does not read its input any more: mostly since the process has ended.
    async fn deaf(&mut self, process: &mut WorkerProcess) -> Why {
        if self.has_exited(process, EXIT_AFTER_CLOSE).await { EXITED } else { Why::Deaf }
    }

    /// Waits for its end. False when it takes longer.
    async fn has_exited(&mut self, process: &mut WorkerProcess, limit: Duration) -> bool {
        let exit = async { while !matches!(self.next(process, None).await, WorkerEvent::Exited) {} };
        timeout(limit, exit).await.is_ok()
    }

    /// Ends the worker with all it has started, and says how it ended.
    async fn end(&mut self, mut process: WorkerProcess, why: Why) -> Fault {
        let errors = process.errors_now(&mut |stream, line| self.print(stream, line));
        let errors = String::from_utf8_lossy(errors).into_owned();
        let ending = process.finish(&mut |stream, line| self.print(stream, line)).await;
        let why = if matches!(why, Why::Ended(_)) { Why::Ended(ending) } else { why };
        Fault { why, errors, is_unread: false }
    }
}

/// A worker that can take calls, and the task that stays with it.
struct Life {
    presence: Presence,
    about: About,
    process: WorkerProcess,
    commands: UnboundedReceiver<Command>,
    /// The cancelled calls that it has not answered, and until when it may.
    cancelled: BTreeMap<u64, Instant>,
    last_use: Instant,
    served: u64,
    /// It gets no more calls.
    is_retired: bool,
}

/// Whether it is time to end, and how.
enum End {
    /// It has done nothing wrong, and can end what it keeps.
    InPeace,
    Fault(Why),
}

impl Life {
    async fn serve(mut self) {
        let alarm = sleep_until(self.next_alarm());
        tokio::pin!(alarm);
        let end = loop {
            tokio::select! {
                biased;
                event = self.about.next(&mut self.process, Some(&self.presence.worker)) => {
                    if let Some(end) = self.happened(event).await {
                        break end;
                    }
                }
                command = self.commands.recv() => {
                    if let Some(end) = command.and_then(|command| self.obey(&command, alarm.as_mut())) {
                        break end;
                    }
                }
                () = &mut alarm => {
                    if let Some(end) = self.look_at_the_clock() {
                        break end;
                    }
                    alarm.as_mut().reset(self.next_alarm());
                }
            }
        };
        self.end(end).await;
    }

    async fn happened(&mut self, event: WorkerEvent) -> Option<End> {
        let why = match event {
            WorkerEvent::Frame(frame) => match self.said(frame).await {
                Ok(None) => return None,
                Ok(Some(place)) => return self.after_call(place).await,
                Err(why) => why,
            },
            WorkerEvent::NoMoreFrames(fault) => self.about.closed(&mut self.process, fault).await,
            WorkerEvent::InputClosed => {
                self.retire();
                let is_free = self.presence.worker.calls.lock().open.is_empty();
                if !is_free && self.process.input().unread() == 0 {
                    // It can still answer what it has read.
                    return None;
                }
                self.about.deaf(&mut self.process).await
            }
            WorkerEvent::Exited => {
                self.presence.retire();
                // What it wrote last may be an answer.
                let budget = Arc::clone(&self.about.budget);
                while let Some(frame) = self.process.frame_now(&|| Arc::clone(&budget)) {
                    if self.said(frame).await.is_err() {
                        break;
                    }
                }
                EXITED
            }
        };
        Some(End::Fault(why))
    }

    /// Passes on what the worker says. Returns the place of a call that has ended.
    async fn said(&mut self, mut frame: Frame) -> Result<Option<Lease>, Why> {
        surrogates::mend(&mut frame.bytes);
        let said = frame::read(&frame.bytes).map_err(Why::Rubbish)?;
        let not_open = |call: u64| Why::Rubbish(format!("wrote of call {call}, which is not open"));
        let (call, event) = match said {
            Said::Unknown => return Ok(None),
            Said::Ready { .. } => return Err(Why::Rubbish("said twice that it is ready".to_owned())),
            Said::Failed { message, .. } => return Err(Why::Failed(message)),
            Said::Notification { call: None } => {
                self.about.log(&frame.bytes);
                return Ok(None);
            }
            Said::Notification { call: Some(call) } => (call, Event::Line(frame.bytes)),
            Said::Question { call, number } => (call, Event::Question { number, frame: frame.bytes }),
            Said::Withdrawal { call, number } => (call, Event::Withdrawal(number)),
            Said::Answer { call, kind, at } => {
                let answered = self.presence.worker.calls.lock().open.remove(&call);
                let answered = answered.ok_or_else(|| not_open(call))?;
                self.cancelled.remove(&call);
                let mut text = frame.bytes;
                text.truncate(at.end);
                text.drain(..at.start);
                // Whoever called may not wait any more.
                let _ = answered.events.send(Event::Answer { kind, text, held: frame.held }).await;
                return Ok(Some(answered.lease));
            }
        };
        let events = self.presence.worker.calls.lock().open.get(&call).map(|call| call.events.clone());
        let _ = events.ok_or_else(|| not_open(call))?.send(event).await;
        Ok(None)
    }

    /// Looks whether the worker may stay after a call, before others get the place of that call.
    async fn after_call(&mut self, place: Lease) -> Option<End> {
        // Whoever called goes on first.
        tokio::task::yield_now().await;
        let bounds = &self.presence.pool.bounds;
        self.served += 1;
        self.last_use = Instant::now();
        if bounds.at_once == 1 {
            // The end of it is told to whoever calls when the worker fails, and must not be of another call.
            self.process.forget_errors(&mut |stream, line| self.about.print(stream, line));
        }
        let is_free = self.presence.worker.calls.lock().open.is_empty();
        let memory = self.process.memory().filter(|used| *used > bounds.memory);
        let option = |name: &str| self.presence.pool.worker.program.place_of_option(name);
        let why = if let Some(used) = memory {
            let (used, limit, option) = (used / MB, bounds.memory / MB, option("memoryMb"));
            Some(format!(
                "it needs {used} MB after a call, and may keep {limit} MB; {option} lets it keep more"
            ))
        } else if is_free && !bounds.keeps_processes && self.process.has_others() {
            let option = option("keepsProcesses");
            Some(format!("it left processes running after a call, which end with it; {option} keeps them"))
        } else {
            None
        };
        if let Some(why) = why {
            (self.about.tell)(&WorkerNews::Replaced { script: &self.about.script, why });
            self.retire();
        } else if bounds.max_calls.is_some_and(|most| self.served >= most) {
            self.retire();
        }
        drop(place);
        self.end_if_retired()
    }

    fn retire(&mut self) {
        self.is_retired = true;
        self.presence.retire();
    }

    /// To end where no more calls come, and none is open.
    fn end_if_retired(&self) -> Option<End> {
        (self.is_retired && self.presence.close_if_free()).then_some(End::InPeace)
    }

    fn obey(&mut self, command: &Command, alarm: Pin<&mut Sleep>) -> Option<End> {
        match command {
            Command::Retire => {
                self.is_retired = true;
                self.end_if_retired()
            }
            Command::Cancel(call) => {
                if self.presence.worker.calls.lock().open.contains_key(call) {
                    // Where it does not read any more, that is noticed elsewhere.
                    let _ = self.process.input().send(frame::of_cancellation(*call), None);
                    self.cancelled.insert(*call, Instant::now() + HEED);
                    alarm.reset(self.next_alarm());
                }
                None
            }
            Command::Upkeep => {
                self.process.upkeep();
                let limit = self.presence.pool.bounds.memory;
                let used = self.process.memory_of_all().filter(|used| *used > limit.saturating_mul(2))?;
                let program = self.presence.pool.worker.program;
                Some(End::Fault(Why::Memory { used: used / MB, limit: limit / MB, program }))
            }
        }
    }

    fn look_at_the_clock(&mut self) -> Option<End> {
        let now = Instant::now();
        if self.cancelled.values().any(|until| *until <= now) {
            return Some(End::Fault(Why::Unheeding));
        }
        if !self.presence.worker.calls.lock().open.is_empty() {
            self.last_use = now;
        }
        let idle = self.presence.pool.bounds.idle?;
        if now < self.last_use + idle.min(FAR) {
            return None;
        }
        self.retire();
        self.end_if_retired()
    }

    fn next_alarm(&self) -> Instant {
        let idle = self.last_use + self.presence.pool.bounds.idle.unwrap_or(FAR).min(FAR);
        self.cancelled.values().copied().fold(idle, Instant::min)
    }

    async fn end(self, end: End) {
        let Self { presence, mut about, mut process, .. } = self;
        presence.retire();
        match end {
            End::InPeace => {
                process.input().close();
                if !about.has_exited(&mut process, GRACE).await {
                    process.terminate();
                    about.has_exited(&mut process, LAST_GRACE).await;
                }
                about.end(process, EXITED).await;
            }
            End::Fault(why) => {
                let unread = process.input().unread();
                // By the runner, with the server.
                let is_told_to_end = process.input().is_closed();
                let open = presence.close();
                let mut fault = about.end(process, why).await;
                if presence.pool.bounds.at_once > 1 {
                    // It may be of another call.
                    fault.errors.clear();
                }
                fault.is_unread = open.len() == 1 && open.iter().all(|call| unread >= call.frame_bytes);
                if !is_told_to_end {
                    about.failed(&fault);
                }
                let fault = Arc::new(fault);
                for call in open {
                    let _ = call.events.send(Event::Gone(Arc::clone(&fault))).await;
                }
            }
        }
    }
}

/// That a worker is among those of its script.
struct Presence {
    pool: Arc<Pool>,
    worker: Arc<ReadyWorker>,
}

impl Presence {
    fn retire(&self) {
        self.pool.retire(&self.worker);
    }

    /// Lets no more calls begin, and returns those that are open.
    fn close(&self) -> Vec<OpenCall> {
        let mut calls = self.worker.calls.lock();
        calls.is_closed = true;
        std::mem::take(&mut calls.open).into_values().collect()
    }

    /// Lets no more calls begin, unless one has.
    fn close_if_free(&self) -> bool {
        let mut calls = self.worker.calls.lock();
        calls.is_closed |= calls.open.is_empty();
        calls.is_closed
    }
}

impl Drop for Presence {
    /// The runtime ends, and the process with it.
    fn drop(&mut self) {
        self.retire();
        let fault = Arc::new(Fault::new(Why::ServerEnds));
        for call in self.close() {
            let _ = call.events.try_send(Event::Gone(Arc::clone(&fault)));
        }
    }
}
