//! Processes of a project: what all of them share, and how each is run.

use crate::running::outcome::Outcome;
use crate::running::process::Process;
use mcp_bash_budget::Budget;
use mcp_bash_runner::{Question, Runner, StartError, StateDir};
use mcp_bash_settings::{PROCESS_SETTING, Settings};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::watch;

/// What all processes of a project share.
pub(crate) struct Processes {
    pub(crate) settings: Arc<Settings>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) state_dir: Arc<StateDir>,
    /// The budget for everything.
    pub(crate) budget: Arc<Budget>,
    /// Whether every process is to be terminated.
    has_ended: watch::Sender<bool>,
}

impl Processes {
    pub(crate) fn new(runner: Runner, settings: Settings, state_dir: Arc<StateDir>) -> Self {
        Self {
            runner: Arc::new(runner),
            budget: Budget::new(settings.max_process_bytes, PROCESS_SETTING),
            settings: Arc::new(settings),
            state_dir,
            has_ended: watch::Sender::new(false),
        }
    }

    /// Runs a process to its end. It is terminated when `cancelled` completes, or when the future is dropped.
    pub(crate) async fn run(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
        on_line: impl FnMut(&[u8]),
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, StartError> {
        self.runner.run(process.into(), cancelled, on_line, on_question).await.map(Outcome::from)
    }

    /// Runs a process without a channel to us.
    pub(crate) async fn run_without_talk(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, StartError> {
        self.run(process, cancelled, |_| {}, drop).await
    }

    /// The same for a thread that may block and drives no runtime. It uses a runtime of its own, because the server's may
    /// not be running yet.
    pub(crate) fn run_blocking(&self, process: Process<'_>) -> Result<Outcome, StartError> {
        let program = process.start.program.clone();
        match block_on(self.run_without_talk(process, std::future::pending())) {
            Ok(outcome) => outcome,
            Err(source) => Err(StartError::Spawn { program, source }),
        }
    }

    /// Completes at shutdown: work that begins after that is dropped, not asked to end first.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut has_ended = self.has_ended.subscribe();
        async move {
            // Without the sender there is nothing to wait for.
            let _ = has_ended.wait_for(|has_ended| *has_ended).await;
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        *self.has_ended.borrow()
    }

    /// Terminates every process, and removes what existed only while they ran.
    pub(crate) fn end(&self, grace: Duration) {
        self.has_ended.send_replace(true);
        self.runner.end_all(grace);
        self.state_dir.remove();
    }
}

/// Waits for a future that runs a process, on a thread that may block.
pub(crate) fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    Ok(Builder::new_current_thread().enable_all().build()?.block_on(future))
}
