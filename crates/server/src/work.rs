//! A request whose answer takes time: what its handler may ask and tell while it works.

use crate::caller::Caller;
use crate::capabilities::ClientCapabilities;
use crate::client::Client;
use crate::context::RequestContext;
use crate::in_flight::InFlightRequest;
use crate::parking::{self, Parked, ParkedStage, Resumed, Subject};
use crate::questions::Unanswered;
use crate::server::Server;
use crate::session::Session;
use crate::shape;
use crate::slot::{Current, Occupant, Slot};
use crate::subscriber::Subscriber;
use mcp_bash_budget::Budget;
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_wire::{Era, Limits, LogLevel, Object, Raw, RawBuf, Revision, RpcError, Scanner};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

pub(crate) struct Work {
    client: Arc<Client>,
    revision: Revision,
    slot: Slot,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

impl Work {
    pub(crate) fn new(client: Arc<Client>, context: RequestContext, in_flight: InFlightRequest) -> Self {
        let revision = context.revision;
        let slot = Arc::new(watch::Sender::new(Occupant::Request(Arc::new(Current { context, in_flight }))));
        Self { client, revision, slot, asking: tokio::sync::Mutex::default() }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.client.server
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
    pub(crate) fn answer(&self, answer: Result<String, RpcError>) {
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
            None => None,
        };
        of_client.unwrap_or_else(|| Arc::clone(self.server().own_roots()))
    }

    /// Whether the client has folders of its own that nobody has asked it for: without a session that would take a second
    /// request for each call, so that it is left to the scripts that want to know.
    pub(crate) fn has_unasked_roots(&self) -> bool {
        self.capabilities().roots && self.session().is_none()
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

    /// Asks the client of the request, if that offers to be asked, and returns the result of its answer as JSON text.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &str,
        is_offered: fn(ClientCapabilities) -> bool,
        subject: Subject,
        patience: Duration,
    ) -> Result<RawBuf, Unanswered> {
        let offered = |current: &Current| {
            let is_offered = is_offered(current.context.capabilities);
            is_offered.then_some(()).ok_or(Unanswered::NotOffered("it does not say that it can be"))
        };
        // Before its turn, so that it does not wait for others in vain.
        self.current().as_deref().map_or(Ok(()), offered)?;
        let _turn = self.asking.lock().await;
        let elicitation_id = self.server().unguessable_token();
        let params = shape::question(method, params, elicitation_id.as_deref(), self.revision);
        if let Some(session) = self.session() {
            let current = self.current().ok_or(Unanswered::Cancelled)?;
            let stream = current.in_flight.request().stream();
            drop(current);
            return session.questions.ask(&*stream, method, &params, patience).await;
        }
        let deadline = Instant::now() + patience.min(parking::PATIENCE);
        let timed_out = |_| Unanswered::TimedOut(patience);
        let answer = {
            // After a question that nobody waits for any more, its client has still to come back.
            let current = timeout_at(deadline, self.seated()).await.map_err(timed_out)?;
            let current = current.ok_or(Unanswered::Cancelled)?;
            offered(&current)?;
            self.park(&current, method, &params, subject)?
        };
        let answered = timeout_at(deadline, answer).await.map_err(timed_out)?;
        answered.map_err(|_| Unanswered::Cancelled)
    }

    /// The request that is to be answered, as soon as there is one. None where none will come.
    async fn seated(&self) -> Option<Arc<Current>> {
        let mut slot = self.slot.subscribe();
        let occupant = slot.wait_for(|occupant| !matches!(occupant, Occupant::Awaited)).await.ok()?;
        occupant.request()
    }

    /// Answers the request with a question, so that another can bring the answer.
    fn park(
        &self,
        current: &Current,
        method: &str,
        params: &str,
        subject: Subject,
    ) -> Result<oneshot::Receiver<RawBuf>, Unanswered> {
        if current.in_flight.request().is_clogged() {
            return Err(Unanswered::Clogged);
        }
        // Here, and as the answer, which must not become an error: then nobody would know of the question.
        let mut held = self.budget().charge(2 * params.len())?;
        held.set(params.len());
        let resume_token = self.server().unguessable_token().ok_or(Unanswered::Cancelled)?;
        let (sender, answer) = oneshot::channel();
        let request = format!(r#"{{"method":"{method}","params":{params}}}"#);
        let key = "question";
        let members = shape::input_required(key, &request, &resume_token);
        let slot = Arc::clone(&self.slot);
        let stage = ParkedStage::Waiting(sender);
        let caller = Arc::clone(self.caller());
        let parked = Parked { caller, slot, subject, key, request, stage, since: Instant::now(), held };
        self.server().parking().park(resume_token.clone(), parked);
        if !current.in_flight.answer(Ok(members)) {
            // It was cancelled or answered a moment ago, so that nobody learns the token.
            self.server().parking().abandon(&resume_token);
        }
        Ok(answer)
    }

    /// Tells the operator about this request and, if it wants to know, its client.
    pub(crate) fn log(&self, level: LogLevel, logger: &str, message: &str, details: impl FnOnce() -> Value) {
        let current = self.current().filter(|current| current.wants(level));
        let log = self.server().log();
        if current.is_none() && !log.is_heard(level) {
            return;
        }
        let details = details();
        log.operator_event(level, logger, message, &details);
        if let Some(current) = current {
            current.in_flight.request().log(log.notification(level, logger, message, &details));
        }
    }

    /// Passes on what a running script says about itself: a notification as JSON, one a line.
    pub(crate) fn relay(&self, line: &[u8]) {
        let Some(current) = self.current() else { return };
        let Ok(text) = std::str::from_utf8(line) else { return };
        let Ok(whole) = Scanner::new(text, Limits::default()).whole_value() else { return };
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

/// A request that brings the answer to a question of parked work.
pub(crate) struct Continuation<'a> {
    pub(crate) resume_token: &'a str,
    pub(crate) responses: Option<Raw<'a>>,
}

impl Continuation<'_> {
    /// Goes on with the work in the place of the request that began it: `in_flight` gets the answer. Nothing is started,
    /// and a refusal changes nothing.
    pub(crate) fn resume(
        self,
        server: &Server,
        subject: impl FnOnce() -> Subject,
        context: RequestContext,
        in_flight: InFlightRequest,
    ) {
        let parking = server.parking();
        let current = Arc::new(Current { context, in_flight });
        let known = parking.subject(self.resume_token, &current.context.caller);
        let is_right = known.is_some_and(|known| known == subject());
        let fresh_token = server.unguessable_token().filter(|_| is_right);
        let resumed = fresh_token.and_then(|fresh| {
            let resumed = parking.resume(self.resume_token, self.responses, fresh.clone(), &current)?;
            Some((resumed, fresh))
        });
        match resumed {
            Some((Resumed::GoesOn, _)) => {}
            Some((Resumed::Finished(outcome), _)) => drop(current.in_flight.answer(outcome)),
            Some((Resumed::AskAgain { key, request }, fresh)) => {
                if !current.in_flight.answer(Ok(shape::input_required(key, &request, &fresh))) {
                    parking.abandon(&fresh);
                }
            }
            None => drop(current.in_flight.answer(Err(unknown_state()))),
        }
    }
}

/// The refusal of a `requestState`, which is the same whatever is wrong with it, so that nothing is learnt from it.
pub(crate) fn unknown_state() -> RpcError {
    RpcError::invalid_params(
        "Invalid params: `requestState` is unknown, has expired, or belongs to another call",
    )
}
