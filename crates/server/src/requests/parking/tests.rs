use super::*;
use crate::callers::Caller;
use crate::callers::caller::test_caller;
use crate::callers::capabilities::ClientCapabilities;
use crate::callers::context::RequestContext;
use crate::callers::identity::test_principal;
use crate::requests::request_state::{Entry, MOST_ANSWER_BYTES, Origin, Subject};
use crate::test_kit::Requests;
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::TraceVariables;
use mcp_bash_wire::{Limits, Revision, Scanner};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tokio::sync::{oneshot, watch};
use tokio::time::{advance, sleep};

const MANY: ParkingLimits = ParkingLimits {
    most: 8,
    most_per_caller: 8,
    timeout: Duration::from_secs(600),
    replay_timeout: Duration::from_secs(3600),
};

struct Scene {
    parking: Arc<Parking>,
    keys: KeyRing,
    requests: Requests,
    /// The number of requests so far.
    count: u32,
}

/// A parked process, and the state that continues it.
struct Process {
    slot: Slot,
    answers: oneshot::Receiver<Vec<PendingQuestion>>,
    state: String,
}

impl Process {
    fn is_ended(&self) -> bool {
        matches!(*self.slot.borrow(), Occupant::Abandoned)
    }
}

fn subject() -> Subject {
    Subject::new("tools/call", "tool", "{}")
}

fn question(key: &str) -> PendingQuestion {
    let (digest, request) = ([0; 32], "{}".to_owned());
    PendingQuestion { key: key.into(), method: "elicitation/create", request, digest, answer: None }
}

