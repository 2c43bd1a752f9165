//! Processes that wait for answers which only another request can bring.
//!
//! In the stateless era a script that asks cannot be kept on its request: the request is answered with what is asked, and
//! a sealed state (`request_state`). The same caller who comes back with that state, the same call and the answers goes on
//! with the very same process. A state is good once. A process for which nobody can come any more is ended; where its
//! author allows it, whoever comes then has the script run again.

use crate::caller::Caller;
use crate::request_state::{
    Digest, Entry, KeyRing, MOST_ANSWER_BYTES, Origin, RequestState, Round, StateId, Unacceptable, now,
};
use crate::shape;
use crate::slot::{Current, Occupant, Slot};
use mcp_bash_budget::Charge;
use mcp_bash_wire::{Object, Raw, RawBuf, RpcError};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How many bytes of results wait for those who come late. The oldest of the caller that has the most go first.
const MOST_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// How many states are remembered to have been used.
const MOST_USED: usize = 64 * 1024;

/// How many processes wait, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParkingLimits {
    /// Beyond these, the oldest of the caller that has the most is ended.
    pub(crate) most: usize,
    /// Beyond these, the oldest of the same caller is ended.
    pub(crate) most_per_caller: usize,
    /// How long a client may take to come back.
    pub(crate) patience: Duration,
}

/// What was asked, by the state that continues it.
pub(crate) struct Parking {
    limits: ParkingLimits,
    state: Arc<Mutex<State>>,
}

struct State {
    by_id: HashMap<StateId, Parked>,
    used: UsedStates,
    patience: Duration,
    /// Whether a task waits for the next one to expire.
    is_swept: bool,
}

/// One request that is to be continued.
pub(crate) struct Parked {
    pub(crate) caller: Arc<Caller>,
    pub(crate) origin: Origin,
    pub(crate) slot: Slot,
    pub(crate) questions: Vec<PendingQuestion>,
    /// What was asked and answered before, where the script may be run again.
    pub(crate) earlier: Option<Vec<Round>>,
    pub(crate) stage: ParkedStage,
    pub(crate) since: Instant,
    /// What the questions cost, and then the result.
    pub(crate) held: Charge,
}

/// One of the questions that are asked at once.
#[derive(Debug, Clone)]
pub(crate) struct PendingQuestion {
    pub(crate) key: Box<str>,
    pub(crate) method: &'static str,
    /// The text of a JSON object: method and params.
    pub(crate) request: String,
    pub(crate) digest: Digest,
    pub(crate) answer: Option<RawBuf>,
}

/// How far a parked process is.
pub(crate) enum ParkedStage {
    /// It waits for the answers, one for each question.
    Waiting(oneshot::Sender<Vec<PendingQuestion>>),
    /// It did not wait any longer and has ended: with the members of a result, or an error.
    Finished(Result<String, RpcError>),
}

/// What a client is told that has to come back.
pub(crate) struct Asked {
    pub(crate) id: StateId,
    /// The members of a result.
    pub(crate) members: String,
}

/// What becomes of a request that shows a state.
pub(crate) enum Resumed {
    /// The process goes on, and will answer it.
    GoesOn,
    /// The process has ended meanwhile, with this result or error.
    Finished(Current, Result<String, RpcError>),
    /// Not all answers were among those that came. The rest is asked for once more.
    AskAgain(Current, Asked),
    /// The process is gone. Its script is to be run again, with these answers.
    RunAgain(Current, Vec<Round>),
    Refused(Current, Unacceptable),
}

impl Parking {
    pub(crate) fn new(limits: ParkingLimits) -> Self {
        let state = State {
            by_id: HashMap::new(),
            used: UsedStates::default(),
            patience: limits.patience,
            is_swept: false,
        };
        Self { limits, state: Arc::new(Mutex::new(state)) }
    }

    /// How many wait for their client to come back.
    pub(crate) fn count(&self) -> usize {
        self.state.lock().by_id.len()
    }

    /// How long a client may take to come back.
    pub(crate) fn patience(&self) -> Duration {
        self.limits.patience
    }

