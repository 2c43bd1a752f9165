//! Worker lifecycle: a task that starts one worker's process, passes on its frames to their callers, checks after each call
//! whether it may stay, and terminates it with everything it has started.

use super::fault::{Fault, Why};
use super::frame::{self, NoFrame, Said};
use super::news::{Printing, WorkerNews};
use super::pool::{Lease, Pool, StartPermit};
use super::ready::{Command, Event, OpenCall, ReadyWorker};
use super::spares::KEPT;
use super::stamps::Stamps;
use crate::confining::sandboxes::Lease as Sandbox;
use crate::running::unanswered::start_passes;
use mcp_bash_budget::Budget;
use mcp_bash_project::trust;
use mcp_bash_runner::{Frame, FrameFault, Runner, Stream, WorkerEvent, WorkerInvocation, WorkerProcess};
use mcp_bash_wire::surrogates;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout, timeout_at};

/// How long a worker may take to answer a cancelled call.
const HEED: Duration = Duration::from_secs(1);

/// How long a worker may take to exit after the end of its input, and after `TERM`.
const GRACE: Duration = Duration::from_secs(2);
const LAST_GRACE: Duration = Duration::from_millis(500);

/// How long to wait for the exit of a process that has closed its descriptors, to report how it ended.
const EXIT_AFTER_CLOSE: Duration = Duration::from_millis(200);

const MB: u64 = 1024 * 1024;

/// Longer durations are reduced to this one, so that adding them to an instant cannot overflow.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// A worker that is about to be started.
pub(super) struct Birth {
    pub(super) runner: Arc<Runner>,
    pub(super) script: PathBuf,
    /// The project.
    pub(super) root: PathBuf,
    pub(super) invocation: WorkerInvocation,
    /// Its sandbox, if it has one.
    pub(super) sandbox: Option<Arc<Sandbox>>,
    /// The stamps of the script before the start.
    pub(super) stamps: Stamps,
    /// The budget for frames that belong to no single call.
    pub(super) budget: Arc<Budget>,
    pub(super) tell: Arc<dyn Fn(&WorkerNews<'_>) + Send + Sync>,
    pub(super) ended: Ended,
}

/// Completes at shutdown. A worker that has had no call by then has nothing to clean up, and is killed.
pub(super) type Ended = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A worker that is ready, and does not serve yet.
pub(super) struct Ready {
    about: About,
    process: WorkerProcess,
    sandbox: Option<Arc<Sandbox>>,
    stamps: Stamps,
    /// The files that it has loaded.
    loaded: Vec<PathBuf>,
    /// Its ready frame.
    pub(super) frame: Vec<u8>,
    ended: Ended,
}

/// Why a worker did not become ready.
pub(super) struct Stillborn {
    about: About,
    pub(super) fault: Fault,
    /// The position in the script, as the worker reports it.
    trace: String,
    /// The files that it had loaded.
    loaded: Vec<PathBuf>,
}

/// A worker's message about why it cannot serve, and the position in the script.
#[derive(Default)]
struct Complaint {
    message: String,
    trace: String,
}

impl Birth {
    /// Starts the process, waits until it is ready, and attends to it until it ends.
    pub(super) async fn live(self, permit: StartPermit) {
        match self.begin(permit.pool().bounds.start).await {
            Ok(ready) => ready.serve(permit).await,
            Err(Stillborn { about, fault, trace, loaded }) => {
                permit.pool().note_loaded(&loaded);
                if !matches!(fault.why, Why::NotStarted { .. } | Why::ServerEnds) {
                    let why = fault.told();
                    (about.tell)(&WorkerNews::NotStarted { script: &about.script, why, trace: &trace });
                }
                permit.failed(fault);
            }
        }
    }

