//! Worker start: starts a worker's process, and waits until it is ready to serve.

use super::fault::{Fault, Why};
use super::news::{Printing, WorkerNews};
use super::pool::StartPermit;
use super::ready::ReadyWorker;
use super::serving::{PoolMember, ServingWorker};
use super::spares::KEPT;
use super::stamps::Stamps;
use super::supervisor::{ReportedFailure, Supervisor};
use crate::confining::sandboxes::Lease as Sandbox;
use crate::running::start_failure::StartFailure;
use crate::running::unanswered::start_passes;
use mcp_bash_budget::Budget;
use mcp_bash_project::trust;
use mcp_bash_runner::{Runner, WorkerInvocation, WorkerProcess};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// A worker that is about to be started.
pub(super) struct StartingWorker {
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
    pub(super) shutdown: Shutdown,
}

/// Completes at shutdown. A worker that has had no call by then has nothing to clean up, and is killed.
pub(super) type Shutdown = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A worker that is ready, and does not serve yet.
pub(super) struct StartedWorker {
    supervisor: Supervisor,
    process: WorkerProcess,
    sandbox: Option<Arc<Sandbox>>,
    stamps: Stamps,
    /// The files that it has loaded.
    loaded: Vec<PathBuf>,
    /// Its ready frame.
    pub(super) frame: Vec<u8>,
    shutdown: Shutdown,
}

/// Why a worker did not become ready.
pub(super) struct FailedStart {
    supervisor: Supervisor,
    pub(super) fault: Fault,
    /// The position in the script, as the worker reports it.
    trace: String,
    /// The files that it had loaded.
    loaded: Vec<PathBuf>,
}

impl StartingWorker {
    /// Starts the process, waits until it is ready, and attends to it until it ends.
    pub(super) async fn start_and_serve(self, permit: StartPermit) {
        match self.start(permit.pool().bounds.start).await {
            Ok(started) => started.serve(permit).await,
            Err(FailedStart { supervisor, fault, trace, loaded }) => {
                permit.pool().note_loaded(&loaded);
                if !matches!(fault.why, Why::NotStarted { .. } | Why::ServerEnds) {
                    let why = fault.told();
                    (supervisor.tell)(&WorkerNews::NotStarted {
                        script: &supervisor.script,
                        why,
                        trace: &trace,
                    });
                }
                permit.failed(fault);
            }
        }
    }

    /// Starts the process, and waits until it is ready.
    pub(super) async fn start(self, limit: Duration) -> Result<StartedWorker, FailedStart> {
        let Self { runner, script, root, invocation, sandbox, mut stamps, budget, tell, mut shutdown } = self;
        let shows_errors = invocation.error_tail > 0;
        let mut supervisor = Supervisor { script, tell, printing: Printing::new(), shows_errors, budget };
        let mut process = match runner.start_worker(invocation) {
            Ok(process) => process,
            Err(error) => {
                let passes = start_passes(&error);
                let source = StartFailure::explain(&supervisor.script, error);
                let fault = Fault::new(Why::NotStarted { why: source.to_string(), passes });
                return Err(FailedStart { supervisor, fault, trace: String::new(), loaded: Vec::new() });
            }
        };
        let mut loaded = Vec::new();
        let (why, reported) = tokio::select! {
            biased;
            () = &mut shutdown => {
                drop(process);
                let fault = Fault::new(Why::ServerEnds);
                return Err(FailedStart { supervisor, fault, trace: String::new(), loaded: Vec::new() });
            }
            said = supervisor.wait_until_ready(&mut process, limit) => match said {
                Ok((frame, files)) => match trust::judge_loaded(files.iter().map(PathBuf::as_path), &root) {
                    Ok(()) => {
                        stamps.add(&files);
                        return Ok(StartedWorker { supervisor, process, sandbox, stamps, loaded: files, frame, shutdown });
                    }
                    Err(distrust) => {
                        loaded = files;
                        (Why::Distrusted(distrust), ReportedFailure::default())
                    }
                },
                Err(why) => why,
            },
        };
        let mut fault = supervisor.terminate(process, why).await;
        if matches!(fault.why, Why::Failed) {
            // Its own message about the failure is enough.
            fault.said = reported.message;
        }
        Err(FailedStart { supervisor, fault, trace: reported.trace, loaded })
    }
}

impl StartedWorker {
    /// Serves calls, and attends to the process until it ends.
    pub(super) async fn serve(self, permit: StartPermit) {
        let Self { supervisor, process, sandbox, stamps, loaded, .. } = self;
        permit.pool().note_loaded(&loaded);
        let (sender, commands) = unbounded_channel();
        let worker = Arc::new(ReadyWorker::new(Arc::clone(process.input()), sandbox, stamps, sender));
        let member = PoolMember { pool: Arc::clone(permit.pool()), worker: Arc::clone(&worker) };
        let serving = ServingWorker::new(member, supervisor, process, commands);
        permit.succeeded(worker);
        serving.serve().await;
    }

    /// Waits for a pool that has calls for it, and serves them; but not for ever.
    pub(super) async fn wait_for_calls(mut self, mut taken_over: oneshot::Receiver<StartPermit>) {
        let permit = tokio::select! {
            biased;
            () = &mut self.shutdown => return,
            permit = &mut taken_over => permit.ok(),
            () = self.supervisor.until_gone(&mut self.process) => None,
            () = sleep(KEPT) => {
                taken_over.close();
                taken_over.try_recv().ok()
            }
        };
        // A permit that arrives meanwhile is dropped with it, and its sender starts another worker.
        drop(taken_over);
        match permit {
            Some(permit) => self.serve(permit).await,
            None => self.supervisor.shut_down(self.process).await,
        }
    }
}
