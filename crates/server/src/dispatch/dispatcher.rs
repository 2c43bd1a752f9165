//! Takes what a client sends, message by message, and sees to it that each gets what it is owed.

use super::routing::Headers;
use super::{panics, routing};
use crate::callers::context::missing_meta;
use crate::callers::{Denied, Gate, RequestContext, SLOWED, rights};
use crate::handling::Immediate;
use crate::logging::{Facts, Measured, Meter, Subscriber, meter};
use crate::methods::{LaterHandler, Method, NowHandler, Resumption, Serve, tools};
use crate::replies::Reply;
use crate::requests::{
    Batch, Current, GivenAnswers, InFlightRequest, Responder, Resumed, Task, Unacceptable,
};
use crate::sessions::{Client, Filter, Session};

use crate::handling::Work;
use crate::handling::work::unknown_state;
use mcp_bash_budget::SMALL;
use mcp_bash_wire::{
    Decoded, Era, Id, Incoming, Line, LogLevel, Notification, Object, Raw, RawBuf, Refusal, Request,
    RequestMeta, RpcError, code, decode, decode_element, keys, refuse_oversized,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// What a message is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owed {
    /// Nothing: it needs no answer, and its reply will neither be answered nor ended.
    Nothing,
    /// An answer, which its reply has or will get; unless it is ended, because the request is cancelled.
    Answer,
}

impl Client {
    /// Takes one line. What can be answered at once is queued when this returns; the caller flushes.
    pub fn receive(self: &Arc<Self>, line: &Line<'_>, reply: &Arc<dyn Reply>) -> Owed {
        self.take_line(line, None, reply)
    }

    /// The same, for a line that came with headers, which must not contradict it.
    pub fn receive_with(
        self: &Arc<Self>,
        line: &Line<'_>,
        headers: &dyn Headers,
        reply: &Arc<dyn Reply>,
    ) -> Owed {
        self.take_line(line, Some(headers), reply)
    }

    fn take_line(
        self: &Arc<Self>,
        line: &Line<'_>,
        headers: Option<&dyn Headers>,
        reply: &Arc<dyn Reply>,
    ) -> Owed {
        let arrived = self.server.meter().map(|meter| (meter, Instant::now()));
        let dispatcher = Dispatcher { client: self, headers, arrived };
        let observers = self.server.observers();
        if !observers.is_empty() {
            return dispatcher.receive(line, &observers.reply(Arc::clone(reply)));
        }
        dispatcher.receive(line, reply)
    }
}

/// Takes the messages of one client.
struct Dispatcher<'a> {
    client: &'a Arc<Client>,
    /// What came beside the message, where the transport has such a thing.
    headers: Option<&'a dyn Headers>,
    /// Who measures requests, and when the line arrived, where somebody does.
    arrived: Option<(&'a Arc<dyn Meter>, Instant)>,
}

