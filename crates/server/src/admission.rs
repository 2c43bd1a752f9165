//! How many requests are worked on side by side, and in which order the others get their turn: places go to the caller
//! who has the fewest, so that one who floods the server delays nobody but itself.

use crate::caller::Caller;
use crate::open_request::OpenRequest;
use crate::workplaces::Workplaces;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use thiserror::Error;
use tokio::runtime::Handle;

/// What is done for a request.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts tasks while there are places, and keeps the rest in the order they came, for each caller.
pub(crate) struct Admission {
    workplaces: Workplaces,
    places: usize,
    limits: WaitingLimits,
    state: Mutex<State>,
}

/// How much may wait for one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingLimits {
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
}

#[derive(Default)]
struct State {
    running: usize,
    /// The callers that have something running or waiting. Mostly it is one.
    callers: Vec<Share>,
}

/// What one caller has of the server.
struct Share {
    caller: Arc<Caller>,
    running: usize,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
}

struct Waiting {
    request: Arc<OpenRequest>,
    bytes: usize,
    task: Task,
}

/// A task that was not taken, given back so that its request can be answered with the reason.
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    _task: Task,
}

/// Why no more can wait.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Reason {
    #[error("{0} requests are waiting already; MCPBASH_MAX_WAITING_REQUESTS sets the limit")]
    TooMany(usize),
    #[error("the waiting requests hold {0} bytes already; MCPBASH_MAX_WAITING_BYTES sets the limit")]
    TooLarge(usize),
}

impl Admission {
    pub(crate) fn new(runtime: Handle, places: usize, limits: WaitingLimits) -> Self {
        Self { workplaces: Workplaces::new(runtime), places, limits, state: Mutex::default() }
    }

    /// Starts `task` now or in its turn. It waits as well while its client leaves too much unread. `bytes` is what it
    /// holds while it waits.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        request: &Arc<OpenRequest>,
        bytes: usize,
        task: Task,
    ) -> Result<(), Refused> {
        let mut state = self.state.lock();
        let has_place = state.running < self.places && !request.is_clogged();
        let share = state.share_of(caller);
        if has_place {
            share.running += 1;
            state.running += 1;
            let running = state.running;
            drop(state);
            self.start(Arc::clone(caller), task, running);
            return Ok(());
        }
        if let Err(reason) = share.has_room(self.limits, bytes) {
            return Err(Refused { reason, _task: task });
        }
        share.waiting_bytes += bytes;
        share.waiting.push_back(Waiting { request: Arc::clone(request), bytes, task });
        Ok(())
    }

    /// How many tasks run, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.running, state.callers.iter().map(|share| share.waiting.len()).sum())
    }

    /// Drops the task of a request that is still waiting.
    pub(crate) fn forget(&self, request: &Arc<OpenRequest>) {
        // Taken out under the lock and dropped outside of it, since what it holds may have a lot to say when dropped.
        let forgotten = self.state.lock().callers.iter_mut().find_map(|share| share.take(request));
        drop(forgotten);
    }

    /// Starts what waits as far as there are places: a client has read what it had left unread.
    pub(crate) fn go_on(self: &Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            if state.running == self.places {
                return;
            }
            let Some((caller, task)) = state.next() else { return };
            state.running += 1;
            let running = state.running;
            drop(state);
            self.start(caller, task, running);
        }
    }

    /// Starts a task that is one of so many.
    fn start(self: &Arc<Self>, caller: Arc<Caller>, task: Task, running: usize) {
        let held = HeldPlace { admission: Arc::clone(self), caller };
        self.workplaces.for_one_of(running).spawn(async move {
            let _held = held;
            task.await;
        });
    }

    /// A place of `caller` is free: it goes to the next in turn, if there is one.
    fn pass_on(self: &Arc<Self>, caller: &Arc<Caller>) {
        let mut state = self.state.lock();
        state.give_back(caller);
        let Some((caller, task)) = state.next() else {
            state.running -= 1;
            return;
        };
        let running = state.running;
        drop(state);
        self.start(caller, task, running);
    }
}

