//! How many requests are worked on side by side, and in which order the others get their turn: places go to the caller
//! who has the fewest, so that one who floods the server delays nobody but itself.
//!
//! Work that waits for an answer of its user rests: its place goes to others meanwhile, and it takes its turn again before
//! it goes on.

use super::open_request::OpenRequest;
use super::workplaces::{Weight, Workplaces};
use crate::callers::Caller;
use crate::replies::Stream as _;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What is done for a request once it has a place.
pub(crate) type Task = Box<dyn FnOnce(Place) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// Starts tasks while there are places, and keeps the rest in the order they came, for each caller.
pub(crate) struct Admission {
    workplaces: Workplaces,
    limits: AdmissionLimits,
    state: Mutex<State>,
}

/// How much is worked on, and how much may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmissionLimits {
    /// How many tasks run side by side.
    pub(crate) places: usize,
    /// How many requests wait for one caller, and how many bytes they hold.
    pub(crate) waiting: usize,
    pub(crate) waiting_bytes: usize,
    /// How many rest in all, and for one caller. Beyond, those that wait for an answer keep their places.
    pub(crate) resting: usize,
    pub(crate) resting_per_caller: usize,
}

#[derive(Default)]
struct State {
    running: usize,
    resting: usize,
    /// How many wait, of all callers.
    waiting: usize,
    /// The callers that have something running, resting or waiting. Mostly it is one.
    callers: HashMap<CallerKey, Share>,
    /// Those of them for whom something waits, the one with the fewest places first.
    in_turn: BTreeSet<Turns>,
    /// Those for whom something waits, all of which is for clients that leave too much unread.
    clogged: BTreeSet<CallerKey>,
    last_number: u64,
    /// How many of those that wait were looked at so far.
    #[cfg(test)]
    looks: usize,
}

/// The address of a caller, which nobody else has as long as it has a share.
type CallerKey = usize;

fn key(caller: &Arc<Caller>) -> CallerKey {
    Arc::as_ptr(caller).addr()
}

/// Whose turn it is: who has the fewest places, and among equals who came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turns {
    running: usize,
    number: u64,
    caller: CallerKey,
}

/// What one caller has of the server.
struct Share {
    caller: Arc<Caller>,
    number: u64,
    running: usize,
    resting: usize,
    waiting: BTreeMap<Rank, Waiting>,
    /// Where the waiting requests stand, by their addresses.
    by_request: BTreeMap<usize, Rank>,
    /// How many of those that wait were refused by no limit because they are to go on: they are the first of the queue.
    returning: usize,
    waiting_bytes: usize,
    is_clogged: bool,
}

/// The place in a queue: those that go on come before those that begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_new: bool,
    number: u64,
}

struct Waiting {
    request: Option<Arc<OpenRequest>>,
    bytes: usize,
    turn: Turn,
}

/// What happens when it is somebody's turn.
enum Turn {
    Start(Task, Weight),
    GoOn(oneshot::Sender<Place>),
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
    pub(crate) fn new(runtime: Handle, limits: AdmissionLimits) -> Self {
        Self { workplaces: Workplaces::new(runtime), limits, state: Mutex::default() }
    }

