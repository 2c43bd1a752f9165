//! Worker pool of one script: which workers are free, which calls are queued, and whether another worker is to be started.
//!
//! A call takes a free worker, or is queued. A queued call starts the worker, because that needs the data of a caller; the
//! worker serves the first call in the queue when it is ready. If a start fails, the first call in the queue receives the
//! reason, and the next one tries again: so no worker is started for which no call waits.

use super::bounds::Bounds;
use super::fault::Fault;
use super::ready::{Command, ReadyWorker};
use super::which::Which;
use mcp_bash_project::Worker;
use mcp_bash_project::trust::{self, Distrust};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;

pub(super) struct Pool {
    pub(super) worker: Worker,
    pub(super) variables: Vec<String>,
    pub(super) sandbox: Option<Declaration>,
    pub(super) secrets: Needs,
    roots: Vec<PathBuf>,
    pub(super) bounds: Bounds,
    /// The files that the last worker has loaded: the next one will load them too.
    loaded: Mutex<Vec<PathBuf>>,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    /// The workers that take calls, the most recently used one last.
    ready: Vec<Slot>,
    /// How many are being started.
    starting: usize,
    /// How many workers wait for the answer to a question, and cannot serve another call meanwhile.
    resting: usize,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

struct Slot {
    worker: Arc<ReadyWorker>,
    /// The number of its open calls.
    taken: usize,
}

/// What a queued call receives.
pub(super) enum Turn {
    Take(Lease),
    /// Permission to start a worker, and to wait for it.
    Start(StartPermit),
    Failed(Arc<Fault>),
}

/// What a new call receives.
pub(super) enum Taken {
    Lease(Lease),
    Wait {
        turn: oneshot::Receiver<Turn>,
        /// Permission to start a worker meanwhile.
        start: Option<StartPermit>,
        /// Whether there are workers now, which serve other calls.
        are_busy: bool,
    },
}

/// The place of one call in a worker. Dropping it passes the place on to the next call in the queue.
pub(super) struct Lease {
    pool: Arc<Pool>,
    pub(super) worker: Arc<ReadyWorker>,
}

/// Permission to start one worker. Dropping it counts as a failed start.
pub(super) struct StartPermit(Arc<Pool>);

impl Pool {
    pub(super) fn new(which: Which<'_>, bounds: Bounds) -> Self {
        Self {
            worker: which.worker.clone(),
            variables: which.variables.to_vec(),
            sandbox: which.sandbox.cloned(),
            secrets: which.secrets.clone(),
            roots: which.roots.to_vec(),
            bounds,
            loaded: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Whether its workers are started with the same inputs.
    pub(super) fn is_of(&self, which: Which<'_>) -> bool {
        self.worker == *which.worker
            && self.variables == which.variables
            && self.sandbox.as_ref() == which.sandbox
            && self.secrets == *which.secrets
            && self.roots == which.roots
    }

    pub(super) fn note_loaded(&self, files: &[PathBuf]) {
        files.clone_into(&mut self.loaded.lock());
    }

    /// Checks the files that a worker will load, as far as they are known, before it is started.
    pub(super) fn judge_loaded(&self, root: &Path) -> Result<(), Distrust> {
        trust::judge_loaded(self.loaded.lock().iter().map(PathBuf::as_path), root)
    }

    pub(super) fn take(self: &Arc<Self>) -> Taken {
        let mut state = self.state.lock();
        if state.waiting.is_empty()
            && let Some(worker) = state.take_free(self.bounds.at_once)
        {
            return Taken::Lease(Lease { pool: Arc::clone(self), worker });
        }
        let (sender, turn) = oneshot::channel();
        state.waiting.push_back(sender);
        Taken::Wait { turn, are_busy: !state.ready.is_empty(), start: self.permit(&mut state) }
    }

    /// Queues a call before all others, because it had its turn already.
    pub(super) fn wait_again(self: &Arc<Self>) -> (oneshot::Receiver<Turn>, Option<StartPermit>) {
        let (sender, turn) = oneshot::channel();
        let mut state = self.state.lock();
        state.waiting.push_front(sender);
        let start = self.permit(&mut state);
        drop(state);
        self.pass_on();
        (turn, start)
    }

    /// Permission to start the first worker, before any call waits for it.
    pub(super) fn permit_ahead(self: &Arc<Self>) -> Option<StartPermit> {
        let mut state = self.state.lock();
        let is_first = state.ready.is_empty() && state.starting == 0;
        is_first.then(|| {
            state.starting += 1;
            StartPermit(Arc::clone(self))
        })
    }

    fn permit(self: &Arc<Self>, state: &mut PoolState) -> Option<StartPermit> {
        let is_needed = state.starting * self.bounds.at_once < state.waiting.len();
        // A user who has not answered a question yet keeps no other call waiting, within bounds.
        let resting = state.resting.min(self.bounds.processes);
        let is_allowed = state.ready.len() + state.starting < self.bounds.processes + resting;
        (is_needed && is_allowed).then(|| {
            state.starting += 1;
            StartPermit(Arc::clone(self))
        })
    }

    /// Retires a worker: it receives no more calls.
    pub(super) fn retire(self: &Arc<Self>, worker: &Arc<ReadyWorker>) {
        let mut state = self.state.lock();
        let before = state.ready.len();
        state.ready.retain(|place| !Arc::ptr_eq(&place.worker, worker));
        let was_there = state.ready.len() < before;
        drop(state);
        if was_there {
            let _ = worker.commands.send(Command::Retire);
            self.pass_on();
        }
    }

    /// Retires all workers.
    pub(super) fn retire_all(self: &Arc<Self>) {
        let ready: Vec<_> = self.state.lock().ready.iter().map(|place| Arc::clone(&place.worker)).collect();
        for worker in &ready {
            self.retire(worker);
        }
    }

    /// Allows another worker to be started in place of one that waits for an answer, until the returned value is dropped. Not
    /// for workers that serve several calls at once, because they can go on with the others.
    pub(super) fn rest(self: &Arc<Self>) -> Option<Resting> {
        if self.bounds.at_once > 1 {
            return None;
        }
        self.state.lock().resting += 1;
        self.pass_on();
        Some(Resting(Arc::clone(self)))
    }

    /// Gives queued calls the places and permits that are available, in order.
    fn pass_on(self: &Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            if state.waiting.is_empty() {
                return;
            }
            let turn = if let Some(worker) = state.take_free(self.bounds.at_once) {
                Turn::Take(Lease { pool: Arc::clone(self), worker })
            } else if let Some(permit) = self.permit(&mut state) {
                Turn::Start(permit)
            } else {
                return;
            };
            let next = state.waiting.pop_front();
            drop(state);
            // If the call no longer waits, dropping the turn returns it, and the next call gets it.
            let unsent = next.map(|next| next.send(turn));
            drop(unsent);
        }
    }
}

impl PoolState {
    /// The most recently used worker that can take another call, so that others become idle.
    fn take_free(&mut self, at_once: usize) -> Option<Arc<ReadyWorker>> {
        let index = self.ready.iter().rposition(|place| place.taken < at_once)?;
        let mut place = self.ready.remove(index);
        place.taken += 1;
        let worker = Arc::clone(&place.worker);
        self.ready.push(place);
        Some(worker)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock();
        if let Some(place) = state.ready.iter_mut().find(|place| Arc::ptr_eq(&place.worker, &self.worker)) {
            place.taken -= 1;
        }
        let is_awaited = !state.waiting.is_empty();
        drop(state);
        if is_awaited {
            self.pool.pass_on();
        }
    }
}

/// Marks a call that waits for the answer to its question.
pub(super) struct Resting(Arc<Pool>);

impl Lease {
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        self.0.state.lock().resting -= 1;
    }
}

impl StartPermit {
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }

    /// The worker can take calls.
    pub(super) fn succeeded(self, worker: Arc<ReadyWorker>) {
        self.0.state.lock().ready.push(Slot { worker, taken: 0 });
    }

    /// The first queued call receives the reason.
    pub(super) fn failed(self, fault: Fault) {
        let fault = Arc::new(fault);
        loop {
            let next = self.0.state.lock().waiting.pop_front();
            match next.map(|next| next.send(Turn::Failed(Arc::clone(&fault)))) {
                Some(Err(_)) => {}
                Some(Ok(())) | None => return,
            }
        }
    }
}

impl Drop for StartPermit {
    fn drop(&mut self) {
        self.0.state.lock().starting -= 1;
        self.0.pass_on();
    }
}