impl State {
    fn share_of(&mut self, caller: &Arc<Caller>) -> &mut Share {
        let known = self.callers.iter().position(|share| Arc::ptr_eq(&share.caller, caller));
        let index = known.unwrap_or_else(|| {
            self.callers.retain(|share| share.running > 0 || !share.waiting.is_empty());
            self.callers.push(Share {
                caller: Arc::clone(caller),
                running: 0,
                waiting: VecDeque::new(),
                waiting_bytes: 0,
            });
            self.callers.len() - 1
        });
        &mut self.callers[index]
    }

    fn give_back(&mut self, caller: &Arc<Caller>) {
        let Some(index) = self.callers.iter().position(|share| Arc::ptr_eq(&share.caller, caller)) else {
            return;
        };
        let share = &mut self.callers[index];
        share.running -= 1;
        if share.running == 0 && share.waiting.is_empty() {
            self.callers.swap_remove(index);
        }
    }

    /// What has waited longest for the caller who has the fewest places, as far as clients read. The others wait until
    /// theirs do: their results could only add to what is unread.
    fn next(&mut self) -> Option<(Arc<Caller>, Task)> {
        let ready = self.callers.iter_mut().filter_map(|share| Some((share.first_ready()?, share)));
        let (index, share) = ready.min_by_key(|(_, share)| share.running)?;
        let waiting = share.waiting.remove(index)?;
        share.waiting_bytes -= waiting.bytes;
        share.running += 1;
        Some((Arc::clone(&share.caller), waiting.task))
    }
}

impl Share {
    fn has_room(&self, limits: WaitingLimits, bytes: usize) -> Result<(), Reason> {
        if self.waiting.len() >= limits.requests {
            return Err(Reason::TooMany(self.waiting.len()));
        }
        if self.waiting_bytes + bytes > limits.bytes {
            return Err(Reason::TooLarge(self.waiting_bytes));
        }
        Ok(())
    }

    /// The first of those that wait whose client reads.
    fn first_ready(&self) -> Option<usize> {
        self.waiting.iter().position(|waiting| !waiting.request.is_clogged())
    }

    fn take(&mut self, request: &Arc<OpenRequest>) -> Option<Waiting> {
        let index = self.waiting.iter().position(|waiting| Arc::ptr_eq(&waiting.request, request))?;
        let waiting = self.waiting.remove(index)?;
        self.waiting_bytes -= waiting.bytes;
        Some(waiting)
    }
}

/// A place that passes to whoever is next in turn, even when the task that held it panicked.
struct HeldPlace {
    admission: Arc<Admission>,
    caller: Arc<Caller>,
}