    /// Starts `task` now or in its turn. It waits as well while its client leaves too much unread. `bytes` is what it
    /// holds while it waits.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        request: &Arc<OpenRequest>,
        bytes: usize,
        task: Task,
        weight: Weight,
    ) -> Result<(), Refused> {
        let mut state = self.state.lock();
        let has_place = state.running < self.limits.places && !request.is_clogged();
        if has_place {
            state.change(caller, |share| share.running += 1);
            state.running += 1;
            let running = state.running;
            drop(state);
            self.begin(Arc::clone(caller), Turn::Start(task, weight), running);
            return Ok(());
        }
        if let Err(reason) = state.has_room(caller, self.limits, bytes) {
            return Err(Refused { reason, _task: task });
        }
        let request = Some(Arc::clone(request));
        state.queue(caller, Waiting { request, bytes, turn: Turn::Start(task, weight) });
        Ok(())
    }

    /// How many tasks run, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.running, state.waiting)
    }

    /// Drops the task of a caller's request that is still waiting.
    pub(crate) fn forget(&self, caller: &Arc<Caller>, request: &Arc<OpenRequest>) {
        // Taken out under the lock and dropped outside of it, since what it holds may have a lot to say when dropped.
        let forgotten = self.state.lock().take(caller, request);
        drop(forgotten);
    }

    /// Starts what waits as far as there are places: a client has read what it had left unread.
    pub(crate) fn go_on(self: &Arc<Self>) {
        self.state.lock().look_again();
        while self.begin_next() {}
    }

    /// Lets the next in turn begin if there is a place. False when there is none of them.
    fn begin_next(self: &Arc<Self>) -> bool {
        self.begin_next_of(self.state.lock())
    }

    fn begin_next_of(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> bool {
        if state.running >= self.limits.places {
            return false;
        }
        let Some((caller, turn)) = state.next() else { return false };
        state.running += 1;
        let running = state.running;
        drop(state);
        self.begin(caller, turn, running);
        true
    }

    /// Lets somebody begin who is one of so many.
    fn begin(self: &Arc<Self>, caller: Arc<Caller>, turn: Turn, running: usize) {
        let place = Place { admission: Arc::clone(self), caller };
        match turn {
            Turn::Start(task, weight) => {
                drop(self.workplaces.for_one_of(running, weight).spawn(task(place)));
            }
            // One that does not wait any longer gives its place back.
            Turn::GoOn(waiting) => drop(waiting.send(place)),
        }
    }

    /// A place of `caller` is free: it goes to the next in turn, if there is one.
    fn pass_on(self: &Arc<Self>, caller: &Arc<Caller>) {
        let mut state = self.state.lock();
        state.running -= 1;
        state.change(caller, |share| share.running -= 1);
        self.begin_next_of(state);
    }
}

impl State {
    /// Changes what a caller has, and its turn with it. It is forgotten when it has nothing any more.
    fn change<T>(&mut self, caller: &Arc<Caller>, change: impl FnOnce(&mut Share) -> T) -> T {
        let key = key(caller);
        let share = self.callers.entry(key).or_insert_with(|| {
            self.last_number += 1;
            Share::new(caller, self.last_number)
        });
        let before = share.turns();
        let changed = change(share);
        let after = share.turns();
        let is_empty = share.is_empty();
        if before != after {
            before.map(|turns| self.in_turn.remove(&turns));
            after.map(|turns| self.in_turn.insert(turns));
        }
        if is_empty {
            self.callers.remove(&key);
            self.clogged.remove(&key);
        }
        changed
    }

    fn has_room(&self, caller: &Arc<Caller>, limits: AdmissionLimits, bytes: usize) -> Result<(), Reason> {
        let share = self.callers.get(&key(caller));
        let (waiting, held) =
            share.map_or((0, 0), |share| (share.waiting.len() - share.returning, share.waiting_bytes));
        if waiting >= limits.waiting {
            return Err(Reason::TooMany(waiting));
        }
        if held + bytes > limits.waiting_bytes {
            return Err(Reason::TooLarge(held));
        }
        Ok(())
    }

    fn queue(&mut self, caller: &Arc<Caller>, waiting: Waiting) {
        self.last_number += 1;
        self.waiting += 1;
        let number = self.last_number;
        self.change(caller, |share| share.queue(number, waiting));
    }

    fn take(&mut self, caller: &Arc<Caller>, request: &Arc<OpenRequest>) -> Option<Waiting> {
        self.callers.get(&key(caller))?;
        let taken = self.change(caller, |share| {
            let rank = *share.by_request.get(&Arc::as_ptr(request).addr())?;
            share.remove(rank)
        });
        self.waiting -= usize::from(taken.is_some());
        taken
    }

    /// Lets those have their turns again whose clients did not read.
    fn look_again(&mut self) {
        for key in std::mem::take(&mut self.clogged) {
            if let Some(caller) = self.callers.get(&key).map(|share| Arc::clone(&share.caller)) {
                self.change(&caller, |share| share.is_clogged = false);
            }
        }
    }

    /// What has waited longest for the caller who has the fewest places, as far as clients read. The others wait until
    /// theirs do: their results could only add to what is unread. They are not looked at before that.
    fn next(&mut self) -> Option<(Arc<Caller>, Turn)> {
        loop {
            let turns = *self.in_turn.first()?;
            let caller = Arc::clone(&self.callers.get(&turns.caller)?.caller);
            #[cfg(test)]
            {
                let looked_at = |share: &Share| share.first_ready().map_or(share.waiting.len(), |_| 1);
                self.looks += self.callers.get(&turns.caller).map_or(0, looked_at);
            }
            let next = self.change(&caller, |share| {
                let next = share.first_ready().and_then(|rank| share.remove(rank));
                share.is_clogged = next.is_none();
                share.running += usize::from(next.is_some());
                next
            });
            match next {
                Some(waiting) => {
                    self.waiting -= 1;
                    return Some((caller, waiting.turn));
                }
                None => drop(self.clogged.insert(turns.caller)),
            }
        }
    }
}

