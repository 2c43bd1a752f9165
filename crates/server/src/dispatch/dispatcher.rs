//! Dispatcher: decodes the lines of a client, and routes each request to the handler of its method. Every message that requires
//! a response gets one.

use super::arrival::{Arrival, Dispatched, id_in_flight};
use super::notifications;
use super::resolved::Resolved;
use super::routing::{self, Headers};
use crate::callers::context::missing_meta;
use crate::callers::{Gate, Principal, RequestContext, rights, scopes};
use crate::logging::{Audited, Facts, Measured, OTHER, RequestSpan, meter};
use crate::methods::{Method, Serve};
use crate::replies::{Reply, redacted};
use crate::requests::request_state::{Unacceptable, unknown_state};
use crate::requests::{Batch, Responder};
use crate::sessions::Client;
use crate::tasks::panics;
use mcp_bash_audit::{Event, Reason};
use mcp_bash_wire::{
    Decoded, Era, Incoming, Line, LogLevel, Raw, Refusal, Request, RequestMeta, RpcError, code, decode,
    decode_element, keys, refuse_oversized,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// Whether a message requires a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owed {
    /// No response: its reply is neither answered nor ended.
    Nothing,
    /// A response, which is sent now or later, unless the request is cancelled and the reply ends without one.
    Answer,
}

impl Client {
    /// Takes one line. Immediate responses are queued when this returns; the caller flushes.
    pub fn receive(self: &Arc<Self>, line: &Line<'_>, reply: &Arc<dyn Reply>) -> Owed {
        self.receive_from(&self.principal, line, None, reply)
    }

    /// Takes a line from a principal with the same caller. Headers, if there are any, must not contradict the message.
    pub fn receive_from(
        self: &Arc<Self>,
        principal: &Arc<Principal>,
        line: &Line<'_>,
        headers: Option<&dyn Headers>,
        reply: &Arc<dyn Reply>,
    ) -> Owed {
        let arrived = self.server.is_measured().then(Instant::now);
        let dispatcher = Dispatcher { client: self, principal, headers, arrived };
        let (observers, known_secrets) = (self.server.observers(), self.server.scripts().known_secrets());
        if observers.is_empty() && !known_secrets.are_expected() {
            return dispatcher.receive(line, reply);
        }
        let reply = Arc::clone(reply);
        let reply = if observers.is_empty() { reply } else { observers.reply(reply) };
        // Outermost, so that observers see no secret either.
        let reply = if known_secrets.are_expected() { redacted::reply(known_secrets, reply) } else { reply };
        dispatcher.receive(line, &reply)
    }
}

/// Dispatches the messages of one client.
struct Dispatcher<'a> {
    client: &'a Arc<Client>,
    principal: &'a Arc<Principal>,
    /// The headers of the message, if the transport has headers.
    headers: Option<&'a dyn Headers>,
    /// When the line arrived, if requests are measured or audited.
    arrived: Option<Instant>,
}

