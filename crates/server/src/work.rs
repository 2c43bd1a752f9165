//! A request whose answer takes time: what its handler may ask and tell while it works.

use crate::call::Pace;
use crate::capabilities::ClientCapabilities;
use crate::context::RequestContext;
use crate::in_flight::InFlightCall;
use crate::log::{data_of, message_notification};
use crate::parking::{self, Parked, State};
use crate::questions::{Questions, Unanswered};
use crate::roots::{ClientRoots, Roots};
use crate::server::Server;
use crate::shape::{self, Members};
use crate::subscriptions::Hearer;
use mcp_bash_budget::Budget;
use mcp_bash_wire::{Era, Limits, LogLevel, Object, Raw, RawBuf, Revision, RpcError, Scanner, write};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

pub(crate) struct Work {
    server: Arc<Server>,
    revision: Revision,
    client: Client,
    /// Where the answer goes; nowhere while the process is parked.
    slot: Slot,
    /// The word that leads back to this work, if it is parked.
    trail: Arc<Mutex<Option<String>>>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

/// The client of a connection, as work sees it.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) questions: Arc<Questions>,
    pub(crate) roots: Arc<ClientRoots>,
    /// Hears of the resources that the session subscribes to.
    pub(crate) hearer: Arc<Hearer>,
    /// What is held for it.
    pub(crate) budget: Arc<Budget>,
}

/// The request that work answers. Another may take its place.
pub(crate) type Slot = Arc<watch::Sender<Option<Arc<Current>>>>;

/// A request, and under which circumstances it was made.
pub(crate) struct Current {
    context: RequestContext,
    in_flight: InFlightCall,
}

impl Work {
    pub(crate) fn new(
        server: Arc<Server>,
        client: Client,
        context: RequestContext,
        in_flight: InFlightCall,
    ) -> Self {
        let revision = context.revision;
        let slot = Arc::new(watch::Sender::new(Some(Arc::new(Current { context, in_flight }))));
        Self { server, revision, client, slot, trail: Arc::default(), asking: tokio::sync::Mutex::default() }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// What is held for the client of the request.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.client.budget
    }

    /// Who hears of the resources that the session subscribes to.
    pub(crate) fn hearer(&self) -> &Arc<Hearer> {
        &self.client.hearer
    }

