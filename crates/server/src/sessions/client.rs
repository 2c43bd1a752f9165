//! Client: sends messages over a connection, in a session, or in a single request without either. The ids of its
//! requests are its own.

use super::listens::Listens;
use super::roots::RememberedRoots;
use super::server::Server;
use super::session::Session;
use crate::callers::{Caller, Principal};
use crate::logging::{Facts, Subscriber};
use crate::replies::Stream;
use crate::requests::InFlight;
use mcp_bash_wire::{LogLevel, Revision};
use std::sync::Arc;

pub struct Client {
    pub(crate) server: Arc<Server>,
    /// Who began it. Later requests of a session may come with another credential of the same caller.
    pub(crate) principal: Arc<Principal>,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) listens: Listens,
    /// The roots it named when a request of the stateless era asked for them.
    pub(crate) remembered_roots: RememberedRoots,
    /// Without one, only the stateless era is served.
    session: Option<Session>,
}

impl Client {
    /// A client that can begin a session, besides requests of the stateless era. Messages that belong to no request go
    /// to `stream`.
    pub fn with_session(server: Arc<Server>, principal: Arc<Principal>, stream: Arc<dyn Stream>) -> Self {
        let settings = server.settings();
        let stream = server.observers().stream(stream);
        let session = Session::new(stream, server.log().default_level(), settings.logs_per_minute);
        server.log().audience().join(&session.subscriber);
        Self::new(server, principal, Some(session))
    }

    /// A client whose every request is self-contained.
    pub fn without_session(server: Arc<Server>, principal: Arc<Principal>) -> Self {
        Self::new(server, principal, None)
    }

    fn new(server: Arc<Server>, principal: Arc<Principal>, session: Option<Session>) -> Self {
        let (in_flight, listens) = (Arc::default(), Listens::default());
        Self { server, principal, in_flight, listens, remembered_roots: RememberedRoots::default(), session }
    }

    pub fn caller(&self) -> &Arc<Caller> {
        &self.principal.caller
    }

    /// The revision that its session agreed on. `None` before `initialize` has succeeded, and without a session.
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

    /// The subscriber that is notified of events that concern this client.
    pub(crate) fn subscriber(&self) -> Option<&Arc<Subscriber>> {
        self.session.as_ref().map(|session| &session.subscriber)
    }

    /// Logs an event that concerns this client, for the operator and for the client itself.
    pub(crate) fn log(&self, level: LogLevel, logger: &str, kind: &'static str, facts: Facts) {
        let subscriber = self.subscriber().map(AsRef::as_ref);
        self.server.log().client_event(subscriber, level, logger, kind, facts);
    }

    /// Whether nothing is being worked on, and no request listens.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_idle() && self.listens.is_empty()
    }

    /// Whether one of its requests listens.
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

    /// Completes when every request is answered and its work has ended. Call it when the client sends nothing
    /// more. Safe to drop half-way, and to begin again.
    pub async fn finish(&self) {
        if let Some(session) = &self.session {
            session.questions.close();
        }
        self.listens.end_all(&self.server);
        self.in_flight.idle().await;
    }

    /// The client is gone, or is disconnected: its work is stopped, and it receives nothing more.
    pub fn abandon(&self) {
        self.listens.end_all(&self.server);
        for request in self.in_flight.cancel_all() {
            self.server.admission().forget(self.caller(), &request);
        }
        if let Some(subscriber) = self.subscriber() {
            subscriber.close();
            self.server.subscriptions().forget(subscriber);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.abandon();
    }
}