    /// Starts the process, and waits until it is ready.
    pub(super) async fn begin(self, limit: Duration) -> Result<Ready, Stillborn> {
        let Self { runner, script, root, invocation, sandbox, mut stamps, budget, tell, mut ended } = self;
        let shows_errors = invocation.error_tail > 0;
        let mut about = About { script, tell, printing: Printing::new(), shows_errors, budget };
        let mut process = match runner.start_worker(invocation) {
            Ok(process) => process,
            Err(error) => {
                let passes = start_passes(&error);
                let source = crate::running::start_failure::StartFailure::explain(&about.script, error);
                let fault = Fault::new(Why::NotStarted { why: source.to_string(), passes });
                return Err(Stillborn { about, fault, trace: String::new(), loaded: Vec::new() });
            }
        };
        let mut loaded = Vec::new();
        let (why, complaint) = tokio::select! {
            biased;
            () = &mut ended => {
                drop(process);
                let fault = Fault::new(Why::ServerEnds);
                return Err(Stillborn { about, fault, trace: String::new(), loaded: Vec::new() });
            }
            said = about.first_word(&mut process, limit) => match said {
                Ok((frame, files)) => match trust::judge_loaded(files.iter().map(PathBuf::as_path), &root) {
                    Ok(()) => {
                        stamps.add(&files);
                        return Ok(Ready { about, process, sandbox, stamps, loaded: files, frame, ended });
                    }
                    Err(distrust) => {
                        loaded = files;
                        (Why::Distrusted(distrust), Complaint::default())
                    }
                },
                Err(why) => why,
            },
        };
        let mut fault = about.end(process, why).await;
        if matches!(fault.why, Why::Failed) {
            // Its own message about the failure is enough.
            fault.said = complaint.message;
        }
        Err(Stillborn { about, fault, trace: complaint.trace, loaded })
    }
}

impl Ready {
    /// Serves calls, and attends to the process until it ends.
    pub(super) async fn serve(self, permit: StartPermit) {
        let Self { about, process, sandbox, stamps, loaded, .. } = self;
        permit.pool().note_loaded(&loaded);
        let (sender, commands) = unbounded_channel();
        let worker = Arc::new(ReadyWorker::new(Arc::clone(process.input()), sandbox, stamps, sender));
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
            own_words: None,
        };
        permit.succeeded(worker);
        life.serve().await;
    }

    /// Waits for a pool that has calls for it, and serves them; but not for ever.
    pub(super) async fn wait(mut self, mut taken_over: oneshot::Receiver<StartPermit>) {
        let permit = tokio::select! {
            biased;
            () = &mut self.ended => return,
            permit = &mut taken_over => permit.ok(),
            () = self.about.until_gone(&mut self.process) => None,
            () = sleep(KEPT) => {
                taken_over.close();
                taken_over.try_recv().ok()
            }
        };
        // A permit that arrives meanwhile is dropped with it, and its sender starts another worker.
        drop(taken_over);
        match permit {
            Some(permit) => self.serve(permit).await,
            None => self.about.end_in_peace(self.process).await,
        }
    }
}

/// What is known about a worker besides its process.
struct About {
    script: PathBuf,
    tell: Arc<dyn Fn(&WorkerNews<'_>) + Send + Sync>,
    printing: Printing,
    /// Whether its standard error may be shown.
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

    /// Why a line is not a frame. The line itself is kept on request.
    fn no_frame(&mut self, line: &[u8], problem: NoFrame) -> Why {
        if let Some(shown) = self.printing.shown(line) {
            (self.tell)(&WorkerNews::Unreadable { script: &self.script, line: &shown });
        }
        Why::NoFrame { bytes: line.len(), problem }
    }

    fn log(&self, frame: &[u8]) {
        let notification = &String::from_utf8_lossy(frame);
        (self.tell)(&WorkerNews::Logged { script: &self.script, notification });
    }
}

/// A placeholder for the exit status, which is known when the process is reaped.
const EXITED: Why = Why::Ended(mcp_bash_runner::ProcessEnding::Exited(0));

/// The next frame that a worker wrote before it exited, or why there is none. Systems other than Linux may report the exit before
/// the frame.
fn last_frame(process: &mut WorkerProcess, budget: &Arc<Budget>) -> Result<Frame, Why> {
    match process.frame_now(&|| Arc::clone(budget)) {
        Ok(Some(frame)) => Ok(frame),
        Ok(None) | Err(FrameFault::Ended) => Err(EXITED),
        Err(fault) => Err(Why::Frames(fault)),
    }
}

impl About {
    /// Waits until the worker reports that it is ready: the frame, and the files it has loaded. Otherwise the reason, and
    /// the worker's own message.
    async fn first_word(
        &mut self,
        process: &mut WorkerProcess,
        limit: Duration,
    ) -> Result<(Vec<u8>, Vec<PathBuf>), (Why, Complaint)> {
        let deadline = Instant::now() + limit.min(FAR);
        let wordless = |why| (why, Complaint::default());
        loop {
            let next = timeout_at(deadline, self.next(process, None)).await;
            let frame = match next.map_err(|_| wordless(Why::NotReady(limit)))? {
                WorkerEvent::Frame(frame) => frame,
                WorkerEvent::NoMoreFrames(fault) => return Err(wordless(self.closed(process, fault).await)),
                WorkerEvent::InputClosed => return Err(wordless(self.deaf(process).await)),
                WorkerEvent::Exited => {
                    // Its last output may say why.
                    last_frame(process, &self.budget).map_err(wordless)?
                }
            };
            let mut bytes = frame.bytes;
            surrogates::mend(&mut bytes);
            match frame::read(&bytes).map_err(|problem| wordless(self.no_frame(&bytes, problem)))? {
                Said::Ready { files } => return Ok((bytes, files)),
                Said::Failed { message, trace } => return Err((Why::Failed, Complaint { message, trace })),
                Said::Notification { call: None } => self.log(&bytes),
                Said::Unknown => {}
                _ => return Err(wordless(Why::Early)),
            }
        }
    }

