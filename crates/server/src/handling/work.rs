//! A request whose answer takes time: what its handler may ask and tell while it works.

use crate::callers::{Caller, ClientCapabilities};
use crate::logging::{Facts, Subscriber};
use crate::offered::Snapshot;
use crate::replies::{RenderedResult, Stream as _, shape};
use crate::requests::request_state::digest;
use crate::requests::{
    Current, GivenAnswers, Occupant, Origin, Parked, ParkedStage, PendingQuestion, Place, Resting, Round,
    Slot, Subject, Unanswered,
};
use crate::sessions::{Client, Server, Session};
use mcp_bash_budget::Budget;
use mcp_bash_scripts::{FileInProgress, ScriptRoots, TraceVariables};
use mcp_bash_wire::{Era, Limits, LogLevel, Object, Raw, RawBuf, Revision, RpcError, Scanner, surrogates};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

pub(crate) struct Work {
    client: Arc<Client>,
    revision: Revision,
    slot: Slot,
    /// Its place among those that run, unless it rests.
    place: Mutex<Option<Place>>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
    given: Mutex<GivenAnswers>,
    /// What was asked and answered so far, where the script may be run again.
    answered: Mutex<Vec<Round>>,
}

/// A call that can be continued by another request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resumable {
    pub(crate) subject: Subject,
    /// Whether its author allows that it is run again.
    pub(crate) may_run_again: bool,
}

/// What a client is asked.
pub(crate) struct ClientQuestion {
    /// What its author calls it.
    pub(crate) name: Option<Box<str>>,
    pub(crate) method: &'static str,
    /// The text of a JSON object.
    pub(crate) params: String,
    pub(crate) is_offered: fn(ClientCapabilities) -> bool,
}

/// What a question is called to which its author has given no name.
const UNNAMED: &str = "question";

/// How long a client with a session may take to answer, where the script does not say.
const USUAL_PATIENCE: Duration = Duration::from_secs(300);

impl Work {
    pub(crate) fn new(client: Arc<Client>, request: Current, given: GivenAnswers) -> Self {
        let revision = request.context.revision;
        let slot = Arc::new(watch::Sender::new(Occupant::Request(Arc::new(request))));
        Self {
            client,
            revision,
            slot,
            place: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            given: Mutex::new(given),
            answered: Mutex::default(),
        }
    }

    /// Begins with a place among those that run. It has it until the returned value is dropped.
    pub(crate) fn begin(self: &Arc<Self>, place: Place) -> Begun {
        *self.place.lock() = Some(place);
        Begun(Arc::clone(self))
    }

    /// Takes answers that came with the call, where the era has such a thing.
    pub(crate) fn take_answers(&self, responses: Raw<'_>) {
        if self.session().is_none() {
            self.given.lock().take_in_advance(responses);
        }
    }

    /// Whether this is done once more because the process of an earlier run is gone.
    pub(crate) fn is_replay(&self) -> bool {
        self.given.lock().is_replay()
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.client.server
    }

    /// What is served, as soon as it has what `has` looks for, given the files that are being asked what they have. Waits
    /// for those as long as a call may take.
    pub(crate) async fn snapshot_with(
        &self,
        has: impl Fn(&Snapshot, &[FileInProgress]) -> bool,
    ) -> Arc<Snapshot> {
        let (served, patience) = (self.server().served(), self.server().settings().default_timeout);
        tokio::select! {
            biased;
            snapshot = served.snapshot_with(patience, has) => snapshot,
            () = self.cancelled() => served.snapshot(),
        }
    }

    pub(crate) fn caller(&self) -> &Arc<Caller> {
        self.client.caller()
    }

