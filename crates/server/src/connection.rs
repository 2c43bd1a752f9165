//! One client: its lines come in here, and are answered on its channel.

use crate::answers::Answers;
use crate::channel::Channel;
use crate::context::{RequestContext, missing_meta};
use crate::guard::{Denied, SLOWED};
use crate::in_flight::{InFlight, InFlightCall};
use crate::methods::{
    Immediate, Lengthy, Method, Rule, completion, discover, lifecycle, logging, prompts, resources, tools,
};
use crate::panics;
use crate::questions::Questions;
use crate::roots::ClientRoots;
use crate::server::Server;
use crate::session::{Gate, Session};
use crate::shape::Answer;
use crate::subscriptions::{Filter, Hearer, Listens};
use crate::work::{Client, Work, unknown_state};
use mcp_bash_budget::{Budget, SMALL};
use mcp_bash_wire::{
    Decoded, Era, Id, Incoming, Line, LogLevel, Notification, Object, Raw, RawBuf, Refusal, Request,
    RequestMeta, RpcError, decode, decode_element, keys, refuse_oversized, write,
};
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether the connection goes on after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// The client said `exit`.
    Exit,
}

pub struct Connection {
    server: Arc<Server>,
    channel: Arc<dyn Channel>,
    session: Mutex<Session>,
    in_flight: Arc<InFlight>,
    listens: Listens,
    client: Client,
    closing: Arc<AtomicBool>,
    /// How many refusals of wrong secrets are being held back.
    slowed: Arc<AtomicUsize>,
}

/// More refusals than these are not held back: they are not worth the memory.
const MOST_SLOWED: usize = 64;

impl Connection {
    pub fn new(server: Arc<Server>, channel: Arc<dyn Channel>) -> Self {
        let budget = server.client_budget();
        Self::within(budget, server, channel)
    }

    /// A connection whose client is held as much for as `budget` allows, together with what its transport charges there.
    pub fn within(budget: Arc<Budget>, server: Arc<Server>, channel: Arc<dyn Channel>) -> Self {
        let channel: Arc<dyn Channel> = match server.payloads() {
            None => channel,
            Some(_) => Arc::new(Recorded { server: Arc::clone(&server), channel }),
        };
        let closing = Arc::new(AtomicBool::new(false));
        let peer = server.log().peers().join(Arc::clone(&channel), server.settings().logs_per_minute);
        let session = Session::new(peer, server.log().default_level(), Arc::clone(&closing));
        let questions = Arc::new(Questions::new(Arc::clone(&channel)));
        let hearer = Arc::new(Hearer::of_session(Arc::clone(&channel)));
        Self {
            server,
            channel,
            session: Mutex::new(session),
            in_flight: Arc::default(),
            listens: Listens::default(),
            client: Client { questions, roots: Arc::new(ClientRoots::new()), hearer, budget },
            closing,
            slowed: Arc::default(),
        }
    }