    /// Waits until an idle worker can no longer serve, or breaks the protocol.
    async fn until_gone(&mut self, process: &mut WorkerProcess) {
        while let WorkerEvent::Frame(frame) = self.next(process, None).await {
            match frame::read(&frame.bytes) {
                Ok(Said::Notification { call: None }) => self.log(&frame.bytes),
                Ok(Said::Unknown) => {}
                _ => return,
            }
        }
    }

    async fn next(&mut self, process: &mut WorkerProcess, only: Option<&ReadyWorker>) -> WorkerEvent {
        let budget = Arc::clone(&self.budget);
        let budget =
            || only.and_then(ReadyWorker::budget_of_only_call).unwrap_or_else(|| Arc::clone(&budget));
        process.next(&mut |stream, line| self.print(stream, line), &budget).await
    }

    /// Why there are no more frames: usually because the process has exited.
    async fn closed(&mut self, process: &mut WorkerProcess, fault: FrameFault) -> Why {
        if !matches!(fault, FrameFault::Ended | FrameFault::Half) {
            return Why::Frames(fault);
        }
        if self.has_exited(process, EXIT_AFTER_CLOSE).await && fault == FrameFault::Ended {
            return EXITED;
        }
        Why::Frames(fault)
    }

    /// Why it no longer reads its input: usually because the process has exited.
    async fn deaf(&mut self, process: &mut WorkerProcess) -> Why {
        if self.has_exited(process, EXIT_AFTER_CLOSE).await { EXITED } else { Why::Deaf }
    }

    /// Waits for its exit. False after the timeout.
    async fn has_exited(&mut self, process: &mut WorkerProcess, limit: Duration) -> bool {
        let exit = async { while !matches!(self.next(process, None).await, WorkerEvent::Exited) {} };
        timeout(limit, exit).await.is_ok()
    }

    /// Lets a worker that has done nothing wrong clean up and exit.
    async fn end_in_peace(&mut self, mut process: WorkerProcess) {
        process.input().close();
        if !self.has_exited(&mut process, GRACE).await {
            process.terminate();
            self.has_exited(&mut process, LAST_GRACE).await;
        }
        self.end(process, EXITED).await;
    }

