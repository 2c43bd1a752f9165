//! Processes of a project: what they share, and how each is run.

use crate::confining::command::CommandLine;
use crate::confining::confined::{Confined, NotConfined};
use crate::confining::sandboxes::{Lease, Sandboxes};
use crate::running::outcome::Outcome;
use crate::running::process::Process;
use crate::running::redacting;
use mcp_bash_budget::Budget;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Question, Runner, StartError, StateDir};
use mcp_bash_sandbox::Confinement;
use mcp_bash_secrets::KnownSecrets;
use mcp_bash_settings::{PROCESS_SETTING, Settings};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

/// What all processes of a project share.
pub(crate) struct Processes {
    pub(crate) settings: Arc<Settings>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) state_dir: Arc<StateDir>,
    pub(crate) sandboxes: Arc<Sandboxes>,
    /// The budget of the whole server.
    pub(crate) budget: Arc<Budget>,
    /// The secrets that are known so far, and redacted.
    pub(crate) known_secrets: Arc<KnownSecrets>,
    /// Whether every process is to be terminated.
    has_ended: watch::Sender<bool>,
}

impl Processes {
    pub(crate) fn new(runner: Runner, settings: Settings, state_dir: Arc<StateDir>) -> Self {
        let settings = Arc::new(settings);
        Self {
            runner: Arc::new(runner),
            sandboxes: Arc::new(Sandboxes::new(Arc::clone(&settings), Arc::clone(&state_dir))),
            budget: Budget::new(settings.max_process_bytes, PROCESS_SETTING),
            settings,
            state_dir,
            known_secrets: Arc::default(),
            has_ended: watch::Sender::new(false),
        }
    }

    /// Runs a process to its end. It is terminated when `cancelled` completes, or when the future is dropped.
    pub(crate) async fn run(
        &self,
        mut process: Process<'_>,
        cancelled: impl Future<Output = ()>,
        mut on_line: impl FnMut(&[u8]),
        mut on_question: impl FnMut(Question),
    ) -> Result<Outcome, StartError> {
        let (known, error_tail) = (&*self.known_secrets, process.limits.error_tail);
        let mut notifications = redacting::Notifications::new(known);
        let on_line = |line: &[u8]| notifications.pass_on(line, &mut on_line);
        let on_question = |question| on_question(redacting::question(known, question));
        let redacted = |outcome| redacting::outcome(known, Outcome::from(outcome), error_tail);
        let Some(confined) = process.sandbox.filter(|confined| self.sandboxes.may_confine(confined)) else {
            let invocation = process.invocation(Confinement::default());
            return self.runner.run(invocation, cancelled, on_line, on_question).await.map(redacted);
        };
        // Boxed, to keep the futures of other processes small.
        let (lease, confinement) = Box::pin(self.confine(confined, &mut process)).await?;
        let directory = process.directory;
        let invocation = process.invocation(confinement);
        let outcome = self.runner.run(invocation, cancelled, on_line, on_question).await;
        let outcome = outcome.map(redacted)?;
        Ok(match lease {
            Some(lease) => outcome.explained_by(|exit_code, said| lease.explain(directory, exit_code, said)),
            None => outcome,
        })
    }

    /// The sandbox of a process, if it has one, and the restrictions that it starts under.
    async fn confine(
        &self,
        confined: Confined<'_>,
        process: &mut Process<'_>,
    ) -> Result<(Option<Box<Lease>>, Confinement), StartError> {
        let refused = |why: NotConfined| StartError::Confinement(why.to_string());
        let runtime = Handle::current();
        let lease = self.sandboxes.lease(confined, &process.start.program, &process.environment, &runtime);
        let Some(mut lease) = lease.await.map_err(refused)? else {
            return Ok((None, Confinement::default()));
        };
        lease.set_variables(&mut process.environment);
        let folder = process.talk.map(|talk| talk.folder.path());
        let Start { program, arguments } = &mut process.start;
        let command = CommandLine { program, arguments };
        let confinement = lease.confine(folder, command).map_err(|error| refused(error.into()))?;
        Ok((Some(Box::new(lease)), confinement))
    }

    /// Runs a process without side channel and questions.
    pub(crate) async fn run_without_talk(
        &self,
        process: Process<'_>,
        cancelled: impl Future<Output = ()>,
    ) -> Result<Outcome, StartError> {
        self.run(process, cancelled, |_| {}, drop).await
    }

    /// The same for a thread that may block and is outside any runtime. It builds a runtime of its own, because the server's
    /// may not be running yet.
    pub(crate) fn run_blocking(&self, process: Process<'_>) -> Result<Outcome, StartError> {
        let program = process.start.program.clone();
        match block_on(self.run_without_talk(process, std::future::pending())) {
            Ok(outcome) => outcome,
            Err(source) => Err(StartError::Spawn { program, source }),
        }
    }

    /// Completes at shutdown. Work that begins after that is dropped, without a grace period.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut has_ended = self.has_ended.subscribe();
        async move {
            // If the sender was dropped, there is nothing to wait for.
            let _ = has_ended.wait_for(|has_ended| *has_ended).await;
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        *self.has_ended.borrow()
    }

    /// Terminates every process, and removes the private folder.
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
