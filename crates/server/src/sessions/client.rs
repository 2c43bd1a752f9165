//! Client: the sender of messages: a connection, a session, or a single stateless request. Request ids are unique per client.

use super::listens::Listens;
use super::roots::RememberedRoots;
use super::server::Server;
use super::session::Session;
use crate::callers::{Caller, Handshake, Principal};
use crate::logging::{Facts, Measured, Subscriber};
use crate::replies::{Stream, redacted};
use crate::requests::{InFlight, TaskQuestions};
use mcp_bash_telemetry::hex;
use mcp_bash_wire::{LogLevel, Object, Raw, RequestMeta, Revision};
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};

pub struct Client {
    pub(crate) server: Arc<Server>,
    /// The principal that started it. Later requests of a session may come with another credential of the same caller.
    pub(crate) principal: Arc<Principal>,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) listens: Listens,
    /// The roots it named when a stateless request asked for them.
    pub(crate) remembered_roots: RememberedRoots,
    /// Without a session, only the stateless era is served.
    session: Option<Session>,
    /// The hash of the session id, for the audit log.
    session_hash: OnceLock<String>,
    /// The name of the session in spans.
    traced_session: OnceLock<String>,
    /// Set if it only makes the inner request of a task.
    task: Option<TaskRole>,
}

/// The state of a client that makes the inner request of a task.
pub(crate) struct TaskRole {
    pub(crate) questions: Arc<TaskQuestions>,
    /// The handshake of the session in which the task was called, in the handshake era.
    pub(crate) handshake: Option<Handshake>,
}

impl Client {
    /// Creates a client that can start a session, and can also send stateless requests. Messages that belong to no request go
    /// to `stream`.
    pub fn with_session(server: Arc<Server>, principal: Arc<Principal>, stream: Arc<dyn Stream>) -> Self {
        let settings = server.settings();
        let stream = server.observers().stream(stream);
        let stream = redacted::stream(server.scripts().known_secrets(), stream);
        let session = Session::new(stream, server.log().default_level(), settings.logs_per_minute);
        server.log().audience().join(&session.subscriber);
        Self::new(server, principal, Some(session))
    }

    /// Creates a client without a session.
    pub fn without_session(server: Arc<Server>, principal: Arc<Principal>) -> Self {
        Self::new(server, principal, None)
    }

    /// Creates a client for the inner request of a task. It outlives the client that called.
    pub(crate) fn for_task(server: Arc<Server>, principal: Arc<Principal>, task: TaskRole) -> Self {
        let mut client = Self::new(server, principal, None);
        client.task = Some(task);
        client
    }

    fn new(server: Arc<Server>, principal: Arc<Principal>, session: Option<Session>) -> Self {
        let (in_flight, listens) = (Arc::default(), Listens::default());
        let (remembered_roots, session_hash) = (RememberedRoots::default(), OnceLock::new());
        let traced_session = OnceLock::new();
        Self {
            server,
            principal,
            in_flight,
            listens,
            remembered_roots,
            session,
            session_hash,
            traced_session,
            task: None,
        }
    }

    /// Whether it makes the inner request of a task.
    pub(crate) fn is_task(&self) -> bool {
        self.task.is_some()
    }

    /// The questions of the task, if it makes the inner request of a task.
    pub(crate) fn task_questions(&self) -> Option<Arc<TaskQuestions>> {
        self.task.as_ref().map(|task| Arc::clone(&task.questions))
    }

    /// The handshake of its session, or of the session whose call became its task.
    pub(crate) fn handshake(&self) -> Option<Handshake> {
        let of_task = || self.task.as_ref().and_then(|task| task.handshake);
        self.session().map(Session::handshake).or_else(of_task)
    }

