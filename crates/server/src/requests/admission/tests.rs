use super::*;
use crate::dispatch::in_memory::InMemoryReply;
use crate::requests::in_flight::InFlightRequest;
use crate::test_kit::Requests;
use std::sync::atomic::Ordering;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::yield_now;

/// An admission with tasks that run until they are released, and the order in which they started.
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
        self.admit_up_to(None, of, number, bytes)
    }

    /// Admits a request of a caller that may run `most` requests at a time.
    fn admit_up_to(
        &mut self,
        most: Option<usize>,
        of: &Requests,
        number: u32,
        bytes: usize,
    ) -> Result<(), Reason> {
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
            .admit(&of.caller, &request, bytes, task, Weight::Heavy, most)
            .map_err(|refused| refused.reason)
    }

    /// The tasks that have started since the last call.
    async fn started(&mut self) -> Vec<u32> {
        for _ in 0..20 {
            yield_now().await;
        }
        std::iter::from_fn(|| self.started.try_recv().ok()).collect()
    }

    /// Lets one running task finish.
    async fn let_one_go(&mut self) -> Vec<u32> {
        self.gate.add_permits(1);
        self.started().await
    }
}

const MANY: AdmissionLimits =
    AdmissionLimits { places: 1, waiting: 100, waiting_bytes: 1000, resting: 100, resting_per_caller: 100 };

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
    assert_eq!(scene.let_one_go().await, [100], "the next place is for the caller that has none");
    let mut next = scene.let_one_go().await;
    next.extend(scene.let_one_go().await);
    assert!(next.contains(&101), "{next:?}");
}

#[tokio::test]
async fn a_caller_has_no_more_places_than_its_rights_allow_and_others_have_theirs() {
    // No more than two run at a time, so all of them run on this thread.
    let mut scene = Scene::new(4, MANY);
    let (limited, free) = (Requests::of("limited"), Requests::of("free"));
    for number in 0..3 {
        scene.admit_up_to(Some(1), &limited, number, 1).unwrap();
    }
    assert_eq!(scene.started().await, [0]);
    scene.admit(&free, 10, 1).unwrap();
    assert_eq!(scene.started().await, [10], "nobody waits for the limited one");
    assert_eq!(scene.let_one_go().await, [1], "the first is done");
    assert_eq!(scene.admission.counts(), (2, 1));
}

#[tokio::test]
async fn waiting_requests_have_a_limit_per_caller() {
    let limits = AdmissionLimits { waiting: 2, waiting_bytes: 10, ..MANY };
    let (mut scene, flood, modest) = (Scene::new(1, limits), Requests::of("flood"), Requests::of("modest"));
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
    assert!(
        scene.admission.admit(&requests.caller, in_flight.request(), 1, task, Weight::Heavy, None).is_ok()
    );
    scene.admit(&requests, 1, 1).unwrap();
    assert_eq!(scene.started().await, [1]);
}

/// A task that rests as soon as it runs. The returned sender makes it continue.
fn admit_resting(scene: &mut Scene, of: &Requests, number: u32) -> oneshot::Sender<()> {
    let (in_flight, reply) = of.begin(number).unwrap();
    let request = Arc::clone(in_flight.request());
    scene.requests.push((in_flight, reply));
    let (answer, answered) = oneshot::channel();
    let (gate, starting, asked_by) = (Arc::clone(&scene.gate), scene.starting.clone(), Arc::clone(&request));
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
    assert!(scene.admission.admit(&of.caller, &request, 1, task, Weight::Heavy, None).is_ok());
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
async fn beyond_the_limit_work_that_waits_for_an_answer_keeps_its_place() {
    let limits = AdmissionLimits { resting_per_caller: 1, ..MANY };
    let (mut scene, requests) = (Scene::new(1, limits), Requests::of("a"));
    let _answer = admit_resting(&mut scene, &requests, 1);
    let _never = admit_resting(&mut scene, &requests, 2);
    scene.admit(&requests, 3, 1).unwrap();
    assert_eq!(scene.started().await, [1, 2, 1002]);
    assert_eq!(scene.let_one_go().await, [3]);
}

#[tokio::test]
async fn work_that_cannot_be_made_to_wait_is_counted_all_the_same() {
    let (mut scene, requests) = (Scene::new(1, MANY), Requests::of("a"));
    let place = Place { admission: Arc::clone(&scene.admission), caller: Arc::clone(&requests.caller) };
    {
        let mut state = scene.admission.state.lock();
        state.running += 1;
        state.callers.change(&requests.caller, |share| share.running += 1);
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
    assert!(state.callers.shares.is_empty() && (state.running, state.resting) == (0, 0));
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
    let share = |state: &AdmissionState| state.callers.shares[&turn.key()].returning;
    assert_eq!(share(&admission.state.lock()), 1);
    let first = Arc::clone(scene.requests[0].0.request());
    scene.admission.forget(&turn, &first);
    assert_eq!(share(&admission.state.lock()), 0, "its request was cancelled");
}

#[tokio::test]
async fn a_turn_costs_the_same_however_many_wait() {
    let (mut scene, first) = (Scene::new(1, MANY), Requests::of("first"));
    scene.admit(&first, 0, 1).unwrap();
    let clogged: Vec<Requests> = (0..50).map(|number| Requests::of(&format!("clogged {number}"))).collect();
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
    let looks = |scene: &Scene| scene.admission.state.lock().callers.looks;
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