    /// For work that goes on after the answer.
    pub(crate) fn shared_server(&self) -> &Arc<Server> {
        &self.server
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    fn current(&self) -> Option<Arc<Current>> {
        self.slot.borrow().clone()
    }

    /// Answers the request, unless another one is to be answered in its place.
    pub(crate) fn answer(&self, answer: Result<String, RpcError>) {
        let mut answer = answer;
        // Kept for the request that comes for it, unless that has come just now.
        if self.current().is_none()
            && let Some(word) = lock(&self.trail).take()
        {
            match self.server.parking().finish(&word, answer) {
                None => return,
                Some(left) => answer = left,
            }
        }
        if let Some(current) = self.current() {
            current.in_flight.answer(answer);
        }
    }

    /// The request's `_meta` as JSON text.
    pub(crate) fn meta(&self) -> String {
        let meta = self.current().and_then(|current| current.context.meta.as_deref().map(str::to_owned));
        meta.unwrap_or_else(|| "{}".to_owned())
    }

    /// The progress token as a script writes it: the text of a string, the digits of an integer.
    pub(crate) fn progress_token_text(&self) -> String {
        let Some(current) = self.current() else { return String::new() };
        let Some(token) = current.context.progress_token.as_deref() else { return String::new() };
        serde_json::from_str::<String>(token).unwrap_or_else(|_| token.to_owned())
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
    pub(crate) async fn roots(&self) -> Arc<Roots> {
        let of_client = self.revision.era() == Era::Handshake && self.capabilities().roots;
        let of_client = if of_client { self.client.roots.get().await } else { None };
        of_client.unwrap_or_else(|| Arc::clone(self.server.own_roots()))
    }

    /// Completes when the client cancels the request.
    pub(crate) async fn cancelled(&self) {
        let mut slot = self.slot.subscribe();
        loop {
            let current = slot.borrow_and_update().clone();
            match current {
                Some(current) => tokio::select! {
                    () = current.in_flight.call().cancelled() => return,
                    _ = slot.changed() => {}
                },
                None => drop(slot.changed().await),
            }
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.current().is_some_and(|current| current.in_flight.call().is_cancelled())
    }

    /// Asks the client of the request, and returns the result of its answer as JSON text.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &str,
        subject: &Value,
        patience: Duration,
    ) -> Result<RawBuf, Unanswered> {
        let _turn = self.asking.lock().await;
        let word = self.server.unguessable_word();
        let params = shape::question(method, params, word.as_deref(), self.revision);
        match self.revision.era() {
            Era::Handshake => self.client.questions.ask(method, &params, patience).await,
            Era::Stateless => {
                let answer = self.park(method, &params, subject).ok_or(Unanswered::Cancelled)?;
                let answered = timeout(patience.min(parking::PATIENCE), answer).await;
                answered.map_err(|_| Unanswered::TimedOut(patience))?.map_err(|_| Unanswered::Cancelled)
            }
        }
    }

    /// Answers the request with a question, so that another can bring the answer.
    fn park(&self, method: &str, params: &str, subject: &Value) -> Option<oneshot::Receiver<RawBuf>> {
        let current = self.current()?;
        let word = self.server.unguessable_word()?;
        let (sender, answer) = oneshot::channel();
        let request = format!(r#"{{"method":"{method}","params":{params}}}"#);
        let key = "question".to_owned();
        let members = shape::input_required(&key, &request, &word);
        let parked = Parked {
            slot: Arc::clone(&self.slot),
            trail: Arc::clone(&self.trail),
            subject: subject.clone(),
            key,
            request,
            state: State::Waiting(sender),
            since: Instant::now(),
        };
        *lock(&self.trail) = Some(word.clone());
        self.slot.send_replace(None);
        self.server.parking().park(word, parked);
        current.in_flight.answer(Ok(members));
        Some(answer)
    }

    /// Continues what an earlier request has begun, in its place: this request gets the answer that it will have.
    pub(crate) fn continue_parked(
        &self,
        word: &str,
        subject: &Value,
        responses: Option<Raw<'_>>,
    ) -> Result<(), RpcError> {
        let continued = self.server.parking().take(word, |parked| {
            if parked.subject != *subject {
                let problem = "Invalid params: `requestState` belongs to another request";
                return Err(RpcError::invalid_params(problem));
            }
            let waiting = match parked.state {
                State::Waiting(waiting) => waiting,
                State::Finished(outcome) => return Ok(Continued::Finished(outcome)),
            };
            let response = responses.and_then(|responses| {
                Object::read(responses, "inputResponses", &[&*parked.key]).ok()?.get(&parked.key)
            });
            let Some(response) = response else {
                return Ok(Continued::AskAgain(Parked { state: State::Waiting(waiting), ..parked }));
            };
            *lock(&parked.trail) = None;
            parked.slot.send_replace(self.slot.send_replace(None));
            // One that does not wait any longer goes on all the same, and answers in the end.
            let _ = waiting.send(response.into());
            Ok(Continued::Resumed)
        });
        let unknown = || RpcError::invalid_params("Invalid params: `requestState` is unknown or has expired");
        match continued.ok_or_else(unknown)?? {
            Continued::Resumed => {}
            Continued::Finished(outcome) => self.answer(outcome),
            Continued::AskAgain(parked) => {
                let word = self.server.unguessable_word().ok_or_else(unknown)?;
                let members = shape::input_required(&parked.key, &parked.request, &word);
                *lock(&parked.trail) = Some(word.clone());
                self.server.parking().park(word, parked);
                self.answer(Ok(members));
            }
        }
        Ok(())
    }

    /// Tells about this request on standard error and, if it wants to know, its client.
    pub(crate) fn log(&self, level: LogLevel, logger: &str, message: &str, details: impl FnOnce() -> Value) {
        // A session hears of it as one of the log's listeners; a stateless client only ever by its own request.
        let is_alone = self.revision.era() == Era::Stateless;
        let current = self.current().filter(|current| is_alone && current.wants(level));
        if current.is_none() && !self.server.log().is_heard(level) {
            return;
        }
        let details = details();
        self.server.log().event(level, logger, message, &details);
        if let Some(current) = current {
            let notification = message_notification(level, logger, &data_of(message, &details));
            current.in_flight.call().log(notification, self.pace());
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
            Some("notifications/progress") => current.relay_progress(params, self.pace()),
            Some("notifications/message") => current.relay_log(params, self.pace()),
            _ => {}
        }
    }

    fn pace(&self) -> Pace {
        self.server.pace()
    }
}

/// What became of a request that continues another.
enum Continued {
    /// The process goes on, and will answer.
    Resumed,
    /// It has ended meanwhile, and this came of it.
    Finished(Result<String, RpcError>),
    /// The answer was not among those that came.
    AskAgain(Parked),
}

fn lock(trail: &Mutex<Option<String>>) -> MutexGuard<'_, Option<String>> {
    trail.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Current {
    fn wants(&self, level: LogLevel) -> bool {
        self.context.log_level.is_some_and(|least| level >= least)
    }

    fn relay_progress(&self, params: Raw<'_>, pace: Pace) {
        let Some(token) = &self.context.progress_token else { return };
        let Ok(params) = Object::read(params, "params", &["progress", "total", "message"]) else { return };
        let number =
            |name| params.get(name).filter(|raw| raw.text().parse::<f64>().is_ok_and(f64::is_finite));
        let Some(progress) = number("progress") else { return };
        // Whatever token the script wrote: the request's own is the only one its client knows.
        let mut shown = Members::default();
        shown.raw("progressToken", token);
        shown.raw("progress", progress.text());
        shown.optional_raw("total", number("total").map(Raw::text));
        if self.context.revision.has_progress_message() {
            shown.string("message", params.get("message").and_then(Raw::string).as_deref());
        }
        let notification = write::notification("notifications/progress", &shown.object());
        let value = progress.text().parse().unwrap_or_default();
        self.in_flight.call().progress(value, notification, pace);
    }

    fn relay_log(&self, params: Raw<'_>, pace: Pace) {
        let Ok(params) = Object::read(params, "params", &["level", "logger", "data"]) else { return };
        let text = |name| params.get(name).and_then(Raw::string);
        let level = text("level").and_then(|name| LogLevel::parse(&name)).unwrap_or(LogLevel::Info);
        if !self.wants(level) {
            return;
        }
        let Some(data) = params.get("data") else { return };
        let logger = text("logger").unwrap_or_default();
        self.in_flight.call().log(message_notification(level, &logger, data.text()), pace);
    }
}