    /// Takes one line. What can be answered at once is queued when this returns; the caller flushes.
    pub fn receive(&self, line: &Line<'_>) -> Flow {
        let limits = self.server.settings().limits;
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { start } => {
                self.refuse(&refuse_oversized(start, limits), &self.direct());
                return Flow::Continue;
            }
        };
        if let Some(payloads) = self.server.payloads() {
            payloads.record('<', line);
        }
        match decode(line, limits) {
            Ok(None) => Flow::Continue,
            Ok(Some(Decoded::One(incoming))) => self.take(incoming, &self.direct()),
            Ok(Some(Decoded::Batch(elements))) => self.take_batch(&elements),
            Err(refusal) => {
                self.refuse(&refusal, &self.direct());
                Flow::Continue
            }
        }
    }

    /// Whether nothing is being worked on, and nobody listens.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_idle() && self.listens.is_empty()
    }

    /// Whether the client said `shutdown`.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// To be called when the channel is not clogged any more: what was held back meanwhile goes on.
    pub fn relieved(&self) {
        self.server.log().peers().tell_what_is_owed();
        self.server.subscriptions().tell_what_is_owed();
        self.server.admission().go_on();
    }

    /// Completes when everything that was asked is answered and its work has ended. Safe to drop half-way, and to begin
    /// again.
    pub async fn finish(&self) {
        // Nothing more is read, so that nothing that is asked can be answered any more.
        self.client.questions.close();
        self.listens.end_all(&self.server);
        self.in_flight.idle().await;
    }

    /// Stops all work: nothing more is sent for it.
    pub fn abandon(&self) {
        self.listens.end_all(&self.server);
        self.in_flight.cancel_all();
    }

    fn direct(&self) -> Answers {
        Answers::direct(Arc::clone(&self.channel), Arc::clone(&self.client.budget))
    }

    fn take_batch(&self, elements: &[Raw<'_>]) -> Flow {
        let allowed = self.server.settings().compat_batches || self.session().has_batches();
        if !allowed || elements.is_empty() {
            let detail =
                if allowed { "a batch holds at least one message" } else { "batches are not allowed here" };
            let error = RpcError::invalid_request(format!("Invalid Request: {detail}"));
            self.channel.push(write::error(None, &error));
            return Flow::Continue;
        }
        let answers = Answers::batched(Arc::clone(&self.channel), &self.client.budget);
        let mut flow = Flow::Continue;
        // Those that are answered at once are in flight as well, until the array leaves.
        let mut ids = HashSet::new();
        for element in elements {
            match decode_element(*element) {
                Ok(Incoming::Request(request)) if !ids.insert(request.id.clone()) => {
                    self.refuse(&Refusal { id: Some(request.id), error: id_in_flight() }, &answers);
                }
                Ok(incoming) => {
                    if self.take(incoming, &answers) == Flow::Exit {
                        flow = Flow::Exit;
                    }
                }
                Err(refusal) => self.refuse(&refusal, &answers),
            }
        }
        answers.withdraw();
        flow
    }

    fn take(&self, incoming: Incoming<'_>, answers: &Answers) -> Flow {
        match incoming {
            Incoming::Request(request) => return self.take_request(&request, answers),
            Incoming::Notification(notification) => return self.take_notification(&notification),
            Incoming::Response(response) => {
                if !self.client.questions.take(&response) {
                    let details = json!({ "id": response.id.as_ref().map(Id::as_json) });
                    self.server.log().event(LogLevel::Debug, "mcp.rpc", "unexpected answer", &details);
                }
            }
            Incoming::Ignored(reason) => {
                let details = json!({ "reason": reason });
                self.server.log().event(LogLevel::Debug, "mcp.rpc", "notification ignored", &details);
            }
        }
        Flow::Continue
    }

    fn refuse(&self, refusal: &Refusal, answers: &Answers) {
        let details = json!({ "code": refusal.error.code });
        self.server.log().event(LogLevel::Debug, "mcp.rpc", "message refused", &details);
        answers.expect();
        answers.error(refusal.id.as_ref(), &refusal.error);
    }

    fn take_request(&self, request: &Request<'_>, answers: &Answers) -> Flow {
        answers.expect();
        match panics::caught(|| self.serve(request, answers)) {
            Ok(Served::Now(result)) => {
                answers.result(&request.id, result);
                Flow::Continue
            }
            Ok(Served::Exit(result)) => {
                answers.result(&request.id, result);
                Flow::Exit
            }
            Ok(Served::Later) => Flow::Continue,
            Err(error) => {
                answers.error(Some(&request.id), &error);
                Flow::Continue
            }
        }
    }

    /// Serves a request, or hands it to those who will.
    fn serve(&self, request: &Request<'_>, answers: &Answers) -> Result<Served, RpcError> {
        if self.in_flight.contains(&request.id) || self.listens.contains(&request.id) {
            return Err(id_in_flight());
        }
        let meta = RequestMeta::read(request.params)?;
        if let Some(guard) = self.server.guard()
            && let Err(denied) = guard.check(meta.whole)
        {
            return self.deny(&denied, &request.id, &request.method, answers);
        }
        let mut session = self.session();
        let context = RequestContext::of(&meta, &session, self.server.guard())?;
        let rule = self.rule_for(request, &context, &session, answers)?;
        let method = match rule.method {
            Method::Now(method) => method,
            Method::Later(method) => {
                drop(session);
                let state = meta.request_state.filter(|_| context.era() == Era::Stateless);
                return match (state, method) {
                    (Some(_), Lengthy::CallTool) => self.resume(request, context, answers),
                    // They never ask, so that no state of theirs can be known.
                    (Some(_), Lengthy::GetPrompt | Lengthy::ReadResource) => Err(unknown_state()),
                    _ => self.start_work(request, context, method, answers),
                };
            }
            Method::Listen => {
                drop(session);
                return self.listen(request, &context, answers);
            }
        };
        panics::on_purpose(rule.name);
        let params = request.params;
        let answer = match method {
            Immediate::Ping => Answer::default(),
            Immediate::Initialize => lifecycle::initialize(&self.server, &mut session, params)?,
            Immediate::SetLogLevel => logging::set_level(&mut session, params)?,
            Immediate::Shutdown => lifecycle::shutdown(&self.server, &session),
            Immediate::Exit => lifecycle::exit(&session)?,
            Immediate::Discover => discover::discover(&self.server, context.revision),
            Immediate::ListTools => tools::list(&self.server, context.revision, params)?,
            Immediate::ListResources => resources::list(&self.server, context.revision, params)?,
            Immediate::Unsubscribe => {
                resources::unsubscribe(&self.server, context.revision, params, &self.client.hearer)?
            }
            Immediate::ListResourceTemplates => {
                resources::list_templates(&self.server, context.revision, params)?
            }
            Immediate::ListPrompts => prompts::list(&self.server, context.revision, params)?,
        };
        let result = answer.render(context.revision, &self.server.snapshot().catalog.identity);
        Ok(if method == Immediate::Exit { Served::Exit(result) } else { Served::Now(result) })
    }

    /// The rule of the request's method, if it may be called now.
    fn rule_for(
        &self,
        request: &Request<'_>,
        context: &RequestContext,
        session: &Session,
        answers: &Answers,
    ) -> Result<&'static Rule, RpcError> {
        let rule = Rule::find(&request.method);
        let served = rule.filter(|rule| rule.is_served(context.era(), self.server.settings().minimal));
        let not_found = || RpcError::method_not_found(&request.method);
        if answers.is_batched() && !self.server.settings().compat_batches {
            let batchable =
                context.revision.has_batches() && rule.is_none_or(|rule| rule.handshake != Some(Gate::First));
            if !batchable {
                return Err(RpcError::invalid_request(format!(
                    "Invalid Request: `{}` cannot be part of a batch",
                    request.method
                )));
            }
        }
        match context.era() {
            Era::Stateless if session.is_closing() => Err(RpcError::internal("Server shutting down")),
            Era::Stateless => served.ok_or_else(not_found),
            Era::Handshake => {
                // Only the stateless era has it, so whoever calls it means that era and left out what it needs.
                if rule.is_some_and(|rule| rule.handshake.is_none()) {
                    return Err(missing_meta(keys::PROTOCOL_VERSION));
                }
                let gate = rule.and_then(|rule| rule.handshake).unwrap_or(Gate::Ready);
                session.admits(gate)?;
                served.ok_or_else(not_found)
            }
        }
    }

    /// Opens a stream of notifications, which is all that its client hears until it ends.
    fn listen(
        &self,
        request: &Request<'_>,
        context: &RequestContext,
        answers: &Answers,
    ) -> Result<Served, RpcError> {
        if answers.is_batched() {
            return Err(RpcError::invalid_request("Invalid Request: to listen cannot be part of a batch"));
        }
        let filter = Filter::read(request.params)?;
        let channel = Arc::clone(&self.channel);
        self.listens.begin(
            &self.server,
            channel,
            &self.client.budget,
            &request.id,
            context.revision,
            filter,
        )?;
        Ok(Served::Later)
    }

    fn begin(&self, id: &Id, answers: &Answers) -> Result<InFlightCall, RpcError> {
        self.in_flight.begin(id, answers.clone(), self.server.pace()).ok_or_else(id_in_flight)
    }

    /// Goes on with the work that an earlier request has begun, which has its place already. Nothing else is started, so
    /// that whoever shows a state gets no more than that.
    fn resume(
        &self,
        request: &Request<'_>,
        context: RequestContext,
        answers: &Answers,
    ) -> Result<Served, RpcError> {
        let resumption = tools::Resumption::read(request.params)?;
        resumption.resume(&self.server, context, self.begin(&request.id, answers)?);
        Ok(Served::Later)
    }

    fn start_work(
        &self,
        request: &Request<'_>,
        context: RequestContext,
        method: Lengthy,
        answers: &Answers,
    ) -> Result<Served, RpcError> {
        // The params, what of them is kept apart as the context, a token once more in the progress that is held back, and
        // the id where it is in flight and where it is answered.
        let kept = |part: &Option<Box<str>>| part.as_ref().map_or(0, |text| text.len());
        let context_bytes = kept(&context.meta) + 2 * kept(&context.progress_token);
        let params_bytes = request.params.map_or(0, |params| params.text().len());
        let bytes = params_bytes + context_bytes + 2 * request.id.as_json().len();
        let held = (bytes > SMALL).then(|| self.client.budget.charge(bytes)).transpose();
        let held = held.map_err(|why| RpcError::internal(format!("Server busy: {why}")))?;
        let in_flight = self.begin(&request.id, answers)?;
        let call = Arc::clone(in_flight.call());
        let work = Arc::new(Work::new(Arc::clone(&self.server), self.client.clone(), context, in_flight));
        let params = request.params.map(RawBuf::from);
        let work = Box::pin(async move {
            let _held = held;
            if work.is_cancelled() {
                return;
            }
            let answer =
                panics::caught_while_waiting(run(&work, method, params.as_ref().map(RawBuf::as_raw))).await;
            let snapshot = work.server().snapshot();
            work.answer(answer.map(|answer| answer.render(work.revision(), &snapshot.catalog.identity)));
        });
        // A panic drops the work, which answers; nobody else must.
        let admitted = panics::caught(|| Ok(self.server.admission().admit(&call, bytes, work)));
        if let Ok(Err(refused)) = admitted {
            // Before the work is dropped, which would answer with less of a reason.
            call.answer(Err(RpcError::internal(format!("Server busy: {}", refused.reason))));
            drop(refused);
        }
        Ok(Served::Later)
    }

    fn take_notification(&self, notification: &Notification<'_>) -> Flow {
        let params = notification.params;
        if let Some(guard) = self.server.guard() {
            let meta = RequestMeta::read(params).unwrap_or_default();
            if guard.check(meta.whole).is_err() {
                return Flow::Continue;
            }
        }
        match &*notification.method {
            "notifications/initialized" | "initialized" => {
                let mut session = self.session();
                if session.ready() && session.capabilities().roots {
                    self.client.roots.refresh(&self.server, &self.client.questions, true);
                }
            }
            "notifications/roots/list_changed" if self.session().capabilities().roots => {
                self.client.roots.refresh(&self.server, &self.client.questions, false);
            }
            "notifications/cancelled" => self.cancel(params),
            "exit" if self.is_closing() => return Flow::Exit,
            _ => {}
        }
        Flow::Continue
    }

    /// Stops the work on a request. What cannot be understood is passed over: nobody waits for an answer.
    fn cancel(&self, params: Option<Raw<'_>>) {
        let read = || {
            let params = Object::read(params?, "params", &["requestId"]).ok()?;
            Id::read(params.get("requestId")?)
        };
        let Some(id) = read() else { return };
        if self.listens.cancel(&id, &self.server) {
            return;
        }
        if let Some(call) = self.in_flight.cancel(&id) {
            self.server.admission().forget(&call);
            self.server.log().event(LogLevel::Debug, "mcp.rpc", "request cancelled", &json!({}));
        }
    }

    fn deny(&self, denied: &Denied, id: &Id, method: &str, answers: &Answers) -> Result<Served, RpcError> {
        let error = RpcError::from(denied);
        if !denied.throttled {
            let details = json!({ "method": method.chars().take(80).collect::<String>() });
            self.server.log().event(LogLevel::Warning, "mcp.auth", "remote token rejected", &details);
            return Err(error);
        }
        if self.slowed.fetch_add(1, Ordering::AcqRel) >= MOST_SLOWED {
            self.slowed.fetch_sub(1, Ordering::AcqRel);
            return Err(error);
        }
        let (in_flight, slowed) = (self.begin(id, answers)?, Arc::clone(&self.slowed));
        self.server.runtime().spawn(async move {
            tokio::time::sleep(SLOWED).await;
            in_flight.answer(Err(error));
            slowed.fetch_sub(1, Ordering::AcqRel);
        });
        Ok(Served::Later)
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.listens.end_all(&self.server);
        self.client.hearer.close();
        self.server.subscriptions().forget(&self.client.hearer);
    }
}

