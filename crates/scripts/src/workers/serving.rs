//! Serving worker: a task that passes on the frames of one worker to its callers, checks after each call whether it may stay,
//! and shuts it down.

use super::fault::{Fault, Why};
use super::frame::{self, Said};
use super::news::WorkerNews;
use super::pool::{Lease, Pool};
use super::ready::{Command, Event, OpenCall, ReadyWorker};
use super::supervisor::{EXITED, FAR, Supervisor, last_frame};
use mcp_bash_runner::{Frame, WorkerEvent, WorkerProcess};
use mcp_bash_wire::surrogates;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long a worker may take to answer a cancelled call.
const CANCELLATION_GRACE: Duration = Duration::from_secs(1);

const MB: u64 = 1024 * 1024;

/// A worker that can take calls, and the state of its task.
pub(super) struct ServingWorker {
    member: PoolMember,
    supervisor: Supervisor,
    process: WorkerProcess,
    commands: UnboundedReceiver<Command>,
    /// The cancelled calls that it has not answered, and their deadlines.
    cancelled: BTreeMap<u64, Instant>,
    last_use: Instant,
    served: u64,
    /// It receives no more calls.
    is_retired: bool,
    /// Its own message about why it can no longer serve.
    reported_failure: Option<String>,
}

/// How it is terminated, if it is time.
enum End {
    /// It has done nothing wrong, and can clean up.
    ShutDown,
    Fault(Why),
}

impl ServingWorker {
    pub(super) fn new(
        member: PoolMember,
        supervisor: Supervisor,
        process: WorkerProcess,
        commands: UnboundedReceiver<Command>,
    ) -> Self {
        Self {
            member,
            supervisor,
            process,
            commands,
            cancelled: BTreeMap::new(),
            last_use: Instant::now(),
            served: 0,
            is_retired: false,
            reported_failure: None,
        }
    }

    pub(super) async fn serve(mut self) {
        let alarm = sleep_until(self.next_alarm());
        tokio::pin!(alarm);
        let end = loop {
            tokio::select! {
                biased;
                event = self.supervisor.next(&mut self.process, Some(&self.member.worker)) => {
                    if let Some(end) = self.handle_event(event).await {
                        break end;
                    }
                }
                command = self.commands.recv() => {
                    if let Some(end) = command.and_then(|command| self.handle_command(&command, alarm.as_mut())) {
                        break end;
                    }
                }
                () = &mut alarm => {
                    if let Some(end) = self.handle_alarm() {
                        break end;
                    }
                    alarm.as_mut().reset(self.next_alarm());
                }
            }
        };
        self.end(end).await;
    }

    async fn handle_event(&mut self, event: WorkerEvent) -> Option<End> {
        let why = match event {
            WorkerEvent::Frame(frame) => match self.pass_on(frame).await {
                Ok(None) => return self.end_if_retired(),
                Ok(Some(place)) => return self.after_call(place).await,
                Err(why) => why,
            },
            WorkerEvent::NoMoreFrames(fault) => {
                self.supervisor.why_frames_ended(&mut self.process, fault).await
            }
            WorkerEvent::InputClosed => {
                self.retire();
                let is_free = self.member.worker.calls.lock().open.is_empty();
                if !is_free && self.process.input().unread() == 0 {
                    // It can still answer the calls that it has read.
                    return None;
                }
                self.supervisor.why_input_closed(&mut self.process).await
            }
            WorkerEvent::Exited => {
                self.member.retire();
                // Its last output may be an answer.
                let budget = Arc::clone(&self.supervisor.budget);
                loop {
                    let frame = match last_frame(&mut self.process, &budget) {
                        Ok(frame) => frame,
                        Err(why) => break why,
                    };
                    if self.pass_on(frame).await.is_err() {
                        break EXITED;
                    }
                }
            }
        };
        Some(End::Fault(why))
    }