impl Drop for HeldPlace {
    fn drop(&mut self) {
        self.admission.pass_on(&self.caller);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_flight::InFlightRequest;
    use crate::in_memory::InMemoryReply;
    use crate::test_kit::Requests;
    use std::sync::atomic::Ordering;
    use tokio::sync::{Semaphore, mpsc};
    use tokio::task::yield_now;

    /// An admission, tasks that wait until they are let go, and the order in which they were started.
    struct Scene {
        admission: Arc<Admission>,
        gate: Arc<Semaphore>,
        started: mpsc::UnboundedReceiver<u32>,
        starting: mpsc::UnboundedSender<u32>,
        requests: Vec<(InFlightRequest, InMemoryReply)>,
    }

    impl Scene {
        fn new(places: usize, limits: WaitingLimits) -> Self {
            let (starting, started) = mpsc::unbounded_channel();
            let admission = Arc::new(Admission::new(Handle::current(), places, limits));
            Self { admission, gate: Arc::new(Semaphore::new(0)), started, starting, requests: Vec::new() }
        }

        fn admit(&mut self, of: &Requests, number: u32, bytes: usize) -> Result<(), Reason> {
            let (in_flight, reply) = of.begin(number).unwrap();
            let request = Arc::clone(in_flight.request());
            self.requests.push((in_flight, reply));
            let (gate, starting) = (Arc::clone(&self.gate), self.starting.clone());
            let task = Box::pin(async move {
                starting.send(number).unwrap();
                gate.acquire().await.unwrap().forget();
            });
            self.admission.admit(&of.caller, &request, bytes, task).map_err(|refused| refused.reason)
        }

        /// Which tasks have started since the last look.
        async fn started(&mut self) -> Vec<u32> {
            for _ in 0..20 {
                yield_now().await;
            }
            std::iter::from_fn(|| self.started.try_recv().ok()).collect()
        }

        /// Lets one of the running tasks end.
        async fn let_one_go(&mut self) -> Vec<u32> {
            self.gate.add_permits(1);
            self.started().await
        }
    }

    const MANY: WaitingLimits = WaitingLimits { requests: 100, bytes: 1000 };

    #[tokio::test]
    async fn the_rest_waits_in_the_order_it_came() {
        let (mut scene, requests) = (Scene::new(2, MANY), Requests::of("a"));
        for number in 1..=4 {
            scene.admit(&requests, number, 1).unwrap();
        }
        assert_eq!(scene.started().await, [1, 2]);
        assert_eq!(scene.let_one_go().await, [3]);
        assert_eq!(scene.let_one_go().await, [4]);
        assert!(scene.let_one_go().await.is_empty());
    }

    #[tokio::test]
    async fn a_caller_that_floods_delays_only_itself() {
        let (mut scene, flood, modest) = (Scene::new(2, MANY), Requests::of("flood"), Requests::of("modest"));
        for number in 1..=10 {
            scene.admit(&flood, number, 1).unwrap();
        }
        scene.admit(&modest, 100, 1).unwrap();
        scene.admit(&modest, 101, 1).unwrap();
        assert_eq!(scene.started().await, [1, 2]);
        assert_eq!(scene.let_one_go().await, [100], "the next place is for whoever has none");
        let mut next = scene.let_one_go().await;
        next.extend(scene.let_one_go().await);
        assert!(next.contains(&101), "{next:?}");
    }

    #[tokio::test]
    async fn what_waits_for_one_caller_has_a_limit_of_its_own() {
        let limits = WaitingLimits { requests: 2, bytes: 10 };
        let (mut scene, flood, modest) =
            (Scene::new(1, limits), Requests::of("flood"), Requests::of("modest"));
        for number in 1..=3 {
            scene.admit(&flood, number, 4).unwrap();
        }
        assert_eq!(scene.admit(&flood, 4, 1), Err(Reason::TooMany(2)));
        scene.admit(&modest, 1, 9).unwrap();
        assert_eq!(scene.admit(&modest, 2, 2), Err(Reason::TooLarge(9)));
        scene.admit(&modest, 3, 1).unwrap();
    }

    #[tokio::test]
    async fn one_that_is_forgotten_leaves_its_place_in_the_queue() {
        let limits = WaitingLimits { requests: 1, bytes: 10 };
        let (mut scene, requests) = (Scene::new(1, limits), Requests::of("a"));
        scene.admit(&requests, 1, 1).unwrap();
        scene.admit(&requests, 2, 10).unwrap();
        let second = Arc::clone(scene.requests[1].0.request());
        scene.admission.forget(&second);
        scene.admit(&requests, 3, 10).unwrap();
        assert_eq!(scene.started().await, [1]);
        assert_eq!(scene.let_one_go().await, [3]);
    }

    #[tokio::test]
    async fn nothing_is_started_for_a_client_that_does_not_read_until_it_does() {
        let (mut scene, stuck, other) = (Scene::new(1, MANY), Requests::of("stuck"), Requests::of("other"));
        stuck.is_clogged.store(true, Ordering::Release);
        scene.admit(&stuck, 1, 1).unwrap();
        scene.admit(&other, 2, 1).unwrap();
        assert_eq!(scene.started().await, [2], "the place is free for others");
        assert!(scene.let_one_go().await.is_empty());
        stuck.is_clogged.store(false, Ordering::Release);
        scene.admission.go_on();
        assert_eq!(scene.started().await, [1]);
    }

    #[tokio::test]
    async fn a_task_that_panics_gives_its_place_back() {
        let (mut scene, requests) = (Scene::new(1, MANY), Requests::of("a"));
        let (in_flight, _reply) = requests.begin(50).unwrap();
        let task = Box::pin(async { panic!("on purpose") });
        assert!(scene.admission.admit(&requests.caller, in_flight.request(), 1, task).is_ok());
        scene.admit(&requests, 1, 1).unwrap();
        assert_eq!(scene.started().await, [1]);
    }
}
