//! Spare workers: were started to report their definitions, and are kept for a while. The first call of the file takes one
//! over, so that its interpreter is started only once.

use super::pool::StartPermit;
use mcp_bash_runner::{Variables, WorkerInvocation};
use mcp_bash_sandbox::Declaration;
use parking_lot::Mutex;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// How long a worker is kept for its first call. Clients call soon after they have listed the tools, or much later.
pub(super) const KEPT: Duration = Duration::from_secs(10);

/// How many spare workers are kept. A project may have any number of files.
const MOST: usize = 8;

/// The oldest first.
#[derive(Default)]
pub(super) struct Spares(Mutex<Vec<Spare>>);

struct Spare {
    start: StartOfWorker,
    take_over: Sender<StartPermit>,
}

/// The inputs of the start of a worker. Two workers are equal only if all of them are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StartOfWorker {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Variables,
    /// Its sandbox, and the roots that the sandbox depends on.
    sandbox: Option<Declaration>,
    roots: Vec<PathBuf>,
}

impl StartOfWorker {
    /// The inputs of an invocation to which its sandbox was not applied yet.
    pub(super) fn of(invocation: &WorkerInvocation, sandbox: Option<Declaration>, roots: &[PathBuf]) -> Self {
        Self {
            program: invocation.program.clone(),
            arguments: invocation.arguments.clone(),
            environment: invocation.environment.clone(),
            sandbox,
            roots: roots.to_vec(),
        }
    }
}

impl Spares {
    /// Keeps a worker. The receiver yields the permit with which it is taken over. If the receiver is closed, the worker is no
    /// longer kept: it was replaced, or there are too many.
    pub(super) fn keep(&self, start: StartOfWorker) -> Receiver<StartPermit> {
        let (take_over, calls) = channel();
        let mut spares = self.0.lock();
        spares.retain(|spare| !spare.take_over.is_closed() && spare.start.arguments != start.arguments);
        if spares.len() == MOST {
            spares.remove(0);
        }
        spares.push(Spare { start, take_over });
        calls
    }

    /// Lets a spare worker with the same start serve instead of a new one. Returns the permit if there is none.
    pub(super) fn take_over(&self, start: &StartOfWorker, permit: StartPermit) -> Option<StartPermit> {
        let mut spares = self.0.lock();
        let Some(place) = spares.iter().position(|spare| spare.start == *start) else {
            return Some(permit);
        };
        let spare = spares.remove(place);
        drop(spares);
        spare.take_over.send(permit).err()
    }
}