    /// What is held for the caller of the request.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        self.caller().budget()
    }

    /// Who hears of the resources that the session subscribes to.
    pub(crate) fn subscriber(&self) -> Option<&Arc<Subscriber>> {
        self.client.subscriber()
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// The session that the request belongs to, if it is one of the handshake era.
    fn session(&self) -> Option<&Session> {
        self.client.session().filter(|_| self.revision.era() == Era::Handshake)
    }

    fn current(&self) -> Option<Arc<Current>> {
        self.slot.borrow().request()
    }

    /// Answers the request. While the process is parked, the answer is kept for the request that comes for it.
    pub(crate) fn answer(&self, answer: Result<RenderedResult, RpcError>) {
        if let Some(current) = self.current() {
            current.in_flight.answer(answer);
            return;
        }
        // Given back where a request has come just now.
        if let Some(answer) = self.server().parking().finish(&self.slot, answer)
            && let Some(current) = self.current()
        {
            current.in_flight.answer(answer);
        }
    }

    /// The longest answer that can leave.
    pub(crate) fn longest_answer(&self) -> usize {
        self.current().map_or(usize::MAX, |current| current.in_flight.request().longest_answer())
    }

    /// The request's `_meta` as JSON text.
    pub(crate) fn meta(&self) -> String {
        let meta = self.current().and_then(|current| current.context.meta.as_deref().map(str::to_owned));
        meta.unwrap_or_else(|| "{}".to_owned())
    }

    /// The trace that the request is a part of.
    pub(crate) fn trace(&self) -> TraceVariables {
        self.current().map(|current| current.context.trace.clone()).unwrap_or_default()
    }

    /// The progress token for a script: the text of a string, the digits of an integer. One that no variable can hold, or
    /// that would fill a whole line of the side channel, is only hinted at; notifications carry the real one all the same.
    pub(crate) fn progress_token_text(&self) -> String {
        let Some(current) = self.current() else { return String::new() };
        let Some(token) = current.context.progress_token.as_deref() else { return String::new() };
        let text = serde_json::from_str::<String>(token).unwrap_or_else(|_| token.to_owned());
        let is_fit = !text.is_empty() && text.len() <= LONGEST_TOKEN && !text.contains('\0');
        if is_fit { text } else { STAND_IN_TOKEN.to_owned() }
    }

    /// Whether the client would hear anything that is said before the answer.
    pub(crate) fn wants_notifications(&self) -> bool {
        self.current().is_some_and(|current| {
            current.context.progress_token.is_some() || current.context.log_level.is_some()
        })
    }

    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.current().map(|current| current.context.capabilities).unwrap_or_default()
    }

    /// The folders that the script may work in.
    pub(crate) async fn roots(&self) -> Arc<ScriptRoots> {
        let session = self.session().filter(|_| self.capabilities().roots);
        let of_client = match session {
            Some(session) => session.roots.get().await,
            None => self.client.remembered_roots.get(),
        };
        of_client.unwrap_or_else(|| Arc::clone(self.server().own_roots()))
    }

    /// Whether the client has folders of its own that it was not asked for yet: without a session that takes a second
    /// request, so that it is asked only for tools that want to know.
    pub(crate) fn has_unasked_roots(&self) -> bool {
        self.capabilities().roots && self.session().is_none() && self.client.remembered_roots.get().is_none()
    }

    /// Whether the client has an answer to anything that a script can ask. Without a session it is asked for its roots,
    /// too.
    pub(crate) fn can_be_asked(&self) -> bool {
        let offered = self.capabilities();
        offered.can_be_asked() || (offered.roots && self.session().is_none())
    }

    /// Takes over the folders that a client without a session has named, or leaves it at those of the project where it
    /// named none.
    pub(crate) fn learn_roots(&self, named: Option<ScriptRoots>) -> Arc<ScriptRoots> {
        let roots = named.map_or_else(|| Arc::clone(self.server().own_roots()), Arc::new);
        self.client.remembered_roots.set(Arc::clone(&roots));
        roots
    }

    /// Completes when the client cancels the request, or when no request will ever come for what is parked.
    pub(crate) async fn cancelled(&self) {
        let mut slot = self.slot.subscribe();
        loop {
            let current = match &*slot.borrow_and_update() {
                Occupant::Nobody => return,
                occupant => occupant.request(),
            };
            match current {
                Some(current) => tokio::select! {
                    () = current.in_flight.request().cancelled() => return,
                    _ = slot.changed() => {}
                },
                None => drop(slot.changed().await),
            }
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.current().is_some_and(|current| current.in_flight.request().is_cancelled())
    }

    /// Asks the client of the request what it offers to be asked, and returns the results of its answers as JSON text. With
    /// a session they are asked one after the other, without one all at once. Meanwhile the place of this work among those
    /// that run is free for others. Without `patience` a client with a session has the usual time, and one without as long
    /// as it may take to come back.
    pub(crate) async fn ask(
        &self,
        questions: &[ClientQuestion],
        call: Resumable,
        patience: Option<Duration>,
    ) -> Vec<Result<RawBuf, Unanswered>> {
        let offered = self.current().map(|current| current.context.capabilities);
        let is_offered =
            |question: &ClientQuestion| offered.is_none_or(|offered| (question.is_offered)(offered));
        // Before their turn, so that they do not wait for others in vain.
        let asked: Vec<&ClientQuestion> = questions.iter().filter(|question| is_offered(question)).collect();
        if asked.is_empty() {
            return questions.iter().map(|_| Err(NOT_OFFERED)).collect();
        }
        let _turn = self.asking.lock().await;
        let mut answers = match self.session() {
            Some(session) => self.ask_in_session(session, &asked, patience.unwrap_or(USUAL_PATIENCE)).await,
            None => match self.ask_without_session(&asked, call, patience).await {
                Ok(answers) => answers.into_iter().map(Ok).collect(),
                Err(why) => asked.iter().map(|_| Err(why.clone())).collect::<Vec<_>>(),
            },
        }
        .into_iter();
        let in_order = |question| if is_offered(question) { answers.next() } else { None };
        questions.iter().map(in_order).map(|answer| answer.unwrap_or(Err(NOT_OFFERED))).collect()
    }

    async fn ask_in_session(
        &self,
        session: &Session,
        asked: &[&ClientQuestion],
        patience: Duration,
    ) -> Vec<Result<RawBuf, Unanswered>> {
        let rest = self.rest(Place::rest);
        let mut answers = Vec::new();
        for question in asked {
            let Some(current) = self.current() else {
                answers.push(Err(Unanswered::Cancelled));
                continue;
            };
            let (request, params) = (current.in_flight.request(), self.shown(question));
            answers.push(session.questions.ask(&**request, question.method, &params, patience).await);
        }
        rest.end().await;
        answers
    }

    async fn ask_without_session(
        &self,
        asked: &[&ClientQuestion],
        call: Resumable,
        patience: Option<Duration>,
    ) -> Result<Vec<RawBuf>, Unanswered> {
        let mut pending: Vec<PendingQuestion> = asked.iter().map(|question| self.pending(question)).collect();
        let is_named = |question: &PendingQuestion| &*question.key != UNNAMED;
        self.given.lock().answer(&mut pending, is_named);
        if pending.iter().any(|question| question.answer.is_none()) {
            let longest = self.server().parking().patience();
            let patience = patience.map_or(longest, |patience| patience.min(longest));
            let deadline = Instant::now() + patience;
            let timed_out = |_| Unanswered::TimedOut(patience);
            // After a question that nobody waits for any more, its client has still to come back.
            let current = timeout_at(deadline, self.seated()).await.map_err(timed_out)?;
            let current = current.ok_or(Unanswered::Cancelled)?;
            let offered = current.context.capabilities;
            if !asked.iter().all(|question| (question.is_offered)(offered)) {
                return Err(NOT_OFFERED);
            }
            let answers = self.park(&current, pending, call)?;
            drop(current);
            // How many are parked is limited already. Those that had to make room are still on their way out.
            let rest = self.rest(Place::rest_in_any_case);
            let answered = timeout_at(deadline, answers).await;
            // Whether it was answered or not, its script goes on.
            rest.end().await;
            pending = answered.map_err(timed_out)?.map_err(|_| Unanswered::Cancelled)?;
        }
        if call.may_run_again {
            self.answered.lock().push(Round(pending.iter().map(PendingQuestion::entry).collect()));
        }
        pending.into_iter().map(|question| question.answer.ok_or(Unanswered::Cancelled)).collect()
    }

    /// The params of a question as its client gets to see them.
    fn shown(&self, question: &ClientQuestion) -> String {
        let elicitation_id = self.server().unguessable_token();
        shape::question(question.method, &question.params, elicitation_id.as_deref(), self.revision)
    }

    fn pending(&self, question: &ClientQuestion) -> PendingQuestion {
        let ClientQuestion { name, method, params, .. } = question;
        let request = format!(r#"{{"method":"{method}","params":{}}}"#, self.shown(question));
        let key = name.clone().unwrap_or_else(|| UNNAMED.into());
        PendingQuestion { key, method, request, digest: digest(&[method, params]), answer: None }
    }

    /// The request that is to be answered, as soon as there is one. None where none will come.
    async fn seated(&self) -> Option<Arc<Current>> {
        let mut slot = self.slot.subscribe();
        let occupant = slot.wait_for(|occupant| !matches!(occupant, Occupant::Awaited)).await.ok()?;
        occupant.request()
    }

    /// Answers the request with questions, so that another can bring the answers.
    fn park(
        &self,
        current: &Current,
        questions: Vec<PendingQuestion>,
        call: Resumable,
    ) -> Result<oneshot::Receiver<Vec<PendingQuestion>>, Unanswered> {
        if current.in_flight.request().is_clogged() {
            return Err(Unanswered::Clogged);
        }
        let earlier = call.may_run_again.then(|| self.answered.lock().clone());
        let bytes = questions.iter().map(|question| question.request.len()).sum::<usize>()
            + earlier.iter().flatten().map(Round::bytes).sum::<usize>();
        // Here, and as the answer, which must not become an error: then nobody would know of the questions.
        let mut held = self.budget().charge(2 * bytes)?;
        held.set(bytes);
        let (sender, answers) = oneshot::channel();
        let parked = Parked {
            caller: Arc::clone(self.caller()),
            origin: Origin::new(self.caller().name(), call.subject),
            slot: Arc::clone(&self.slot),
            questions,
            earlier,
            stage: ParkedStage::Waiting(sender),
            since: Instant::now(),
            held,
        };
        let parking = self.server().parking();
        let keys = self.server().state_keys().ok_or(Unanswered::Cancelled)?;
        let asked = parking.park(parked, keys).ok_or(Unanswered::Cancelled)?;
        if !current.in_flight.answer(Ok(asked.members.into())) {
            // It was cancelled or answered a moment ago, so that nobody learns the state.
            parking.abandon(&asked.id);
        }
        Ok(answers)
    }

    /// Lets others have the place of this work for as long as it waits for an answer.
    fn rest(&self, rest: fn(Place) -> Result<Resting, Place>) -> Rest<'_> {
        let mut place = self.place.lock();
        let resting = match place.take().map(rest) {
            Some(Ok(resting)) => Some(resting),
            Some(Err(kept)) => {
                *place = Some(kept);
                None
            }
            None => None,
        };
        Rest { work: self, resting }
    }

    /// Tells the operator about this request and, if it wants to know, its client.
    pub(crate) fn log(
        &self,
        level: LogLevel,
        logger: &str,
        kind: &'static str,
        facts: impl FnOnce() -> Facts,
    ) {
        let current = self.current().filter(|current| current.wants(level));
        let log = self.server().log();
        if current.is_none() && !log.is_heard(level) {
            return;
        }
        let details = facts().into_value();
        log.project_event(level, logger, kind, &details);
        if let Some(current) = current {
            current.in_flight.request().log(log.notification(level, logger, kind, &details));
        }
    }

    /// Tells the client of this request something that is nobody else's business, if it wants to know.
    pub(crate) fn log_to_client(&self, level: LogLevel, logger: &str, message: &str) {
        if let Some(current) = self.current().filter(|current| current.wants(level)) {
            let log = self.server().log();
            current.in_flight.request().log(log.notification(level, logger, message, &Value::Null));
        }
    }

    /// Passes on what a running script says about itself: a notification as JSON, one a line.
    pub(crate) fn relay(&self, line: &[u8]) {
        let Some(current) = self.current() else { return };
        let Ok(text) = std::str::from_utf8(line) else { return };
        let text = surrogates::mended(text);
        let Ok(whole) = Scanner::new(&text, Limits::default()).whole_value() else { return };
        let Ok(message) = Object::read(whole, "a line", &["method", "params"]) else { return };
        let Some(params) = message.get("params") else { return };
        match message.get("method").and_then(Raw::string).as_deref() {
            Some("notifications/progress") => current.relay_progress(params),
            Some("notifications/message") => current.relay_log(params),
            _ => {}
        }
    }
}