    /// Terminates the worker with everything it has started, and returns how it ended.
    async fn end(&mut self, mut process: WorkerProcess, why: Why) -> Fault {
        let errors = process.errors_now(&mut |stream, line| self.print(stream, line));
        let errors = String::from_utf8_lossy(errors).into_owned();
        let ending = process.finish(&mut |stream, line| self.print(stream, line)).await;
        let why = if matches!(why, Why::Ended(_)) { Why::ended(ending) } else { why };
        Fault { why, said: errors, is_unread: false }
    }
}

/// A worker that can take calls, and the state of its task.
struct Life {
    presence: Presence,
    about: About,
    process: WorkerProcess,
    commands: UnboundedReceiver<Command>,
    /// The cancelled calls that it has not answered, and their deadlines.
    cancelled: BTreeMap<u64, Instant>,
    last_use: Instant,
    served: u64,
    /// It receives no more calls.
    is_retired: bool,
    /// Its own message about why it can no longer serve.
    own_words: Option<String>,
}

/// How it is terminated, if it is time.
enum End {
    /// It has done nothing wrong, and can clean up.
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
                Ok(None) => return self.end_if_retired(),
                Ok(Some(place)) => return self.after_call(place).await,
                Err(why) => why,
            },
            WorkerEvent::NoMoreFrames(fault) => self.about.closed(&mut self.process, fault).await,
            WorkerEvent::InputClosed => {
                self.retire();
                let is_free = self.presence.worker.calls.lock().open.is_empty();
                if !is_free && self.process.input().unread() == 0 {
                    // It can still answer the calls that it has read.
                    return None;
                }
                self.about.deaf(&mut self.process).await
            }
            WorkerEvent::Exited => {
                self.presence.retire();
                // Its last output may be an answer.
                let budget = Arc::clone(&self.about.budget);
                loop {
                    let frame = match last_frame(&mut self.process, &budget) {
                        Ok(frame) => frame,
                        Err(why) => break why,
                    };
                    if self.said(frame).await.is_err() {
                        break EXITED;
                    }
                }
            }
        };
        Some(End::Fault(why))
    }

    /// Passes on a frame of the worker. Returns the place of a call that is answered.
    async fn said(&mut self, mut frame: Frame) -> Result<Option<Lease>, Why> {
        surrogates::mend(&mut frame.bytes);
        let said = frame::read(&frame.bytes);
        let said = said.map_err(|problem| self.about.no_frame(&frame.bytes, problem))?;
        let (call, event) = match said {
            Said::Unknown => return Ok(None),
            Said::Ready { .. } => {
                self.replace("it said twice that it is ready");
                return Ok(None);
            }
            Said::Failed { message, .. } => {
                self.own_words = Some(message);
                return Err(Why::Failed);
            }
            Said::Notification { call: None } => {
                self.about.log(&frame.bytes);
                return Ok(None);
            }
            Said::Notification { call: Some(call) } => (call, Event::Line(frame.bytes)),
            Said::Question { call, number } => (call, Event::Question { number, frame: frame.bytes }),
            Said::Withdrawal { call, number } => (call, Event::Withdrawal(number)),
            Said::Answer { call, kind, at } => {
                let answered = self.presence.worker.calls.lock().open.remove(&call);
                let Some(answered) = answered else {
                    self.require_given(call)?;
                    self.replace("it answered a call twice");
                    return Ok(None);
                };
                self.cancelled.remove(&call);
                let mut text = frame.bytes;
                text.truncate(at.end);
                text.drain(..at.start);
                // The caller may no longer wait.
                let _ = answered.events.send(Event::Answer { kind, text, held: frame.held }).await;
                return Ok(Some(answered.lease));
            }
        };
        let events = self.presence.worker.calls.lock().open.get(&call).map(|call| call.events.clone());
        if let Some(events) = events {
            let _ = events.send(event).await;
            return Ok(None);
        }
        self.require_given(call)?;
        if let Event::Question { number, .. } = event {
            let _ = self.process.input().send(frame::of_refusal(call, number, "the call has ended"), None);
        }
        Ok(None)
    }

    /// A late frame about an earlier call belongs to no caller, and is not the fault of the open calls.
    fn require_given(&self, call: u64) -> Result<(), Why> {
        let has_had = self.presence.worker.calls.lock().has_had(call);
        if has_had { Ok(()) } else { Err(Why::UnknownCall(call)) }
    }

    /// Gives it no more calls, because it breaks the protocol. Open calls are still served.
    fn replace(&mut self, why: &str) {
        let why = format!("{why}, which is not in the protocol");
        (self.about.tell)(&WorkerNews::Replaced { script: &self.about.script, why });
        self.retire();
    }

    /// Checks whether the worker may stay after a call, before another call gets its place.
    async fn after_call(&mut self, place: Lease) -> Option<End> {
        // The caller goes on first.
        tokio::task::yield_now().await;
        let bounds = &self.presence.pool.bounds;
        self.served += 1;
        self.last_use = Instant::now();
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

    /// Terminates it if no more calls come, and none is open.
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
                    // If it no longer reads, that is noticed elsewhere.
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
        let Self { presence, mut about, process, own_words, .. } = self;
        presence.retire();
        match end {
            End::InPeace => about.end_in_peace(process).await,
            End::Fault(why) => {
                let unread = process.input().unread();
                // By the runner, at shutdown.
                let is_told_to_end = process.input().is_closed();
                let (open, is_of_one_call) = presence.close();
                let why = if is_told_to_end { Why::ServerEnds } else { why };
                let mut fault = about.end(process, why).await;
                if let Some(words) = own_words {
                    fault.said = words;
                }
                if !is_of_one_call {
                    fault.said.clear();
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

/// Keeps a worker in the pool of its script.
struct Presence {
    pool: Arc<Pool>,
    worker: Arc<ReadyWorker>,
}

impl Presence {
    fn retire(&self) {
        self.pool.retire(&self.worker);
    }

    /// Refuses new calls, and returns the open ones, and whether the worker's output can only be about the single call it
    /// had.
    fn close(&self) -> (Vec<OpenCall>, bool) {
        let mut calls = self.worker.calls.lock();
        calls.is_closed = true;
        (std::mem::take(&mut calls.open).into_values().collect(), calls.has_had_one_at_most())
    }

    /// Refuses new calls, unless one is open.
    fn close_if_free(&self) -> bool {
        let mut calls = self.worker.calls.lock();
        calls.is_closed |= calls.open.is_empty();
        calls.is_closed
    }
}

impl Drop for Presence {
    /// The runtime shuts down, and the process with it.
    fn drop(&mut self) {
        self.retire();
        let fault = Arc::new(Fault::new(Why::ServerEnds));
        for call in self.close().0 {
            let _ = call.events.try_send(Event::Gone(Arc::clone(&fault)));
        }
    }
}
