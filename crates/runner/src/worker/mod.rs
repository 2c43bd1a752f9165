//! Worker process: stays alive and serves many calls. Lines, called frames, go to its standard input and come from its
//! descriptor 3; this module does not interpret them. Its other output is read at the same time, so that it never has
//! to wait for us.
//!
//! It is treated like a call: it has a process group, a control group and a mark of its own, and is known to the warden
//! and to its runner. It ends when it is asked to, when its runner shuts down, or when this value is dropped, together
//! with everything it has started.

mod footprint;
mod output;
mod reader;
mod sender;

use crate::calls::RunnerId;
use crate::capture::PipeSource;
use crate::child::Process;
use crate::launch::Launch;
use crate::running_call::RunningCall;
use crate::start::{nonblocking, output_pipe};
use crate::{ProcessEnding, Variables};
pub(crate) use footprint::Footprint;
use mcp_bash_budget::Budget;
use mcp_bash_sandbox::Confinement;
use output::Output;
use reader::FrameReader;
pub use reader::{Frame, FrameFault};
use rustix::process::Signal;
pub use sender::{FrameSender, NotTaken};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A worker to start. Arguments and environment are data: no shell ever reads them.
#[derive(Debug)]
pub struct WorkerInvocation {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    /// The whole environment: nothing is inherited.
    pub environment: Variables,
    /// The longest frame that is read.
    pub frame_limit: usize,
    /// How many bytes of the end of standard error are kept.
    pub error_tail: usize,
    pub confinement: Confinement,
}

/// What happens to a worker.
#[derive(Debug)]
pub enum WorkerEvent {
    Frame(Frame),
    /// There are no more frames, for this reason.
    NoMoreFrames(FrameFault),
    /// It no longer reads its standard input.
    InputClosed,
    Exited,
}

/// One of the two outputs that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

/// A worker that was started. When the value is dropped, it and all it has started are killed.
#[derive(Debug)]
pub struct WorkerProcess {
    /// The first field, so that it is dropped first.
    process: RunningCall,
    input: Arc<FrameSender>,
    frames: FrameReader,
    output: Output,
    errors: Output,
    footprint: Footprint,
    /// Whether [`WorkerEvent::InputClosed`] was reported.
    has_reported_closed_input: bool,
    /// The last field: what it keeps is dropped after the process.
    _confinement: Confinement,
}

impl WorkerProcess {
    pub(crate) fn start(
        runner: RunnerId,
        invocation: WorkerInvocation,
        ended: &AtomicBool,
    ) -> io::Result<Self> {
        let (stdin, input) = io::pipe()?;
        let (frames, descriptor_3) = output_pipe()?;
        let (output, stdout) = output_pipe()?;
        let (errors, stderr) = output_pipe()?;
        let launch = Launch::new(
            &invocation.program,
            &invocation.arguments,
            &invocation.directory,
            invocation.environment,
            [stdin.into(), stdout, stderr],
            invocation.confinement.clone(),
        )?
        .with_further(descriptor_3);
        let input = Arc::new(FrameSender::new(nonblocking(input.into())?));
        let process = RunningCall::start(runner, launch, Some(Arc::clone(&input)), ended)?;
        Ok(Self {
            footprint: process.footprint(),
            has_reported_closed_input: false,
            process,
            input,
            frames: FrameReader::new(PipeSource::new(frames), invocation.frame_limit),
            output: Output::new(PipeSource::new(output), 0),
            errors: Output::new(PipeSource::new(errors), invocation.error_tail),
            _confinement: invocation.confinement,
        })
    }

    /// The input for its frames.
    pub fn input(&self) -> &Arc<FrameSender> {
        &self.input
    }

    /// The next event. `on_print` receives the lines that it prints meanwhile, and a long frame is charged to the
    /// budget that `budget` returns. Cancel-safe.
    pub async fn next(
        &mut self,
        on_print: &mut impl FnMut(Stream, &[u8]),
        budget: &impl Fn() -> Arc<Budget>,
    ) -> WorkerEvent {
        loop {
            tokio::select! {
                biased;
                frame = self.frames.next(budget), if self.frames.is_open() => {
                    return frame.map_or_else(WorkerEvent::NoMoreFrames, WorkerEvent::Frame);
                }
                () = self.process.exited() => return WorkerEvent::Exited,
                () = self.input.broken(), if !self.has_reported_closed_input => {
                    self.has_reported_closed_input = true;
                    return WorkerEvent::InputClosed;
                }
                () = self.errors.read(), if self.errors.is_open() => {
                    self.errors.pass_on(&mut |line| on_print(Stream::Errors, line));
                }
                () = self.output.read(), if self.output.is_open() => {
                    self.output.pass_on(&mut |line| on_print(Stream::Output, line));
                }
            }
        }
    }

    /// A frame that has been written by now, without waiting: for a worker that has exited.
    pub fn frame_now(&mut self, budget: &impl Fn() -> Arc<Budget>) -> Result<Option<Frame>, FrameFault> {
        self.frames.next_now(budget)
    }

    /// Reads what it has written to standard error by now, and returns the end of it.
    pub fn errors_now(&mut self, on_print: &mut impl FnMut(Stream, &[u8])) -> &[u8] {
        self.errors.read_now(&mut |line| on_print(Stream::Errors, line));
        self.errors.tail()
    }

    /// How much memory it uses, in bytes, if the system reports it.
    pub fn memory(&self) -> Option<u64> {
        self.footprint.memory()
    }

    /// The same, including all processes that it has started, as far as they are found.
    pub fn memory_of_all(&self) -> Option<u64> {
        self.footprint.memory_of_all()
    }

    /// Whether it has started processes that are alive.
    pub fn has_others(&self) -> bool {
        self.footprint.has_others()
    }

    /// The periodic work while it serves a long call.
    pub fn upkeep(&self) {
        self.process.upkeep();
    }

    /// Sends `TERM` to its process group.
    pub fn terminate(&self) {
        self.process.signal(Signal::TERM);
    }

    /// Terminates it, if it has not exited, and all it has started, without a grace period. Returns how it ended.
    /// `on_print` receives its last output.
    pub async fn finish(self, on_print: &mut impl FnMut(Stream, &[u8])) -> ProcessEnding {
        let Self { mut process, input, mut output, mut errors, .. } = self;
        input.close();
        process.terminate(Duration::ZERO).await;
        let ending = process.finish().await;
        errors.drain(&mut |line| on_print(Stream::Errors, line));
        output.drain(&mut |line| on_print(Stream::Output, line));
        ending
    }
}
