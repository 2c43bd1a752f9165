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
    /// What is held in all.
    pub(crate) budget: Arc<Budget>,
    /// Whether every process is to end.
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

    /// Runs a process to its end. It ends when `cancelled` completes, or when this is dropped.
    pub(crate) async fn run(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
        on_line: impl FnMut(&[u8]),
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, StartError> {
        self.runner.run(process.into(), cancelled, on_line, on_question).await.map(Outcome::from)
    }

    /// Runs a process that has no way to talk to us while it runs.
    pub(crate) async fn run_without_talk(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, StartError> {
        self.run(process, cancelled, |_| {}, drop).await
    }

    /// The same for a thread that may block, and drives no runtime itself: one of our own does, since that of a server need
    /// not be under way yet.
    pub(crate) fn run_blocking(&self, process: Process<'_>) -> Result<Outcome, StartError> {
        let program = process.start.program.clone();
        match block_on(self.run_without_talk(process, std::future::pending())) {
            Ok(outcome) => outcome,
            Err(source) => Err(StartError::Spawn { program, source }),
        }
    }

    /// Completes when every process is to end: what only begins then is dropped, and not asked to end first.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut has_ended = self.has_ended.subscribe();
        async move {
            // Without the sender there is nothing to wait for either.
            let _ = has_ended.wait_for(|has_ended| *has_ended).await;
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        *self.has_ended.borrow()
    }

    /// Ends every process, and removes what was only there while they ran.
    pub(crate) fn end(&self, grace: Duration) {
        self.has_ended.send_replace(true);
        self.runner.end_all(grace);
        self.state_dir.remove();
    }
}

/// Waits for what runs a process, on a thread that may block.
pub(crate) fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    Ok(Builder::new_current_thread().enable_all().build()?.block_on(future))
}