    /// Passes on a frame of the worker. Returns the place of a call that is answered.
    async fn pass_on(&mut self, mut frame: Frame) -> Result<Option<Lease>, Why> {
        surrogates::replace_lone(&mut frame.bytes);
        let said = frame::read(&frame.bytes);
        let said = said.map_err(|problem| self.supervisor.report_malformed(&frame.bytes, problem))?;
        let (call, event) = match said {
            Said::Unknown => return Ok(None),
            Said::Ready { .. } => {
                self.replace("it said twice that it is ready");
                return Ok(None);
            }
            Said::Failed { message, .. } => {
                self.reported_failure = Some(message);
                return Err(Why::Failed);
            }
            Said::Notification { call: None } => {
                self.supervisor.log(&frame.bytes);
                return Ok(None);
            }
            Said::Notification { call: Some(call) } => (call, Event::Line(frame.bytes)),
            Said::Question { call, number } => (call, Event::Question { number, frame: frame.bytes }),
            Said::Withdrawal { call, number } => (call, Event::Withdrawal(number)),
            Said::Answer { call, kind, at } => {
                let answered = self.member.worker.calls.lock().open.remove(&call);
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
        let events = self.member.worker.calls.lock().open.get(&call).map(|call| call.events.clone());
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
        let has_had = self.member.worker.calls.lock().has_had(call);
        if has_had { Ok(()) } else { Err(Why::UnknownCall(call)) }
    }

    /// Gives it no more calls, because it breaks the protocol. Open calls are still served.
    fn replace(&mut self, why: &str) {
        let why = format!("{why}, which is not in the protocol");
        (self.supervisor.tell)(&WorkerNews::Replaced { script: &self.supervisor.script, why });
        self.retire();
    }

    /// Checks whether the worker may stay after a call, before another call gets its place.
    async fn after_call(&mut self, place: Lease) -> Option<End> {
        // The caller goes on first.
        tokio::task::yield_now().await;
        let bounds = &self.member.pool.bounds;
        self.served += 1;
        self.last_use = Instant::now();
        let is_free = self.member.worker.calls.lock().open.is_empty();
        let memory = self.process.memory().filter(|used| *used > bounds.memory);
        let option = |name: &str| self.member.pool.worker.program.place_of_option(name);
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
            (self.supervisor.tell)(&WorkerNews::Replaced { script: &self.supervisor.script, why });
            self.retire();
        } else if bounds.max_calls.is_some_and(|most| self.served >= most) {
            self.retire();
        }
        drop(place);
        self.end_if_retired()
    }

    fn retire(&mut self) {
        self.is_retired = true;
        self.member.retire();
    }

    /// Terminates it if no more calls come, and none is open.
    fn end_if_retired(&self) -> Option<End> {
        (self.is_retired && self.member.close_if_free()).then_some(End::ShutDown)
    }

    fn handle_command(&mut self, command: &Command, alarm: Pin<&mut Sleep>) -> Option<End> {
        match command {
            Command::Retire => {
                self.is_retired = true;
                self.end_if_retired()
            }
            Command::Cancel(call) => {
                if self.member.worker.calls.lock().open.contains_key(call) {
                    // If it no longer reads, that is noticed elsewhere.
                    let _ = self.process.input().send(frame::of_cancellation(*call), None);
                    self.cancelled.insert(*call, Instant::now() + CANCELLATION_GRACE);
                    alarm.reset(self.next_alarm());
                }
                None
            }
            Command::Upkeep => {
                self.process.upkeep();
                let limit = self.member.pool.bounds.memory;
                let used = self.process.memory_of_all().filter(|used| *used > limit.saturating_mul(2))?;
                let program = self.member.pool.worker.program;
                Some(End::Fault(Why::Memory { used: used / MB, limit: limit / MB, program }))
            }
        }
    }

    fn handle_alarm(&mut self) -> Option<End> {
        let now = Instant::now();
        if self.cancelled.values().any(|until| *until <= now) {
            return Some(End::Fault(Why::IgnoredCancellation));
        }
        if !self.member.worker.calls.lock().open.is_empty() {
            self.last_use = now;
        }
        let idle = self.member.pool.bounds.idle?;
        if now < self.last_use + idle.min(FAR) {
            return None;
        }
        self.retire();
        self.end_if_retired()
    }

    fn next_alarm(&self) -> Instant {
        let idle = self.last_use + self.member.pool.bounds.idle.unwrap_or(FAR).min(FAR);
        self.cancelled.values().copied().fold(idle, Instant::min)
    }

    async fn end(self, end: End) {
        let Self { member, mut supervisor, process, reported_failure, .. } = self;
        member.retire();
        match end {
            End::ShutDown => supervisor.shut_down(process).await,
            End::Fault(why) => {
                let unread = process.input().unread();
                // By the runner, at shutdown.
                let is_told_to_end = process.input().is_closed();
                let (open, is_of_one_call) = member.close();
                let why = if is_told_to_end { Why::ServerEnds } else { why };
                let mut fault = supervisor.terminate(process, why).await;
                if let Some(words) = reported_failure {
                    fault.said = words;
                }
                if !is_of_one_call {
                    fault.said.clear();
                }
                fault.is_unread = open.len() == 1 && open.iter().all(|call| unread >= call.frame_bytes);
                if !is_told_to_end {
                    supervisor.report_fault(&fault);
                }
                let fault = Arc::new(fault);
                for call in open {
                    let _ = call.events.send(Event::Gone(Arc::clone(&fault))).await;
                }
            }
        }
    }
}

/// A worker in the pool of its script.
pub(super) struct PoolMember {
    pub(super) pool: Arc<Pool>,
    pub(super) worker: Arc<ReadyWorker>,
}

impl PoolMember {
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

impl Drop for PoolMember {
    /// The runtime shuts down, and the process with it.
    fn drop(&mut self) {
        self.retire();
        let fault = Arc::new(Fault::new(Why::ServerEnds));
        for call in self.close().0 {
            let _ = call.events.try_send(Event::Gone(Arc::clone(&fault)));
        }
    }
}