    /// Parks a process. None only while the system has no random numbers. To be called within the runtime.
    pub(crate) fn park(&self, parked: Parked, keys: &KeyRing) -> Option<Asked> {
        let (id, asked) = parked.ask(keys, self.limits.patience)?;
        let mut state = self.state.lock();
        state.expire(Instant::now());
        let of_caller = state.by_id.values().filter(|other| other.belongs_to(&parked.caller)).count();
        if of_caller >= self.limits.most_per_caller {
            state.end_oldest(|other| other.belongs_to(&parked.caller));
        } else if state.by_id.len() >= self.limits.most {
            state.make_room(|_| 1);
        }
        parked.slot.send_replace(Occupant::Awaited);
        state.by_id.insert(id, parked);
        if !std::mem::replace(&mut state.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.state)));
        }
        Some(asked)
    }

    /// Lets `request` take the place of the one that was answered with `shown`, which is good only once. Everything
    /// happens before anybody else can know that the state is used.
    pub(crate) fn resume(
        &self,
        shown: RequestState,
        responses: Option<Raw<'_>>,
        request: Current,
        keys: &KeyRing,
    ) -> Resumed {
        let mut state = self.state.lock();
        state.expire(Instant::now());
        let is_first = shown.rounds.is_none() || state.used.add(shown.id, shown.expires());
        if !is_first {
            return Resumed::Refused(request, Unacceptable::Used);
        }
        let Some(mut parked) = state.by_id.remove(&shown.id) else {
            return match shown.rounds {
                Some(rounds) => Resumed::RunAgain(request, answered(rounds, responses)),
                None => Resumed::Refused(request, Unacceptable::Gone),
            };
        };
        let waiting = match parked.stage {
            ParkedStage::Finished(outcome) => return Resumed::Finished(request, outcome),
            ParkedStage::Waiting(waiting) => waiting,
        };
        if let Some(responses) = responses {
            fill(&mut parked.questions, responses);
        }
        let is_answered = parked.questions.iter().all(|question| question.answer.is_some());
        // One that does not wait any longer goes on all the same, and answers in the end.
        if is_answered || waiting.is_closed() {
            parked.slot.send_replace(Occupant::Request(Arc::new(request)));
            let _ = waiting.send(parked.questions);
            return Resumed::GoesOn;
        }
        let parked = Parked { stage: ParkedStage::Waiting(waiting), since: Instant::now(), ..parked };
        let Some((id, asked)) = parked.ask(keys, self.limits.patience) else {
            parked.abandon();
            return Resumed::Refused(request, Unacceptable::Gone);
        };
        state.by_id.insert(id, parked);
        Resumed::AskAgain(request, asked)
    }

    /// The state was not used after all, and can be shown again.
    pub(crate) fn give_back(&self, id: StateId, expires: u64) {
        self.state.lock().used.remove(id, expires);
    }

    /// The process of a slot has ended with this outcome, which is given back if the process is not parked.
    pub(crate) fn finish(
        &self,
        slot: &Slot,
        outcome: Result<String, RpcError>,
    ) -> Option<Result<String, RpcError>> {
        let mut state = self.state.lock();
        let Some(parked) = state.by_id.values_mut().find(|parked| Arc::ptr_eq(&parked.slot, slot)) else {
            return Some(outcome);
        };
        parked.stage = ParkedStage::Finished(outcome);
        // Nobody is asked any more. The result has a limit of its own, so that it is kept in any case.
        parked.questions = Vec::new();
        parked.earlier = None;
        parked.held.set(parked.result_bytes());
        while state.by_id.values().map(Parked::result_bytes).sum::<usize>() > MOST_RESULT_BYTES {
            state.make_room(Parked::result_bytes);
        }
        None
    }

    /// Nobody has heard of this state, and nobody will come.
    pub(crate) fn abandon(&self, id: &StateId) {
        if let Some(parked) = self.state.lock().by_id.remove(id) {
            parked.abandon();
        }
    }
}

impl State {
    /// Ends those that nobody may come for any more.
    fn expire(&mut self, now: Instant) {
        let patience = self.patience;
        for (_, parked) in self.by_id.extract_if(|_, parked| parked.is_expired(now, patience)) {
            parked.abandon();
        }
    }

    /// Ends what has expired, and says when the next one does.
    fn sweep(&mut self) -> Option<Instant> {
        self.expire(Instant::now());
        let oldest = self.by_id.values().map(|parked| parked.since).min();
        self.is_swept = oldest.is_some();
        oldest.map(|since| since + self.patience)
    }