/// Where a message is answered: by itself, or as a part of its batch.
enum Way<'a> {
    Alone(&'a Arc<dyn Reply>),
    InBatch(&'a Arc<Batch>),
}

/// How a request was served.
enum Served {
    /// These are the members of its result.
    Now(String),
    /// Its handler found this wrong.
    Failed(RpcError),
    /// It will be answered by whoever works on it.
    Later,
}

impl Dispatcher<'_> {
    fn receive(&self, line: &Line<'_>, reply: &Arc<dyn Reply>) -> Owed {
        let server = &self.client.server;
        let limits = server.settings().limits;
        let alone = Way::Alone(reply);
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { start } => return self.refuse(&refuse_oversized(start, limits), &alone),
        };
        server.observers().received(line);
        match decode(line, limits) {
            Ok(None) => Owed::Nothing,
            Ok(Some(Decoded::One(incoming))) => self.take(incoming, &alone),
            Ok(Some(Decoded::Batch(elements))) => self.take_batch(&elements, reply),
            Err(refusal) => self.refuse(&refusal, &alone),
        }
    }

    fn take_batch(&self, elements: &[Raw<'_>], reply: &Arc<dyn Reply>) -> Owed {
        let session = self.client.session();
        let allowed = self.client.server.settings().compat_batches
            || session.is_some_and(|session| session.handshake().has_batches());
        if !allowed || elements.is_empty() {
            let reason = if allowed {
                "a batch holds at least one message"
            } else {
                "Batch arrays belong to revision 2025-03-26; MCPBASH_COMPAT_BATCHES=true accepts them in all"
            };
            let error = RpcError::with_reason(code::INVALID_REQUEST, "Invalid Request", reason);
            return self.refuse(&Refusal { id: None, error }, &Way::Alone(reply));
        }
        let batch = Batch::open(Arc::clone(reply), self.client.caller.budget());
        let way = Way::InBatch(&batch);
        let mut owed = Owed::Nothing;
        // Those that are answered at once are in flight as well, until the array leaves.
        let mut ids = HashSet::new();
        for element in elements {
            let of_element = match decode_element(*element) {
                Ok(Incoming::Request(request)) if !ids.insert(request.id.clone()) => {
                    self.refuse(&Refusal { id: Some(request.id), error: id_in_flight() }, &way)
                }
                Ok(incoming) => self.take(incoming, &way),
                Err(refusal) => self.refuse(&refusal, &way),
            };
            if of_element == Owed::Answer {
                owed = Owed::Answer;
            }
        }
        batch.close();
        owed
    }

    fn take(&self, incoming: Incoming<'_>, way: &Way<'_>) -> Owed {
        match incoming {
            Incoming::Request(request) => return self.take_request(&request, way),
            Incoming::Notification(notification) => self.take_notification(&notification),
            Incoming::Response(response) => {
                let is_awaited =
                    self.client.session().is_some_and(|session| session.questions.take(&response));
                if !is_awaited {
                    let facts = Facts::none();
                    let facts = match &response.id {
                        Some(id) => facts.by_client("id", id.as_json()),
                        None => facts,
                    };
                    self.tell("unexpected answer", facts);
                }
            }
            Incoming::Ignored(reason) => {
                self.tell("notification ignored", Facts::none().words("reason", reason));
            }
        }
        Owed::Nothing
    }

    fn refuse(&self, refusal: &Refusal, way: &Way<'_>) -> Owed {
        self.tell("message refused", Facts::none().number("code", refusal.error.code));
        if let Some((meter, arrived)) = self.arrived {
            meter::tell_of_refused_message(&**meter, arrived, &refusal.error);
        }
        self.responder(way).refuse(refusal.id.as_ref(), &refusal.error);
        Owed::Answer
    }

    fn take_request(&self, request: &Request<'_>, way: &Way<'_>) -> Owed {
        let measured =
            self.arrived.map(|(meter, arrived)| Measured::begin(meter, arrived, request, self.client));
        let responder = self.responder(way).measured_by(measured.map(Arc::new));
        match panics::caught(|| self.serve(request, way, &responder)) {
            Ok(Served::Now(result)) => responder.result(&request.id, result),
            Ok(Served::Later) => {}
            Ok(Served::Failed(error)) => responder.error(Some(&request.id), &self.short(error, request)),
            Err(error) => responder.refuse(Some(&request.id), &self.short(error, request)),
        }
        Owed::Answer
    }

    fn short(&self, error: RpcError, request: &Request<'_>) -> RpcError {
        self.client.server.short_paths().error(error, request.params)
    }

    /// For a message that is owed an answer.
    fn responder(&self, way: &Way<'_>) -> Responder {
        match way {
            Way::Alone(reply) => Responder::new(Arc::clone(reply), Arc::clone(self.client.caller.budget())),
            Way::InBatch(batch) => batch.responder(),
        }
    }

    /// Serves a request, or hands it to those who will.
    fn serve(&self, request: &Request<'_>, way: &Way<'_>, responder: &Responder) -> Result<Served, RpcError> {
        let client = self.client;
        if client.in_flight.contains(&request.id) || client.listens.contains(&request.id) {
            return Err(id_in_flight());
        }
        let meta = RequestMeta::read(request.params)?;
        let guard = client.server.guard();
        if let Some(guard) = guard
            && let Err(denied) = guard.check(meta.whole, &client.caller)
        {
            return self.deny(&denied, request, responder);
        }
        let handshake = client.session().map(Session::handshake);
        let headers = self.headers.filter(|_| routing::is_repeated_in_headers(&meta, request));
        headers.map_or(Ok(()), |headers| routing::check_version(headers, &meta))?;
        let context = RequestContext::of(&meta, &client.caller, handshake, guard)?;
        responder.measure(|measured| measured.set_revision(context.revision));
        headers.map_or(Ok(()), |headers| routing::check_method_and_name(headers, request))?;
        let method = self.method_for(request, &context, way)?;
        headers.map_or(Ok(()), |headers| {
            routing::check_arguments(headers, request, &client.server.snapshot())
        })?;
        if let Some(error) = rights::refusal(&client.caller, request) {
            self.tell_operator_of_refused_call();
            return Ok(Served::Failed(error));
        }
        let has_state = meta.request_state.is_some() && context.era() == Era::Stateless;
        match method.serve {
            Serve::List(handler) if client.server.served().is_awaited(client.server.settings().list_wait) => {
                self.list_when_complete(request, method, handler, context, responder)
            }
            Serve::Now(handler) | Serve::List(handler) => {
                let answer = answer_now(method, handler, client, &context, request.params);
                responder.measure(|measured| self.set_agreed_revision(method, measured));
                Ok(answer.map_or_else(Served::Failed, Served::Now))
            }
            Serve::Asking(handler) if has_state => {
                self.resume(request, method.name, handler, context, responder)
            }
            Serve::NeverAsking(_) if has_state => Ok(Served::Failed(unknown_state())),
            Serve::Later(handler) | Serve::Asking(handler) | Serve::NeverAsking(handler) => {
                self.start_work(request, method.name, handler, context, responder)
            }
            Serve::Listen => self.listen(request, &context, way, responder),
        }
    }

    /// Lists what there is as soon as all of it is known, or after a while: many clients list once, and never again.
    fn list_when_complete(
        &self,
        request: &Request<'_>,
        method: &'static Method,
        handler: NowHandler,
        context: RequestContext,
        responder: &Responder,
    ) -> Result<Served, RpcError> {
        let client = self.client;
        // Somebody who sends without end is answered with what there is.
        let held = client.caller.budget().charge(WAITING_LIST + held_bytes(request, &context));
        let Ok(held) = held else {
            let answer = answer_now(method, handler, client, &context, request.params);
            return Ok(answer.map_or_else(Served::Failed, Served::Now));
        };
        let in_flight = self.begin(&request.id, responder)?;
        let (client, params) = (Arc::clone(client), request.params.map(RawBuf::from));
        self.client.server.runtime().spawn(async move {
            let _held = held;
            let server = &client.server;
            tokio::select! {
                () = server.served().complete(server.settings().list_wait) => {}
                () = in_flight.request().cancelled() => return,
            }
            let params = params.as_ref().map(RawBuf::as_raw);
            let answer = panics::caught(|| answer_now(method, handler, &client, &context, params));
            in_flight.answer(answer.map_err(|error| server.short_paths().error(error, params)));
        });
        Ok(Served::Later)
    }

    /// The method that is asked for, if it may be called now.
    fn method_for(
        &self,
        request: &Request<'_>,
        context: &RequestContext,
        way: &Way<'_>,
    ) -> Result<&'static Method, RpcError> {
        let settings = self.client.server.settings();
        let method = Method::find(&request.method);
        if matches!(way, Way::InBatch(_)) && !settings.compat_batches {
            let is_first = method.is_some_and(|method| method.handshake == Some(Gate::First));
            if !context.revision.has_batches() || is_first {
                return Err(RpcError::invalid_request(format!(
                    "Invalid Request: `{}` cannot be part of a batch",
                    request.method
                )));
            }
        }
        match context.era() {
            Era::Stateless if self.client.is_closing() => {
                return Err(RpcError::internal("Server shutting down"));
            }
            Era::Stateless => {}
            Era::Handshake => {
                // Only the stateless era has it, so whoever calls it means that era and left out what it needs.
                if method.is_some_and(|method| method.handshake.is_none()) {
                    return Err(missing_meta(keys::PROTOCOL_VERSION));
                }
                let gate = method.and_then(|method| method.handshake).unwrap_or(Gate::Ready);
                self.client.session().map_or(Ok(()), |session| session.admits(gate))?;
            }
        }
        let served = method.filter(|method| method.is_served(context.era(), settings.minimal));
        served.ok_or_else(|| RpcError::method_not_found(&request.method))
    }

    /// `initialize` has the revision that it agrees on.
    fn set_agreed_revision(&self, method: &Method, measured: &Measured) {
        let session = self.client.session().filter(|_| method.handshake == Some(Gate::First));
        if let Some(session) = session {
            measured.set_revision(session.handshake().revision);
        }
    }

    /// Opens a stream of notifications, which is all that its client hears until it ends.
    fn listen(
        &self,
        request: &Request<'_>,
        context: &RequestContext,
        way: &Way<'_>,
        responder: &Responder,
    ) -> Result<Served, RpcError> {
        if matches!(way, Way::InBatch(_)) {
            return Err(RpcError::invalid_request("Invalid Request: to listen cannot be part of a batch"));
        }
        let filter = Filter::read(request.params)?;
        let reply = responder.reply();
        let Client { server, caller, listens, .. } = &**self.client;
        listens.begin(server, reply, caller, &request.id, context.revision, filter)?;
        Ok(Served::Later)
    }

    fn begin(&self, id: &Id, responder: &Responder) -> Result<InFlightRequest, RpcError> {
        let pace = self.client.server.pace();
        self.client.in_flight.begin(id, responder.clone(), pace).ok_or_else(id_in_flight)
    }

    /// Goes on with the work that an earlier request has begun. Nothing else is started, so that whoever shows a state gets
    /// no more than that; only a script whose process is gone is run again, where its author allows it.
    fn resume(
        &self,
        request: &Request<'_>,
        name: &'static str,
        handler: LaterHandler,
        context: RequestContext,
        responder: &Responder,
    ) -> Result<Served, RpcError> {
        let server = &self.client.server;
        let resumption = Resumption::read(request.params)?;
        let keys = server.state_keys().ok_or_else(|| RpcError::internal("There are no random numbers"))?;
        let shown = match resumption.open(name, &context.caller, keys) {
            Ok(shown) => shown,
            Err(why) => {
                self.report_state(&why);
                return Ok(Served::Failed(unknown_state()));
            }
        };
        let (id, expires) = (shown.id, shown.expires());
        let current = Current { context, in_flight: self.begin(&request.id, responder)? };
        let parking = server.parking();
        match parking.resume(shown, resumption.responses, current, keys) {
            Resumed::GoesOn => {}
            Resumed::Finished(current, outcome) => drop(current.in_flight.answer(outcome)),
            Resumed::AskAgain(current, asked) => {
                if !current.in_flight.answer(Ok(asked.members)) {
                    parking.abandon(&asked.id);
                }
            }
            Resumed::RunAgain(current, rounds) => {
                let given = GivenAnswers::of_earlier_run(rounds);
                if !self.admit(request, name, handler, current, given) {
                    parking.give_back(id, expires);
                }
            }
            Resumed::Refused(current, why) => {
                self.report_state(&why);
                current.in_flight.answer(Err(unknown_state()));
            }
        }
        Ok(Served::Later)
    }

    /// Tells the operator, and nobody else, why a state is refused.
    fn report_state(&self, why: &Unacceptable) {
        let facts = Facts::of_caller(&self.client.caller).state_refusal(why);
        let log = self.client.server.log();
        log.request_event(LogLevel::Notice, "mcp.state", "a requestState is refused", facts);
    }

    fn start_work(
        &self,
        request: &Request<'_>,
        name: &'static str,
        handler: LaterHandler,
        context: RequestContext,
        responder: &Responder,
    ) -> Result<Served, RpcError> {
        let current = Current { context, in_flight: self.begin(&request.id, responder)? };
        self.admit(request, name, handler, current, GivenAnswers::default());
        Ok(Served::Later)
    }

    /// Has the request worked on, now or in its turn. False where it is refused, which its client has been told then.
    fn admit(
        &self,
        request: &Request<'_>,
        name: &'static str,
        handler: LaterHandler,
        current: Current,
        given: GivenAnswers,
    ) -> bool {
        let caller = &self.client.caller;
        let open_request = Arc::clone(current.in_flight.request());
        let refuse = |why: &dyn std::fmt::Display| {
            open_request.answer(Err(RpcError::internal(format!("Server busy: {why}"))));
            false
        };
        let bytes = held_bytes(request, &current.context);
        let held = match (bytes > SMALL).then(|| caller.budget().charge(bytes)).transpose() {
            Ok(held) => held,
            Err(why) => return refuse(&why),
        };
        let work = Arc::new(Work::new(Arc::clone(self.client), current, given));
        let weight = tools::weight(&self.client.server, name, request.params);
        let params = request.params.map(RawBuf::from);
        let task: Task = Box::new(move |place| {
            Box::pin(async move {
                let _held = held;
                let _begun = work.begin(place);
                if work.is_cancelled() {
                    return;
                }
                let answer = panics::caught_while_waiting(async {
                    panics::on_purpose(name);
                    handler(&work, params.as_ref().map(RawBuf::as_raw)).await
                });
                let answer = answer.await;
                let snapshot = work.server().snapshot();
                let answer = answer.map(|answer| answer.render(work.revision(), &snapshot.catalog.identity));
                let params = params.as_ref().map(RawBuf::as_raw);
                work.answer(answer.map_err(|error| work.server().short_paths().error(error, params)));
            })
        });
        // A panic drops the work, which answers; nobody else must.
        let admission = self.client.server.admission();
        let admitted = panics::caught(|| Ok(admission.admit(caller, &open_request, bytes, task, weight)));
        if let Ok(Err(refused)) = admitted {
            // Before the work is dropped, which would answer with less of a reason.
            refuse(&refused.reason);
            drop(refused);
            return false;
        }
        true
    }

    fn take_notification(&self, notification: &Notification<'_>) {
        let (client, params) = (self.client, notification.params);
        if let Some(guard) = client.server.guard() {
            let meta = RequestMeta::read(params).unwrap_or_default();
            if guard.check(meta.whole, &client.caller).is_err() {
                return;
            }
        }
        if &*notification.method == "notifications/cancelled" {
            return self.cancel(params);
        }
        let Some(session) = client.session() else { return };
        match &*notification.method {
            "notifications/initialized" | "initialized" if session.ready() => {
                client.server.log().tell_start_warnings(&session.subscriber, session.client_name());
                self.refresh_roots(session, true);
            }
            "notifications/roots/list_changed" => self.refresh_roots(session, false),
            "exit" => drop(session.exit()),
            _ => {}
        }
    }

    fn refresh_roots(&self, session: &Session, is_first: bool) {
        if session.handshake().capabilities.roots {
            session.roots.refresh(&self.client.server, is_first);
        }
    }

    /// Stops the work on a request. What cannot be understood is passed over: nobody waits for an answer.
    fn cancel(&self, params: Option<Raw<'_>>) {
        let read = || {
            let params = Object::read(params?, "params", &["requestId"]).ok()?;
            Id::read(params.get("requestId")?)
        };
        let Some(id) = read() else { return };
        if self.client.listens.cancel(&id, &self.client.server) {
            return;
        }
        if let Some(request) = self.client.in_flight.cancel(&id) {
            self.client.server.admission().forget(&self.client.caller, &request);
            self.tell("request cancelled", Facts::none());
        }
    }

    /// Refuses a request that does not show the secret: at once, or a while later where there were many of them.
    fn deny(
        &self,
        denied: &Denied,
        request: &Request<'_>,
        responder: &Responder,
    ) -> Result<Served, RpcError> {
        let (server, error) = (&self.client.server, RpcError::from(denied));
        if !denied.throttled {
            let (kind, facts) = ("remote token rejected", Facts::none().by_client("method", &request.method));
            server.log().client_event(self.subscriber(), LogLevel::Warning, "mcp.auth", kind, facts);
            return Err(error);
        }
        let Some(slowed) = self.client.caller.slow_down() else { return Err(error) };
        let in_flight = self.begin(&request.id, responder)?;
        server.runtime().spawn(async move {
            tokio::time::sleep(SLOWED).await;
            in_flight.answer(Err(error));
            drop(slowed);
        });
        Ok(Served::Later)
    }

    /// Tells the operator and this client of something about its messages.
    fn tell(&self, kind: &'static str, facts: Facts) {
        let log = self.client.server.log();
        log.client_event(self.subscriber(), LogLevel::Debug, "mcp.rpc", kind, facts);
    }

    fn tell_operator_of_refused_call(&self) {
        let facts = Facts::of_caller(&self.client.caller)
            .words("error", "the tool is not in the list of tools of the caller");
        let log = self.client.server.log();
        log.request_event(LogLevel::Warning, "mcp.tools", "a call was refused", facts);
    }

    fn subscriber(&self) -> Option<&Subscriber> {
        self.client.subscriber().map(AsRef::as_ref)
    }
}