/// The longest progress token that scripts are told, in bytes: escaped as JSON it leaves room on a line of the side
/// channel, which is short.
const LONGEST_TOKEN: usize = 512;

/// What scripts are told instead of a token that they cannot be given.
const STAND_IN_TOKEN: &str = "progress";

/// Work that has a place among those that run, or rests.
pub(crate) struct Begun(Arc<Work>);

impl Drop for Begun {
    fn drop(&mut self) {
        // It passes on when it is dropped, which must not happen while it is looked at.
        let place = self.0.place.lock().take();
        drop(place);
    }
}

/// Work that waits for an answer.
struct Rest<'a> {
    work: &'a Work,
    /// Nothing where it keeps its place.
    resting: Option<Resting>,
}

impl Rest<'_> {
    /// Takes its turn for a place.
    async fn end(mut self) {
        let Some(resting) = &self.resting else { return };
        let request = self.work.current().map(|current| Arc::clone(current.in_flight.request()));
        if let Some(place) = resting.take_turn(request).await {
            self.resting = None;
            *self.work.place.lock() = Some(place);
        }
    }
}

impl Drop for Rest<'_> {
    /// Nobody waits for the answer any more, so that the script goes on at once.
    fn drop(&mut self) {
        if let Some(resting) = self.resting.take() {
            *self.work.place.lock() = Some(resting.take_place_at_once());
        }
    }
}

const NOT_OFFERED: Unanswered = Unanswered::NotOffered("it does not say that it can be");