impl Share {
    fn new(caller: &Arc<Caller>, number: u64) -> Self {
        Self {
            caller: Arc::clone(caller),
            number,
            running: 0,
            resting: 0,
            waiting: BTreeMap::new(),
            by_request: BTreeMap::new(),
            returning: 0,
            waiting_bytes: 0,
            is_clogged: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.running == 0 && self.resting == 0 && self.waiting.is_empty()
    }

    /// When it is its turn. Never while nothing waits that could begin.
    fn turns(&self) -> Option<Turns> {
        let is_waiting = !self.waiting.is_empty() && !self.is_clogged;
        is_waiting.then(|| Turns { running: self.running, number: self.number, caller: key(&self.caller) })
    }

    fn queue(&mut self, number: u64, waiting: Waiting) {
        let rank = Rank { is_new: matches!(waiting.turn, Turn::Start(..)), number };
        self.returning += usize::from(!rank.is_new);
        self.waiting_bytes += waiting.bytes;
        if let Some(request) = &waiting.request {
            self.by_request.insert(Arc::as_ptr(request).addr(), rank);
        }
        self.waiting.insert(rank, waiting);
        // Its client may read though the others do not.
        self.is_clogged = false;
    }

    /// The first of those that wait whose client reads.
    fn first_ready(&self) -> Option<Rank> {
        let is_clogged = |request: &Arc<OpenRequest>| request.is_clogged();
        let mut ready =
            self.waiting.iter().filter(|(_, waiting)| !waiting.request.as_ref().is_some_and(is_clogged));
        ready.next().map(|(rank, _)| *rank)
    }

    fn remove(&mut self, rank: Rank) -> Option<Waiting> {
        let waiting = self.waiting.remove(&rank)?;
        if let Some(request) = &waiting.request {
            self.by_request.remove(&Arc::as_ptr(request).addr());
        }
        self.waiting_bytes -= waiting.bytes;
        self.returning -= usize::from(!rank.is_new);
        Some(waiting)
    }
}

/// A place among those that run. It passes to whoever is next in turn, even when the task that held it panicked.
pub(crate) struct Place {
    admission: Arc<Admission>,
    caller: Arc<Caller>,
}

impl Place {
    /// Lets others have the place, unless too many rest already.
    pub(crate) fn rest(self) -> Result<Resting, Self> {
        let limits = self.admission.limits;
        self.rest_if(|all, of_caller| all < limits.resting && of_caller < limits.resting_per_caller)
    }

    /// Lets others have the place, for work that somebody else sees to being not too much of.
    pub(crate) fn rest_in_any_case(self) -> Result<Resting, Self> {
        self.rest_if(|_, _| true)
    }

    /// `is_room` is asked with how many rest, in all and for the caller.
    fn rest_if(self, is_room: impl FnOnce(usize, usize) -> bool) -> Result<Resting, Self> {
        let (admission, caller) = (Arc::clone(&self.admission), Arc::clone(&self.caller));
        {
            let mut state = admission.state.lock();
            let all = state.resting;
            let is_room = state.change(&caller, |share| {
                let is_room = is_room(all, share.resting);
                share.resting += usize::from(is_room);
                is_room
            });
            if !is_room {
                drop(state);
                return Err(self);
            }
            state.resting += 1;
        }
        drop(self);
        Ok(Resting { admission, caller })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.pass_on(&self.caller);
    }
}

/// Work that has let others have its place.
pub(crate) struct Resting {
    admission: Arc<Admission>,
    caller: Arc<Caller>,
}

impl Resting {
    /// Waits for a place, before those of its caller that have not begun. `request` is what the work is done for now. None
    /// where that was cancelled meanwhile.
    pub(crate) async fn take_turn(&self, request: Option<Arc<OpenRequest>>) -> Option<Place> {
        let (sender, turn) = oneshot::channel();
        let waiting = Waiting { request, bytes: 0, turn: Turn::GoOn(sender) };
        self.admission.state.lock().queue(&self.caller, waiting);
        while self.admission.begin_next() {}
        turn.await.ok()
    }