fn accepted(keys: &[&str]) -> String {
    let answers = keys.iter().map(|key| format!(r#""{key}":{{"action":"accept","content":{{}}}}"#));
    format!("{{{}}}", answers.collect::<Vec<_>>().join(","))
}

/// A store without a folder, as long as no record is written.
fn local_store() -> Arc<Store> {
    Arc::new(Store::new(Arc::new(StateDir::new(std::env::temp_dir(), false)), None))
}

impl Scene {
    fn new(limits: ParkingLimits) -> Self {
        Self::with_store(limits, local_store())
    }

    fn with_store(limits: ParkingLimits, store: Arc<Store>) -> Self {
        let keys = KeyRing::of_this_process().unwrap();
        Self { parking: Arc::new(Parking::new(limits, store)), keys, requests: Requests::of("a"), count: 0 }
    }

    fn park(&self, caller: &Arc<Caller>, keys: &[&str], earlier: Option<Vec<Round>>) -> Process {
        let slot: Slot = Arc::new(watch::Sender::new(Occupant::Abandoned));
        let (sender, answers) = oneshot::channel();
        let parked = Parked {
            caller: Arc::clone(caller),
            origin: Origin::new(caller.name(), subject()),
            slot: Arc::clone(&slot),
            questions: keys.iter().map(|key| question(key)).collect(),
            earlier,
            stage: ParkedStage::Waiting(sender),
            since: Instant::now(),
            held: Charge::nothing(&Budget::new(0, "NOTHING")),
        };
        let asked = self.parking.park(parked, &self.keys).unwrap();
        Process { slot, answers, state: state_of(&asked) }
    }

    fn request(&mut self) -> Current {
        self.count += 1;
        let context = RequestContext {
            principal: test_principal(&self.requests.caller),
            revision: Revision::V2026_07_28,
            progress_token: None,
            log_level: None,
            meta: None,
            capabilities: ClientCapabilities::default(),
            trace: TraceVariables::default(),
        };
        Current { context, in_flight: self.requests.begin(self.count).unwrap().0, task: None }
    }

    /// Retries with a state and answers to these questions.
    async fn resume(&mut self, state: &str, answered: &[&str]) -> Resumed {
        self.resume_with(state, &accepted(answered)).await
    }

    async fn resume_with(&mut self, state: &str, responses: &str) -> Resumed {
        let shown = RequestState::open(state, &self.keys, "a", subject).unwrap();
        let responses = Scanner::new(responses, Limits::NONE).whole_value().unwrap();
        let request = self.request();
        self.parking.resume(shown, Some(responses), request, &self.keys).await
    }

    fn is_parked(&self, process: &Process) -> bool {
        let shown = RequestState::open(&process.state, &self.keys, "a", subject);
        shown.is_ok_and(|shown| self.parking.state.lock().by_id.contains_key(&shown.id))
    }
}

fn state_of(asked: &InputRequired) -> String {
    let members: serde_json::Value = serde_json::from_str(&format!("{{{}}}", asked.members)).unwrap();
    members["requestState"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn expired_calls_are_terminated_without_a_request() {
    let scene = Scene::new(MANY);
    let caller = test_caller("a");
    let early = scene.park(&caller, &["q"], None);
    sleep(Duration::from_secs(1)).await;
    let late = scene.park(&caller, &["q"], None);
    sleep(MANY.timeout.mul_f64(0.99)).await;
    assert!(!early.is_ended(), "too early");
    sleep(Duration::from_millis(5500)).await;
    assert!(early.is_ended() && !late.is_ended());
    assert!(!scene.is_parked(&early) && scene.is_parked(&late));
    sleep(Duration::from_secs(1)).await;
    assert!(late.is_ended());
}

#[tokio::test(start_paused = true)]
async fn the_caller_that_parks_the_most_makes_room() {
    let (scene, modest, greedy) = (Scene::new(MANY), test_caller("modest"), test_caller("greedy"));
    let first = scene.park(&modest, &["q"], None);
    let mut others = Vec::new();
    for _ in 0..MANY.most {
        advance(Duration::from_millis(1)).await;
        others.push(scene.park(&greedy, &["q"], None));
    }
    assert!(!first.is_ended(), "the oldest of all, but of a caller that has no other");
    assert!(others[0].is_ended(), "there is no room for it");
    assert!(others[1..].iter().all(|other| !other.is_ended()));
}

#[tokio::test(start_paused = true)]
async fn each_caller_has_its_own_limit() {
    let scene = Scene::new(ParkingLimits { most_per_caller: 2, ..MANY });
    let (one, other) = (test_caller("one"), test_caller("other"));
    let mut parked = Vec::new();
    for caller in [&other, &one, &one, &one] {
        advance(Duration::from_millis(1)).await;
        parked.push(scene.park(caller, &["q"], None));
    }
    assert_eq!(parked.iter().map(Process::is_ended).collect::<Vec<_>>(), [false, true, false, false]);
}

#[tokio::test]
async fn all_answers_are_needed_and_those_that_do_not_fit_are_asked_for_again() {
    let mut scene = Scene::new(MANY);
    let caller = Arc::clone(&scene.requests.caller);
    let mut process = scene.park(&caller, &["one", "two"], None);
    let Resumed::AskAgain(_, asked) = scene.resume_with(&process.state, r#"{"one":12345,"three":{}}"#).await
    else {
        panic!("nothing is answered")
    };
    assert!(asked.members.contains(r#""one""#) && asked.members.contains(r#""two""#));
    let Resumed::AskAgain(_, asked) = scene.resume(&state_of(&asked), &["one", "more"]).await else {
        panic!("one is missing")
    };
    assert!(!asked.members.contains(r#""one""#) && asked.members.contains(r#""two""#), "{}", asked.members);
    assert!(matches!(scene.resume(&state_of(&asked), &["two"]).await, Resumed::GoesOn));
    let answers = process.answers.try_recv().unwrap();
    assert!(answers.len() == 2 && answers.iter().all(|question| question.answer.is_some()));
    let used = scene.resume(&process.state, &["one", "two"]).await;
    assert!(matches!(used, Resumed::Refused(_, Unacceptable::Gone)));
}

#[tokio::test]
async fn a_script_is_run_again_once_where_its_process_is_gone() {
    let mut scene = Scene::new(ParkingLimits { most_per_caller: 1, ..MANY });
    let caller = Arc::clone(&scene.requests.caller);
    let gone = scene.park(&caller, &["q"], Some(Vec::new()));
    let here = scene.park(&caller, &["q"], Some(Vec::new()));
    assert!(gone.is_ended());
    let Resumed::RunAgain(_, rounds) = scene.resume(&gone.state, &["q"]).await else { panic!("it may be") };
    assert!(rounds.len() == 1 && rounds[0].0[0].answer.is_some());
    assert!(matches!(scene.resume(&gone.state, &["q"]).await, Resumed::Refused(_, Unacceptable::Used)));
    assert!(matches!(scene.resume(&here.state, &["q"]).await, Resumed::GoesOn));
    assert!(matches!(scene.resume(&here.state, &["q"]).await, Resumed::Refused(_, Unacceptable::Used)));
    let shown = RequestState::open(&gone.state, &scene.keys, "a", subject).unwrap();
    scene.parking.give_back(shown.id, shown.expires()).await;
    assert!(
        matches!(scene.resume(&gone.state, &["q"]).await, Resumed::RunAgain(..)),
        "it was not used after all"
    );
}

#[tokio::test]
async fn only_one_of_many_concurrent_uses_of_a_state_succeeds() {
    let mut scene = Scene::new(MANY);
    let caller = Arc::clone(&scene.requests.caller);
    for earlier in [None, Some(Vec::new())] {
        let process = scene.park(&caller, &["q"], earlier);
        let requests: Vec<Current> = (0..16).map(|_| scene.request()).collect();
        let (scene, text) = (&scene, accepted(&["q"]));
        let count = std::thread::scope(|threads| {
            let shows = requests.into_iter().map(|request| {
                let (state, text) = (&process.state, &text);
                threads.spawn(move || {
                    let shown = RequestState::open(state, &scene.keys, "a", subject).unwrap();
                    let responses = Scanner::new(text, Limits::NONE).whole_value().unwrap();
                    let resuming = scene.parking.resume(shown, Some(responses), request, &scene.keys);
                    let mut context = Context::from_waker(Waker::noop());
                    let Poll::Ready(resumed) = pin!(resuming).poll(&mut context) else {
                        panic!("nothing has to be waited for")
                    };
                    usize::from(matches!(resumed, Resumed::GoesOn))
                })
            });
            let shows: Vec<_> = shows.collect();
            shows.into_iter().map(|show| show.join().unwrap()).sum::<usize>()
        });
        assert_eq!(count, 1);
    }
}

/// Two servers with the same keys and the same store. Only the first has the process.
#[tokio::test]
async fn a_state_is_good_once_for_all_servers_that_share_a_store() {
    let store = local_store();
    let mut scene = Scene::with_store(MANY, Arc::clone(&store));
    let caller = Arc::clone(&scene.requests.caller);
    let process = scene.park(&caller, &["q"], Some(Vec::new()));
    let first = std::mem::replace(&mut scene.parking, Arc::new(Parking::new(MANY, store)));
    assert!(matches!(scene.resume(&process.state, &["q"]).await, Resumed::RunAgain(..)));
    scene.parking = first;
    assert!(matches!(scene.resume(&process.state, &["q"]).await, Resumed::Refused(_, Unacceptable::Used)));
    scene.parking = Arc::new(Parking::new(MANY, local_store()));
    assert!(
        matches!(scene.resume(&process.state, &["q"]).await, Resumed::RunAgain(..)),
        "another store knows nothing"
    );
}

#[tokio::test]
async fn answers_that_are_too_long_for_a_state_are_left_out() {
    let mut scene = Scene::new(ParkingLimits { most_per_caller: 1, ..MANY });
    let caller = Arc::clone(&scene.requests.caller);
    let answer = Some("x".repeat(MOST_ANSWER_BYTES).into());
    let long = Round(vec![Entry { key: "q".into(), question: [0; 32], answer }]);
    let process = scene.park(&caller, &["q"], Some(vec![long]));
    assert!(process.state.len() < 1000);
    scene.park(&caller, &["q"], None);
    assert!(matches!(scene.resume(&process.state, &["q"]).await, Resumed::Refused(_, Unacceptable::Gone)));
}

#[tokio::test(start_paused = true)]
async fn uncollected_results_have_a_limit() {
    let scene = Scene::new(MANY);
    let caller = Arc::clone(&scene.requests.caller);
    let mut parked = Vec::new();
    for _ in 0..3 {
        parked.push(scene.park(&caller, &["q"], None));
        advance(Duration::from_secs(1)).await;
    }
    for process in &parked {
        assert!(scene.parking.finish(&process.slot, Ok("x".repeat(MOST_RESULT_BYTES / 2).into())).is_none());
    }
    assert!(!scene.is_parked(&parked[0]), "the oldest has made room");
    assert!(scene.is_parked(&parked[1]) && scene.is_parked(&parked[2]));
}
