//! Worker supervisor: reads what a worker's process writes, reports it, and terminates the process with everything it has
//! started.

use super::fault::{Fault, Why};
use super::frame::{self, NoFrame, Said};
use super::news::{Printing, WorkerNews};
use super::ready::ReadyWorker;
use mcp_bash_budget::Budget;
use mcp_bash_runner::{Frame, FrameFault, ProcessEnding, Stream, WorkerEvent, WorkerProcess};
use mcp_bash_wire::surrogates;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long a worker may take to exit after the end of its input, and after `TERM`.
const EXIT_GRACE: Duration = Duration::from_secs(2);
const TERM_GRACE: Duration = Duration::from_millis(500);

/// How long to wait for the exit of a process that has closed its descriptors, to report how it ended.
const EXIT_AFTER_CLOSE: Duration = Duration::from_millis(200);

/// Longer durations are reduced to this one, so that adding them to an instant cannot overflow.
pub(super) const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// What the task of a worker needs to report about its process.
pub(super) struct Supervisor {
    pub(super) script: PathBuf,
    pub(super) tell: Arc<dyn Fn(&WorkerNews<'_>) + Send + Sync>,
    pub(super) printing: Printing,
    /// Whether its standard error may be shown.
    pub(super) shows_errors: bool,
    pub(super) budget: Arc<Budget>,
}

/// A worker's message about why it cannot serve, and the position in the script.
#[derive(Default)]
pub(super) struct ReportedFailure {
    pub(super) message: String,
    pub(super) trace: String,
}

impl Supervisor {
    fn print(&mut self, stream: Stream, line: &[u8]) {
        let is_shown = stream == Stream::Output || self.shows_errors;
        if is_shown && let Some(line) = self.printing.shown(line) {
            (self.tell)(&WorkerNews::Printed { script: &self.script, stream, line: &line });
        }
    }

    pub(super) fn report_fault(&self, fault: &Fault) {
        (self.tell)(&WorkerNews::Failed { script: &self.script, why: fault.why.to_string() });
    }

    /// Why a line is not a frame. The line itself is kept on request.
    pub(super) fn report_malformed(&mut self, line: &[u8], problem: NoFrame) -> Why {
        if let Some(shown) = self.printing.shown(line) {
            (self.tell)(&WorkerNews::Unreadable { script: &self.script, line: &shown });
        }
        Why::NoFrame { bytes: line.len(), problem }
    }

    pub(super) fn log(&self, frame: &[u8]) {
        let notification = &String::from_utf8_lossy(frame);
        (self.tell)(&WorkerNews::Logged { script: &self.script, notification });
    }
}

/// A placeholder for the exit status, which is known when the process is reaped.
pub(super) const EXITED: Why = Why::Ended(ProcessEnding::Exited(0));

/// The next frame that a worker wrote before it exited, or why there is none. Systems other than Linux may report the exit before
/// the frame.
pub(super) fn last_frame(process: &mut WorkerProcess, budget: &Arc<Budget>) -> Result<Frame, Why> {
    match process.frame_now(&|| Arc::clone(budget)) {
        Ok(Some(frame)) => Ok(frame),
        Ok(None) | Err(FrameFault::Ended) => Err(EXITED),
        Err(fault) => Err(Why::Frames(fault)),
    }
}

impl Supervisor {
    /// Waits until the worker reports that it is ready: the frame, and the files it has loaded. Otherwise the reason, and
    /// the worker's own message.
    pub(super) async fn wait_until_ready(
        &mut self,
        process: &mut WorkerProcess,
        limit: Duration,
    ) -> Result<(Vec<u8>, Vec<PathBuf>), (Why, ReportedFailure)> {
        let deadline = Instant::now() + limit.min(FAR);
        let unexplained = |why| (why, ReportedFailure::default());
        loop {
            let next = timeout_at(deadline, self.next(process, None)).await;
            let frame = match next.map_err(|_| unexplained(Why::NotReady(limit)))? {
                WorkerEvent::Frame(frame) => frame,
                WorkerEvent::NoMoreFrames(fault) => {
                    return Err(unexplained(self.why_frames_ended(process, fault).await));
                }
                WorkerEvent::InputClosed => return Err(unexplained(self.why_input_closed(process).await)),
                WorkerEvent::Exited => {
                    // Its last output may say why.
                    last_frame(process, &self.budget).map_err(unexplained)?
                }
            };
            let mut bytes = frame.bytes;
            surrogates::replace_lone(&mut bytes);
            match frame::read(&bytes)
                .map_err(|problem| unexplained(self.report_malformed(&bytes, problem)))?
            {
                Said::Ready { files } => return Ok((bytes, files)),
                Said::Failed { message, trace } => {
                    return Err((Why::Failed, ReportedFailure { message, trace }));
                }
                Said::Notification { call: None } => self.log(&bytes),
                Said::Unknown => {}
                _ => return Err(unexplained(Why::Early)),
            }
        }
    }