    /// Sets the hash of the session id for the audit log and for spans. They contain no id, because the id itself grants access
    /// to the session.
    #[must_use]
    pub fn with_session_id(self, id: &str) -> Self {
        if let Some(hash) = self.server.audit().and_then(|audit| audit.hashed(id)) {
            let _ = self.session_hash.set(hash);
        }
        if self.server.tracer().is_some() {
            let digest = Sha256::digest(id.as_bytes());
            let _ = self.traced_session.set(hex(&digest[..16]));
        }
        self
    }

    /// Adds the client info to the audit record and the span of a request: from the request, or else from the session.
    pub(crate) fn note_for_audit(&self, measured: &Measured, meta: &RequestMeta<'_>) {
        measured.note("mcp.session.id", || self.session_hash.get());
        measured.add_session(self.traced_session.get().map(String::as_str));
        let in_session = self.session().and_then(|session| session.client_info.get());
        let [name, version] = match (in_session, meta.client_info) {
            (_, Some(info)) => name_and_version(info),
            (Some(known), None) => known.clone(),
            (None, None) => return,
        };
        for (key, text) in [("client.name", name), ("client.version", version)] {
            measured.note(key, || Some(text).filter(|text| !text.is_empty()));
        }
    }

    pub fn caller(&self) -> &Arc<Caller> {
        &self.principal.caller
    }

    /// The revision that the session agreed on. `None` before `initialize` has succeeded, and without a session.
    pub fn agreed_revision(&self) -> Option<Revision> {
        self.session.as_ref().and_then(Session::agreed_revision)
    }

    /// Ends listening requests gracefully: each of them is answered.
    pub fn end_listens(&self) {
        self.listens.end_all(&self.server);
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The subscriber for notifications about this client.
    pub(crate) fn subscriber(&self) -> Option<&Arc<Subscriber>> {
        self.session.as_ref().map(|session| &session.subscriber)
    }

    /// Logs an event about this client, for the operator and for the client itself.
    pub(crate) fn log(&self, level: LogLevel, logger: &str, kind: &'static str, facts: Facts) {
        let subscriber = self.subscriber().map(AsRef::as_ref);
        self.server.log().client_event(subscriber, level, logger, kind, facts);
    }

    /// Whether no request is in flight, and none listens.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_idle() && self.listens.is_empty()
    }

    /// Whether it has a listening request.
    pub fn is_listening(&self) -> bool {
        !self.listens.is_empty()
    }

    /// Whether the client sent `shutdown`.
    pub fn is_closing(&self) -> bool {
        self.session.as_ref().is_some_and(Session::is_closing)
    }

    /// Whether the client sent `exit`.
    pub fn has_exited(&self) -> bool {
        self.session.as_ref().is_some_and(Session::has_exited)
    }

    /// Completes when every request is answered and its handler has finished. Call it when the client sends nothing more.
    /// Cancel-safe.
    pub async fn finish(&self) {
        self.end_questions();
        self.listens.end_all(&self.server);
        self.in_flight.idle().await;
    }

    /// Calls go on without answers to their questions: no more can arrive.
    pub fn end_questions(&self) {
        if let Some(session) = &self.session {
            session.questions.close();
        }
    }

    /// Cancels all requests of a client that has disconnected. It receives nothing more.
    pub fn abandon(&self) {
        self.listens.end_all(&self.server);
        for request in self.in_flight.cancel_all() {
            self.server.admission().forget(self.caller(), &request);
        }
        if let Some(measured) = self.session.as_ref().and_then(|session| session.measured.get()) {
            measured.end();
        }
        if let Some(subscriber) = self.subscriber() {
            subscriber.close();
            self.server.subscriptions().forget(subscriber);
        }
    }
}

/// The name and version of a client.
pub(crate) fn name_and_version(info: Raw<'_>) -> [String; 2] {
    let Ok(info) = Object::read(info, "clientInfo", &["name", "version"]) else { return Default::default() };
    ["name", "version"].map(|key| info.get(key).and_then(Raw::string).unwrap_or_default().into())
}

impl Drop for Client {
    fn drop(&mut self) {
        self.abandon();
    }
}