/// What became of a request.
enum Served {
    /// The members of its result.
    Now(String),
    /// The members of its result, after which the connection ends.
    Exit(String),
    /// It will be answered by whoever works on it.
    Later,
}

/// The refusal of a request whose id is taken: an answer to it could be taken for one to the other.
fn id_in_flight() -> RpcError {
    RpcError::invalid_request("Invalid Request: a request with this id is still in flight")
}

async fn run(work: &Arc<Work>, method: Lengthy, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    match method {
        Lengthy::CallTool => {
            panics::on_purpose("tools/call");
            tools::call(work, params).await
        }
        // Boxed, so that calls of tools are not as large as these.
        Lengthy::ReadResource => Box::pin(resources::read(work, params)).await,
        Lengthy::Subscribe => Box::pin(resources::subscribe(work, params)).await,
        Lengthy::GetPrompt => Box::pin(prompts::get(work, params)).await,
        Lengthy::Complete => Box::pin(completion::complete(work, params)).await,
    }
}

/// A channel whose messages are recorded on their way out.
struct Recorded {
    server: Arc<Server>,
    channel: Arc<dyn Channel>,
}

impl Channel for Recorded {
    fn push(&self, message: Vec<u8>) {
        if let Some(payloads) = self.server.payloads() {
            payloads.record('>', &message);
        }
        self.channel.push(message);
    }

    fn flush(&self) {
        self.channel.flush();
    }

    fn is_clogged(&self) -> bool {
        self.channel.is_clogged()
    }
}