    /// A place beyond the limit, for work that goes on and cannot be made to wait.
    pub(crate) fn take_place_at_once(&self) -> Place {
        let mut state = self.admission.state.lock();
        state.change(&self.caller, |share| share.running += 1);
        state.running += 1;
        Place { admission: Arc::clone(&self.admission), caller: Arc::clone(&self.caller) }
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        let mut state = self.admission.state.lock();
        state.resting -= 1;
        state.change(&self.caller, |share| share.resting -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::in_memory::InMemoryReply;
    use crate::requests::in_flight::InFlightRequest;
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
        fn new(places: usize, limits: AdmissionLimits) -> Self {
            let (starting, started) = mpsc::unbounded_channel();
            let admission = Arc::new(Admission::new(Handle::current(), AdmissionLimits { places, ..limits }));
            Self { admission, gate: Arc::new(Semaphore::new(0)), started, starting, requests: Vec::new() }
        }

        fn admit(&mut self, of: &Requests, number: u32, bytes: usize) -> Result<(), Reason> {
            let (in_flight, reply) = of.begin(number).unwrap();
            let request = Arc::clone(in_flight.request());
            self.requests.push((in_flight, reply));
            let (gate, starting) = (Arc::clone(&self.gate), self.starting.clone());
            let task = move |place| async move {
                let _place: Place = place;
                starting.send(number).unwrap();
                gate.acquire().await.unwrap().forget();
            };
            let task: Task = Box::new(|place| Box::pin(task(place)));
            self.admission
                .admit(&of.caller, &request, bytes, task, Weight::Heavy)
                .map_err(|refused| refused.reason)
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

    const MANY: AdmissionLimits = AdmissionLimits {
        places: 1,
        waiting: 100,
        waiting_bytes: 1000,
        resting: 100,
        resting_per_caller: 100,
    };

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
        let limits = AdmissionLimits { waiting: 2, waiting_bytes: 10, ..MANY };
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
        let limits = AdmissionLimits { waiting: 1, waiting_bytes: 10, ..MANY };
        let (mut scene, requests) = (Scene::new(1, limits), Requests::of("a"));
        scene.admit(&requests, 1, 1).unwrap();
        scene.admit(&requests, 2, 10).unwrap();
        let second = Arc::clone(scene.requests[1].0.request());
        scene.admission.forget(&requests.caller, &second);
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
        let task: Task = Box::new(|place| {
            Box::pin(async move {
                let _place = place;
                panic!("on purpose")
            })
        });
        assert!(scene.admission.admit(&requests.caller, in_flight.request(), 1, task, Weight::Heavy).is_ok());
        scene.admit(&requests, 1, 1).unwrap();
        assert_eq!(scene.started().await, [1]);
    }

    /// A task that rests as soon as it runs, and tells when it may go on.
    fn admit_resting(scene: &mut Scene, of: &Requests, number: u32) -> oneshot::Sender<()> {
        let (in_flight, reply) = of.begin(number).unwrap();
        let request = Arc::clone(in_flight.request());
        scene.requests.push((in_flight, reply));
        let (answer, answered) = oneshot::channel();
        let (gate, starting, asked_by) =
            (Arc::clone(&scene.gate), scene.starting.clone(), Arc::clone(&request));
        let task = move |place: Place| async move {
            starting.send(number).unwrap();
            let _place = match place.rest() {
                Err(place) => place,
                Ok(resting) => {
                    answered.await.unwrap();
                    resting.take_turn(Some(asked_by)).await.unwrap()
                }
            };
            starting.send(number + 1000).unwrap();
            gate.acquire().await.unwrap().forget();
        };
        let task: Task = Box::new(|place| Box::pin(task(place)));
        assert!(scene.admission.admit(&of.caller, &request, 1, task, Weight::Heavy).is_ok());
        answer
    }

    #[tokio::test]
    async fn one_that_rests_lets_others_run_and_takes_its_turn_again() {
        let (mut scene, requests) = (Scene::new(1, MANY), Requests::of("a"));
        let answer = admit_resting(&mut scene, &requests, 1);
        for number in 2..=4 {
            scene.admit(&requests, number, 1).unwrap();
        }
        assert_eq!(scene.started().await, [1, 2]);
        answer.send(()).unwrap();
        assert!(scene.started().await.is_empty(), "there is no place");
        assert_eq!(scene.let_one_go().await, [1001], "before those that have not begun");
        assert_eq!(scene.let_one_go().await, [3]);
    }

    #[tokio::test]
    async fn those_that_come_back_are_no_way_around_the_others() {
        let (mut scene, flood, modest) = (Scene::new(2, MANY), Requests::of("flood"), Requests::of("modest"));
        let answers: Vec<_> = (1..=9).map(|number| admit_resting(&mut scene, &flood, number)).collect();
        assert_eq!(scene.started().await.len(), 9);
        for answer in answers {
            answer.send(()).unwrap();
        }
        assert_eq!(scene.started().await.len(), 2);
        scene.admit(&modest, 50, 1).unwrap();
        assert_eq!(scene.let_one_go().await, [50]);
    }

    #[tokio::test]
    async fn beyond_the_limit_whoever_waits_for_an_answer_keeps_its_place() {
        let limits = AdmissionLimits { resting_per_caller: 1, ..MANY };
        let (mut scene, requests) = (Scene::new(1, limits), Requests::of("a"));
        let _answer = admit_resting(&mut scene, &requests, 1);
        let _never = admit_resting(&mut scene, &requests, 2);
        scene.admit(&requests, 3, 1).unwrap();
        assert_eq!(scene.started().await, [1, 2, 1002]);
        assert_eq!(scene.let_one_go().await, [3]);
    }

    #[tokio::test]
    async fn whoever_cannot_be_made_to_wait_is_counted_all_the_same() {
        let (mut scene, requests) = (Scene::new(1, MANY), Requests::of("a"));
        let place = Place { admission: Arc::clone(&scene.admission), caller: Arc::clone(&requests.caller) };
        {
            let mut state = scene.admission.state.lock();
            state.running += 1;
            state.change(&requests.caller, |share| share.running += 1);
        }
        let resting = place.rest().unwrap_or_else(|_| panic!("there is room"));
        scene.admit(&requests, 1, 1).unwrap();
        assert_eq!(scene.started().await, [1]);
        let beyond = resting.take_place_at_once();
        drop(resting);
        scene.admit(&requests, 2, 1).unwrap();
        assert!(scene.let_one_go().await.is_empty(), "the place beyond the limit counts");
        drop(beyond);
        assert_eq!(scene.started().await, [2]);
        assert!(scene.let_one_go().await.is_empty());
        let state = scene.admission.state.lock();
        assert!(state.callers.is_empty() && (state.running, state.resting) == (0, 0));
    }

    #[tokio::test]
    async fn one_that_does_not_come_back_gives_its_turn_to_others() {
        let (mut scene, requests) = (Scene::new(1, MANY), Requests::of("a"));
        let answer = admit_resting(&mut scene, &requests, 1);
        scene.admit(&requests, 2, 1).unwrap();
        assert_eq!(scene.started().await, [1, 2]);
        answer.send(()).unwrap();
        scene.started().await;
        let (turn, admission) = (requests.caller.clone(), Arc::clone(&scene.admission));
        let share = |state: &State| state.callers[&key(&turn)].returning;
        assert_eq!(share(&admission.state.lock()), 1);
        let first = Arc::clone(scene.requests[0].0.request());
        scene.admission.forget(&turn, &first);
        assert_eq!(share(&admission.state.lock()), 0, "its request was cancelled");
    }

    #[tokio::test]
    async fn a_turn_costs_the_same_however_many_wait() {
        let (mut scene, first) = (Scene::new(1, MANY), Requests::of("first"));
        scene.admit(&first, 0, 1).unwrap();
        let clogged: Vec<Requests> =
            (0..50).map(|number| Requests::of(&format!("clogged {number}"))).collect();
        for (number, requests) in (100..).zip(&clogged) {
            requests.is_clogged.store(true, Ordering::Release);
            scene.admit(requests, number, 1).unwrap();
            scene.admit(requests, number + 1000, 1).unwrap();
        }
        let many: Vec<Requests> = (0..1000).map(|number| Requests::of(&format!("caller {number}"))).collect();
        for (number, requests) in (5000..).zip(&many) {
            scene.admit(requests, number, 1).unwrap();
        }
        assert_eq!(scene.started().await, [0]);
        let looks = |scene: &Scene| scene.admission.state.lock().looks;
        assert_eq!(scene.let_one_go().await, [5000]);
        assert_eq!(looks(&scene), 101, "those that are clogged, and the one that begins");
        for number in 5001..5100 {
            assert_eq!(scene.let_one_go().await, [number]);
        }
        assert_eq!(looks(&scene), 200, "each turn one look: those that are clogged are not looked at again");
        clogged[0].is_clogged.store(false, Ordering::Release);
        scene.admission.go_on();
        assert_eq!(scene.let_one_go().await, [100], "it reads again, and came first");
        assert_eq!(scene.admission.counts(), (1, 50 * 2 - 1 + 1000 - 100));
    }
}