/// How a message is answered: alone, or as part of its batch.
enum Way<'a> {
    Alone(&'a Arc<dyn Reply>),
    InBatch(&'a Arc<Batch>),
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
        match server.scripts().known_secrets().redactor() {
            Some(redactor) if !server.observers().is_empty() => {
                server.observers().received(&redactor.redact(line));
            }
            _ => server.observers().received(line),
        }
        match decode(line, limits) {
            Ok(None) => Owed::Nothing,
            Ok(Some(Decoded::One(incoming))) => self.take(incoming, &alone),
            Ok(Some(Decoded::Batch(elements))) => self.take_batch(&elements, reply),
            Err(refusal) => self.refuse(&refusal, &alone),
        }
    }

    fn take_batch(&self, elements: &[Raw<'_>], reply: &Arc<dyn Reply>) -> Owed {
        let has_batches = self.client.session().is_some_and(|session| session.handshake().has_batches());
        let allowed = has_batches || self.client.server.settings().compat_batches;
        if !allowed || elements.is_empty() {
            let reason = if allowed {
                "a batch holds at least one message"
            } else {
                "Batch arrays belong to revision 2025-03-26; MCPBASH_COMPAT_BATCHES=true accepts them in all"
            };
            let error = RpcError::with_reason(code::INVALID_REQUEST, "Invalid Request", reason);
            return self.refuse(&Refusal { id: None, error }, &Way::Alone(reply));
        }
        // A stream can carry a response for each element; an HTTP response is one message.
        if !has_batches && reply.is_shared() {
            return self.take_members(elements, reply);
        }
        let batch = Batch::open(Arc::clone(reply), self.client.caller().budget());
        let way = Way::InBatch(&batch);
        let mut owed = Owed::Nothing;
        // Requests that are answered immediately count as in flight too, until the array is sent.
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

    /// Takes the elements of a batch as if each had its own line, for clients of a revision without batches.
    fn take_members(&self, elements: &[Raw<'_>], reply: &Arc<dyn Reply>) -> Owed {
        let way = Way::Alone(reply);
        let mut owed = Owed::Nothing;
        for element in elements {
            let of_element = match decode_element(*element) {
                Ok(incoming) => self.take(incoming, &way),
                Err(refusal) => self.refuse(&refusal, &way),
            };
            if of_element == Owed::Answer {
                owed = Owed::Answer;
            }
        }
        owed
    }

    fn take(&self, incoming: Incoming<'_>, way: &Way<'_>) -> Owed {
        match incoming {
            Incoming::Request(request) => return self.take_request(&request, way),
            Incoming::Notification(notification) => notifications::take(self.client, &notification),
            Incoming::Response(response) => {
                let is_awaited =
                    self.client.session().is_some_and(|session| session.questions.take(&response));
                if !is_awaited {
                    let facts = Facts::none();
                    let facts = match &response.id {
                        Some(id) => facts.by_client("id", id.as_json()),
                        None => facts,
                    };
                    self.log("unexpected answer", facts);
                }
            }
            Incoming::Ignored(reason) => {
                self.log("notification ignored", Facts::none().words("reason", reason));
            }
        }
        Owed::Nothing
    }

    fn refuse(&self, refusal: &Refusal, way: &Way<'_>) -> Owed {
        self.log("message refused", Facts::none().number("code", refusal.error.code));
        if let (Some(meter), Some(arrived)) = (self.client.server.meter(), self.arrived) {
            meter::report_refused_message(&**meter, arrived, &refusal.error);
        }
        if let Some(audit) = self.client.server.audit() {
            audit.message_refused(self.principal, refusal.id.as_ref(), refusal.error.code);
        }
        self.responder(way).refuse(refusal.id.as_ref(), &refusal.error);
        Owed::Answer
    }

    fn take_request(&self, request: &Request<'_>, way: &Way<'_>) -> Owed {
        let resolved = Resolved::new(request);
        let measured = self.arrived.map(|arrived| self.begin_measuring(&resolved, arrived));
        let responder = self.responder(way).measured_by(measured);
        let short = |error| self.client.server.short_paths().error(error, request.params);
        match panics::caught(|| self.serve(&resolved, way, &responder)) {
            Ok(Dispatched::Now(result)) => responder.result(&request.id, result),
            Ok(Dispatched::Later) => {}
            Ok(Dispatched::Failed(error)) => responder.error(Some(&request.id), &short(error)),
            Err(error) => responder.refuse(Some(&request.id), &short(error)),
        }
        Owed::Answer
    }

    fn begin_measuring(&self, request: &Resolved<'_>, arrived: Instant) -> Arc<Measured> {
        let (server, method) = (&self.client.server, request.method.map_or(OTHER, |method| method.name));
        let (meter, tracer) = (server.meter(), server.tracer());
        let is_named = meter.is_some() || tracer.is_some();
        let name = if is_named { request.known_name(&server.snapshot()) } else { None };
        let audited = server.audit().map(|audit| {
            let (method, id) = (request.method_name(), request.id());
            Audited::begin(audit, method, id, request.params(), self.principal)
        });
        let span = tracer.map(|tracer| {
            let (id, params) = (request.id(), request.params());
            RequestSpan::begin(tracer, method, id, name.as_deref(), params, self.principal)
        });
        Arc::new(Measured::begin(meter, audited, span, arrived, method, name))
    }

    /// The responder of a message that requires a response.
    fn responder(&self, way: &Way<'_>) -> Responder {
        match way {
            Way::Alone(reply) => Responder::new(Arc::clone(reply), Arc::clone(self.client.caller().budget())),
            Way::InBatch(batch) => batch.responder(),
        }
    }

    /// Serves a request, or starts the handler that will.
    fn serve(
        &self,
        request: &Resolved<'_>,
        way: &Way<'_>,
        responder: &Responder,
    ) -> Result<Dispatched, RpcError> {
        let (client, server) = (self.client, &self.client.server);
        let arrival = Arrival { client, request, responder };
        if client.in_flight.contains(request.id()) || client.listens.contains(request.id()) {
            return Err(id_in_flight());
        }
        let meta = RequestMeta::read(request.params())?;
        // The request that became a task has already shown the secret.
        let guard = server.guard().filter(|_| !client.is_task());
        if let Some(guard) = guard
            && let Err(denied) = guard.check(meta.whole, client.caller())
        {
            responder.measure(|measured| measured.refused_without_secret(self.principal));
            return arrival.deny(&denied);
        }
        let handshake = client.handshake();
        let headers = self.headers.filter(|_| routing::is_repeated_in_headers(&meta, request));
        headers.map_or(Ok(()), |headers| routing::check_version(headers, &meta))?;
        let context = RequestContext::of(&meta, self.principal, handshake, server.guard())?;
        let mut context = if client.is_task() { context.of_task() } else { context };
        let ambient = self.headers.map(routing::trace).unwrap_or_default();
        context.trace.or(&ambient);
        responder.measure(|measured| {
            measured.set_revision(context.revision);
            client.note_for_audit(measured, &meta);
            measured.join(&context.trace, ambient.parent.as_deref());
            measured.note_trace(&context.trace);
        });
        headers.map_or(Ok(()), |headers| routing::check_method_and_name(headers, request))?;
        let method = self.method_for(request, &context, way)?;
        headers.map_or(Ok(()), |headers| routing::check_arguments(headers, request, &server.snapshot()))?;
        if let Some(error) = self.refusal_by_rights(request) {
            responder.measure(|measured| measured.refused(Reason::Rights));
            return Ok(Dispatched::Failed(error));
        }
        if let Some(audit) = server.audit()
            && Event::of_method(method.name).is_some()
            && let Some(error) = audit.refusal()
        {
            responder.measure(|measured| measured.refused(Reason::Audit));
            return Ok(Dispatched::Failed(error));
        }
        if scopes::restrict(&self.principal.identity)
            && let Some((tool, _)) = request.tool(&server.snapshot())
            && let Err(error) = scopes::check(&self.principal.identity, tool)
        {
            responder.measure(|measured| measured.refused(Reason::Scopes));
            return Err(error);
        }
        let has_state = meta.request_state.is_some() && context.era() == Era::Stateless;
        if let Some(deferral) = arrival.deferral(&context, has_state)? {
            return arrival.defer(context, deferral);
        }
        match method.serve {
            Serve::List(handler) if server.served().is_awaited(server.settings().list_wait) => {
                arrival.list_when_complete(method, handler, context)
            }
            Serve::Now(handler) | Serve::List(handler) => {
                let answer = arrival.answer_now(method, handler, &context);
                responder.measure(|measured| self.set_agreed_revision(method, measured));
                Ok(answer.into())
            }
            Serve::Asking(handler) if has_state => arrival.resume(method.name, handler, context),
            Serve::NeverAsking(_) if has_state => {
                responder.measure(|measured| measured.refused(Unacceptable::Call.reason()));
                Ok(Dispatched::Failed(unknown_state()))
            }
            Serve::Later(handler) | Serve::Asking(handler) | Serve::NeverAsking(handler) => {
                arrival.start_work(method.name, handler, context)
            }
            Serve::Aside(handler) => arrival.serve_aside(handler, context),
            Serve::Listen if matches!(way, Way::InBatch(_)) => {
                Err(RpcError::invalid_request("Invalid Request: to listen cannot be part of a batch"))
            }
            Serve::Listen => arrival.listen(&context),
        }
    }

    /// The error for a call that its caller may not make. Incomplete params are left to the handler, which reports what is
    /// missing.
    fn refusal_by_rights(&self, request: &Resolved<'_>) -> Option<RpcError> {
        let caller = self.client.caller();
        let rights = self.principal.rights.as_ref()?;
        let (error, logger, why) = if let Some(tool) = request.tool_name() {
            let snapshot = self.client.server.snapshot();
            let why =
                rights.hindrance(&tool, request.tool(&snapshot).map(|(tool, _)| tool.is_read_only()))?;
            (rights::refusal(caller.name(), &tool, &why), "mcp.tools", why)
        } else if let Some(prompt) = request.prompt_name() {
            let why = rights.prompt_hindrance(&prompt)?;
            (rights::prompt_refusal(caller.name(), &prompt, &why), "mcp.prompts", why)
        } else {
            let why = (request.method_name() == "resources/read").then(|| rights.closed()).flatten()?;
            (rights::closed_refusal(caller.name(), &why), "mcp.resources", why)
        };
        let facts = Facts::of_caller(caller).words("error", rights::reason(&why));
        self.client.server.log().request_event(LogLevel::Warning, logger, "a call was refused", facts);
        Some(error)
    }

    /// The requested method, if it may be called now.
    fn method_for(
        &self,
        request: &Resolved<'_>,
        context: &RequestContext,
        way: &Way<'_>,
    ) -> Result<&'static Method, RpcError> {
        let settings = self.client.server.settings();
        let method = request.method;
        if matches!(way, Way::InBatch(_)) && !settings.compat_batches {
            let is_first = method.is_some_and(|method| method.handshake == Some(Gate::First));
            if !context.revision.has_batches() || is_first {
                return Err(RpcError::invalid_request(format!(
                    "Invalid Request: `{}` cannot be part of a batch",
                    request.method_name()
                )));
            }
        }
        match context.era() {
            Era::Stateless if self.client.is_closing() => {
                return Err(RpcError::internal("Server shutting down"));
            }
            Era::Stateless => {}
            Era::Handshake => {
                // Only the stateless era has this method, so the client means that era and left out what it requires.
                if method.is_some_and(|method| method.handshake.is_none()) {
                    return Err(missing_meta(keys::PROTOCOL_VERSION));
                }
                let gate = method.and_then(|method| method.handshake).unwrap_or(Gate::Ready);
                let gate = if settings.needs_handshake { gate } else { gate.without_handshake() };
                if let Some(session) = self.client.session() {
                    // Behind a load balancer, another server may have received `notifications/initialized`.
                    if gate == Gate::Ready && self.client.server.moves_sessions() {
                        notifications::initialized(self.client, session);
                    }
                    session.admits(gate)?;
                }
            }
        }
        let known = method.filter(|method| method.is_known(context.era()));
        let method = known.ok_or_else(|| RpcError::method_not_found(request.method_name()))?;
        if settings.minimal {
            method.check_minimal()?;
        }
        Ok(method)
    }

    /// Measures `initialize` under the revision that it agreed on.
    fn set_agreed_revision(&self, method: &Method, measured: &Measured) {
        let session = self.client.session().filter(|_| method.handshake == Some(Gate::First));
        if let Some(session) = session {
            measured.set_revision(session.handshake().revision);
        }
    }

    /// Logs an event about the messages of this client.
    fn log(&self, kind: &'static str, facts: Facts) {
        self.client.log(LogLevel::Debug, "mcp.rpc", kind, facts);
    }
}