    /// Ends the oldest of the caller to whom the most belongs, by the measure of `size`. What has no size stays.
    fn make_room(&mut self, size: impl Fn(&Parked) -> usize) {
        let mut by_caller: HashMap<*const Caller, usize> = HashMap::new();
        for parked in self.by_id.values() {
            *by_caller.entry(Arc::as_ptr(&parked.caller)).or_default() += size(parked);
        }
        let Some((largest, _)) = by_caller.into_iter().max_by_key(|(_, size)| *size) else { return };
        self.end_oldest(|parked| Arc::as_ptr(&parked.caller) == largest && size(parked) > 0);
    }

    /// Ends the oldest of some.
    fn end_oldest(&mut self, is_one: impl Fn(&Parked) -> bool) {
        let some = self.by_id.iter().filter(|(_, parked)| is_one(parked));
        let oldest = some.min_by_key(|(_, parked)| parked.since).map(|(id, _)| *id);
        if let Some(parked) = oldest.and_then(|id| self.by_id.remove(&id)) {
            parked.abandon();
        }
    }
}

impl Parked {
    /// What its client is told, and under which id it is found again.
    fn ask(&self, keys: &KeyRing, patience: Duration) -> Option<(StateId, Asked)> {
        let this_round = || Round(self.questions.iter().map(PendingQuestion::entry).collect());
        let rounds = self.earlier.as_ref().map(|earlier| [earlier.as_slice(), &[this_round()]].concat());
        let is_short =
            |rounds: &Vec<Round>| rounds.iter().map(Round::bytes).sum::<usize>() <= MOST_ANSWER_BYTES;
        let state = RequestState::new(keys, self.origin, patience, rounds.filter(is_short))?;
        let open = self.questions.iter().filter(|question| question.answer.is_none());
        let requests = open.map(|question| (&*question.key, question.request.as_str()));
        let members = shape::input_required(requests, &state.seal(keys)?);
        Some((state.id, Asked { id: state.id, members }))
    }

    fn belongs_to(&self, caller: &Arc<Caller>) -> bool {
        Arc::ptr_eq(&self.caller, caller)
    }

    fn is_expired(&self, now: Instant, patience: Duration) -> bool {
        now.saturating_duration_since(self.since) >= patience
    }

    /// Tells the work that it works for nobody: what it runs ends as if the client had cancelled it.
    fn abandon(self) {
        self.slot.send_replace(Occupant::Nobody);
    }

    /// What is kept for whoever comes late.
    fn result_bytes(&self) -> usize {
        match &self.stage {
            ParkedStage::Finished(Ok(members)) => members.len(),
            ParkedStage::Finished(Err(error)) => {
                error.message.len() + error.data.as_ref().map_or(0, String::len)
            }
            ParkedStage::Waiting(_) => 0,
        }
    }
}

impl PendingQuestion {
    pub(crate) fn entry(&self) -> Entry {
        let answer = self.answer.as_ref().map(|answer| answer.as_raw().text().into());
        Entry { key: self.key.clone(), question: self.digest, answer }
    }
}

/// Takes the answers that fit the questions. Others are passed over, and so is what nobody has asked.
fn fill(questions: &mut [PendingQuestion], responses: Raw<'_>) {
    for question in questions.iter_mut().filter(|question| question.answer.is_none()) {
        question.answer = response(responses, &question.key)
            .filter(|answer| is_answer(question.method, *answer))
            .map(RawBuf::from);
    }
}

fn response<'a>(responses: Raw<'a>, key: &str) -> Option<Raw<'a>> {
    Object::read(responses, "inputResponses", &[key]).ok()?.get(key)
}

/// What was asked before, with the answers that came now. Whether they fit is seen when the questions are asked.
fn answered(mut rounds: Vec<Round>, responses: Option<Raw<'_>>) -> Vec<Round> {
    let open = rounds.iter_mut().flat_map(|round| &mut round.0).filter(|entry| entry.answer.is_none());
    for entry in open {
        entry.answer = responses.and_then(|all| response(all, &entry.key)).map(|answer| answer.text().into());
    }
    rounds
}