/// What a list that waits holds besides its request: its task, and its place among the requests in flight.
const WAITING_LIST: usize = 1024;

/// The result of a request that is answered at once.
fn answer_now(
    method: &Method,
    handler: NowHandler,
    client: &Arc<Client>,
    context: &RequestContext,
    params: Option<Raw<'_>>,
) -> Result<String, RpcError> {
    panics::on_purpose(method.name);
    if matches!(method.serve, Serve::List(_)) {
        client.server.served().note_listing();
    }
    let answer = handler(&Immediate { client, context, params })?;
    let result = answer.render(context.revision, &client.server.snapshot().catalog.identity);
    method.guard_size(&result, client.server.settings())?;
    Ok(result)
}

/// What a request that waits or is worked on holds: its params, what of them is kept apart as the context, a token once
/// more in the progress that is held back, and the id where it is in flight and where it is answered.
fn held_bytes(request: &Request<'_>, context: &RequestContext) -> usize {
    let kept = |part: &Option<Box<str>>| part.as_ref().map_or(0, |text| text.len());
    let params = request.params.map_or(0, |params| params.text().len());
    params + kept(&context.meta) + 2 * kept(&context.progress_token) + 2 * request.id.as_json().len()
}

/// The refusal of a request whose id is taken: an answer to it could be taken for one to the other.
fn id_in_flight() -> RpcError {
    RpcError::invalid_request("Invalid Request: a request with this id is still in flight")
}