    /// Waits until an idle worker can no longer serve, or breaks the protocol.
    pub(super) async fn until_gone(&mut self, process: &mut WorkerProcess) {
        while let WorkerEvent::Frame(frame) = self.next(process, None).await {
            match frame::read(&frame.bytes) {
                Ok(Said::Notification { call: None }) => self.log(&frame.bytes),
                Ok(Said::Unknown) => {}
                _ => return,
            }
        }
    }

    pub(super) async fn next(
        &mut self,
        process: &mut WorkerProcess,
        only: Option<&ReadyWorker>,
    ) -> WorkerEvent {
        let budget = Arc::clone(&self.budget);
        let budget =
            || only.and_then(ReadyWorker::budget_of_only_call).unwrap_or_else(|| Arc::clone(&budget));
        process.next(&mut |stream, line| self.print(stream, line), &budget).await
    }

    /// Why there are no more frames: usually because the process has exited.
    pub(super) async fn why_frames_ended(&mut self, process: &mut WorkerProcess, fault: FrameFault) -> Why {
        if !matches!(fault, FrameFault::Ended | FrameFault::Half) {
            return Why::Frames(fault);
        }
        if self.exits_within(process, EXIT_AFTER_CLOSE).await && fault == FrameFault::Ended {
            return EXITED;
        }
        Why::Frames(fault)
    }

    /// Why it no longer reads its input: usually because the process has exited.
    pub(super) async fn why_input_closed(&mut self, process: &mut WorkerProcess) -> Why {
        if self.exits_within(process, EXIT_AFTER_CLOSE).await { EXITED } else { Why::InputClosed }
    }

    /// Waits for its exit. False after the timeout.
    async fn exits_within(&mut self, process: &mut WorkerProcess, limit: Duration) -> bool {
        let exit = async { while !matches!(self.next(process, None).await, WorkerEvent::Exited) {} };
        timeout(limit, exit).await.is_ok()
    }

    /// Lets a worker that has done nothing wrong clean up and exit.
    pub(super) async fn shut_down(&mut self, mut process: WorkerProcess) {
        process.input().close();
        if !self.exits_within(&mut process, EXIT_GRACE).await {
            process.terminate();
            self.exits_within(&mut process, TERM_GRACE).await;
        }
        self.terminate(process, EXITED).await;
    }

    /// Terminates the worker with everything it has started, and returns how it ended.
    pub(super) async fn terminate(&mut self, mut process: WorkerProcess, why: Why) -> Fault {
        let errors = process.errors_now(&mut |stream, line| self.print(stream, line));
        let errors = String::from_utf8_lossy(errors).into_owned();
        let ending = process.finish(&mut |stream, line| self.print(stream, line)).await;
        let why = if matches!(why, Why::Ended(_)) { Why::ended(ending) } else { why };
        Fault { why, said: errors, is_unread: false }
    }
}