/// Whether this can be the answer to a question of that method.
pub(crate) fn is_answer(method: &str, answer: Raw<'_>) -> bool {
    let Ok(members) = Object::read(answer, "the answer", &["action", "content", "roots"]) else {
        return false;
    };
    match method {
        "elicitation/create" => members
            .get("action")
            .and_then(Raw::string)
            .is_some_and(|action| ["accept", "decline", "cancel"].contains(&&*action)),
        "sampling/createMessage" => {
            members.get("content").is_some_and(|content| content.is_object() || content.is_array())
        }
        _ => members.get("roots").is_some_and(Raw::is_array),
    }
}

/// States that were shown, until they expire. Only those are remembered for which a script could be run twice.
#[derive(Default)]
struct UsedStates(BTreeSet<(u64, StateId)>);

impl UsedStates {
    /// False where it was used before.
    fn add(&mut self, id: StateId, expires: u64) -> bool {
        let now = now();
        while self.0.first().is_some_and(|(first, _)| *first <= now || self.0.len() >= MOST_USED) {
            self.0.pop_first();
        }
        self.0.insert((expires, id))
    }

    fn remove(&mut self, id: StateId, expires: u64) {
        self.0.remove(&(expires, id));
    }
}

/// Ends what expires, for as long as anything is parked.
async fn sweep(state: Weak<Mutex<State>>) {
    while let Some(next) = state.upgrade().and_then(|state| state.lock().sweep()) {
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::test_caller;
    use crate::capabilities::ClientCapabilities;
    use crate::context::RequestContext;
    use crate::request_state::Subject;
    use crate::test_kit::Requests;
    use mcp_bash_budget::Budget;
    use mcp_bash_scripts::TraceVariables;
    use mcp_bash_wire::{Limits, Revision, Scanner};
    use tokio::sync::watch;
    use tokio::time::{advance, sleep};

    const MANY: ParkingLimits =
        ParkingLimits { most: 8, most_per_caller: 8, patience: Duration::from_secs(600) };

    struct Scene {
        parking: Arc<Parking>,
        keys: KeyRing,
        requests: Requests,
        /// How many requests came so far.
        count: u32,
    }

    /// A process that was parked, and the state that leads back to it.
    struct Process {
        slot: Slot,
        answers: oneshot::Receiver<Vec<PendingQuestion>>,
        state: String,
    }

    impl Process {
        fn is_ended(&self) -> bool {
            matches!(*self.slot.borrow(), Occupant::Nobody)
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

    impl Scene {
        fn new(limits: ParkingLimits) -> Self {
            let keys = KeyRing::of_this_process().unwrap();
            Self { parking: Arc::new(Parking::new(limits)), keys, requests: Requests::of("a"), count: 0 }
        }

        fn park(&self, caller: &Arc<Caller>, keys: &[&str], earlier: Option<Vec<Round>>) -> Process {
            let slot: Slot = Arc::new(watch::Sender::new(Occupant::Nobody));
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
                caller: Arc::clone(&self.requests.caller),
                revision: Revision::V2026_07_28,
                progress_token: None,
                log_level: None,
                meta: None,
                capabilities: ClientCapabilities::default(),
                trace: TraceVariables::default(),
            };
            Current { context, in_flight: self.requests.begin(self.count).unwrap().0 }
        }

        /// Comes back with a state and answers to these questions.
        fn resume(&mut self, state: &str, answered: &[&str]) -> Resumed {
            self.resume_with(state, &accepted(answered))
        }

        fn resume_with(&mut self, state: &str, responses: &str) -> Resumed {
            let shown = RequestState::open(state, &self.keys, "a", subject).unwrap();
            let responses = Scanner::new(responses, Limits::NONE).whole_value().unwrap();
            let request = self.request();
            self.parking.resume(shown, Some(responses), request, &self.keys)
        }

        fn is_parked(&self, process: &Process) -> bool {
            let shown = RequestState::open(&process.state, &self.keys, "a", subject);
            shown.is_ok_and(|shown| self.parking.state.lock().by_id.contains_key(&shown.id))
        }
    }

    fn state_of(asked: &Asked) -> String {
        let members: serde_json::Value = serde_json::from_str(&format!("{{{}}}", asked.members)).unwrap();
        members["requestState"].as_str().unwrap().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn what_expires_is_ended_without_anybody_asking() {
        let scene = Scene::new(MANY);
        let caller = test_caller("a");
        let early = scene.park(&caller, &["q"], None);
        sleep(Duration::from_secs(1)).await;
        let late = scene.park(&caller, &["q"], None);
        sleep(MANY.patience.mul_f64(0.99)).await;
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
    async fn one_caller_has_a_limit_of_its_own() {
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
        let Resumed::AskAgain(_, asked) = scene.resume_with(&process.state, r#"{"one":12345,"three":{}}"#)
        else {
            panic!("nothing is answered")
        };
        assert!(asked.members.contains(r#""one""#) && asked.members.contains(r#""two""#));
        let Resumed::AskAgain(_, asked) = scene.resume(&state_of(&asked), &["one", "more"]) else {
            panic!("one is missing")
        };
        assert!(
            !asked.members.contains(r#""one""#) && asked.members.contains(r#""two""#),
            "{}",
            asked.members
        );
        assert!(matches!(scene.resume(&state_of(&asked), &["two"]), Resumed::GoesOn));
        let answers = process.answers.try_recv().unwrap();
        assert!(answers.len() == 2 && answers.iter().all(|question| question.answer.is_some()));
        let used = scene.resume(&process.state, &["one", "two"]);
        assert!(matches!(used, Resumed::Refused(_, Unacceptable::Gone)));
    }

    #[tokio::test]
    async fn a_script_is_run_again_once_where_its_process_is_gone() {
        let mut scene = Scene::new(ParkingLimits { most_per_caller: 1, ..MANY });
        let caller = Arc::clone(&scene.requests.caller);
        let gone = scene.park(&caller, &["q"], Some(Vec::new()));
        let here = scene.park(&caller, &["q"], Some(Vec::new()));
        assert!(gone.is_ended());
        let Resumed::RunAgain(_, rounds) = scene.resume(&gone.state, &["q"]) else { panic!("it may be") };
        assert!(rounds.len() == 1 && rounds[0].0[0].answer.is_some());
        assert!(matches!(scene.resume(&gone.state, &["q"]), Resumed::Refused(_, Unacceptable::Used)));
        assert!(matches!(scene.resume(&here.state, &["q"]), Resumed::GoesOn));
        assert!(matches!(scene.resume(&here.state, &["q"]), Resumed::Refused(_, Unacceptable::Used)));
        let shown = RequestState::open(&gone.state, &scene.keys, "a", subject).unwrap();
        scene.parking.give_back(shown.id, shown.expires());
        assert!(
            matches!(scene.resume(&gone.state, &["q"]), Resumed::RunAgain(..)),
            "it was not used after all"
        );
    }

    #[tokio::test]
    async fn of_many_who_show_a_state_at_once_one_gets_it() {
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
                        let resumed = scene.parking.resume(shown, Some(responses), request, &scene.keys);
                        usize::from(matches!(resumed, Resumed::GoesOn))
                    })
                });
                let shows: Vec<_> = shows.collect();
                shows.into_iter().map(|show| show.join().unwrap()).sum::<usize>()
            });
            assert_eq!(count, 1);
        }
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
        assert!(matches!(scene.resume(&process.state, &["q"]), Resumed::Refused(_, Unacceptable::Gone)));
    }

    #[test]
    fn used_states_are_forgotten_when_they_have_expired_or_are_too_many() {
        let mut used = UsedStates::default();
        assert!(used.add([1; 16], 1) && used.add([2; 16], now() + 60) && !used.add([2; 16], now() + 60));
        assert_eq!(used.0.len(), 1);
        for number in 0..=MOST_USED as u128 {
            used.add(number.to_le_bytes(), now() + 3600);
        }
        assert_eq!(used.0.len(), MOST_USED);
    }

    #[tokio::test(start_paused = true)]
    async fn results_that_nobody_comes_for_have_a_limit() {
        let scene = Scene::new(MANY);
        let caller = Arc::clone(&scene.requests.caller);
        let mut parked = Vec::new();
        for _ in 0..3 {
            parked.push(scene.park(&caller, &["q"], None));
            advance(Duration::from_secs(1)).await;
        }
        for process in &parked {
            assert!(scene.parking.finish(&process.slot, Ok("x".repeat(MOST_RESULT_BYTES / 2))).is_none());
        }
        assert!(!scene.is_parked(&parked[0]), "the oldest has made room");
        assert!(scene.is_parked(&parked[1]) && scene.is_parked(&parked[2]));
    }
}
