//! Work: a request whose handler takes time, and its context. Questions to the client are in `asking.rs`, notifications in
//! `relaying.rs`.

use crate::callers::{Caller, ClientCapabilities, Consents, Identity, Principal};
use crate::logging::{ChildSpan, Measured, Subscriber};
use crate::offered::Snapshot;
use crate::replies::RenderedResult;
use crate::requests::request_state::{Unacceptable, unknown_state};
use crate::requests::{Current, GivenAnswers, Occupant, Place, Round, Slot};
use crate::sessions::{Client, Server, Session};
use mcp_bash_budget::Budget;
use mcp_bash_scripts::{FileInProgress, ScriptRoots, TraceVariables};
use mcp_bash_telemetry::SpanKind;
use mcp_bash_wire::{Era, Raw, Revision, RpcError};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

pub(crate) struct Work {
    client: Arc<Client>,
    /// The principal of its first request.
    principal: Arc<Principal>,
    pub(super) revision: Revision,
    pub(super) slot: Slot,
    /// Its place among running work, unless it rests.
    pub(super) place: Mutex<Option<Place>>,
    /// One round of questions at a time.
    pub(super) asking: tokio::sync::Mutex<()>,
    pub(super) given: Mutex<GivenAnswers>,
    /// Questions and answers so far, if the script may run again.
    pub(super) answered: Mutex<Vec<Round>>,
    /// Kept texts of the result, by URI, that are not yet shared with other servers.
    unshared_texts: Mutex<Vec<(String, String)>>,
    /// Whether its script has asked for the client's roots.
    has_been_asked_for_roots: AtomicBool,
}

impl Work {
    pub(crate) fn new(client: Arc<Client>, request: Current, given: GivenAnswers) -> Self {
        let (revision, principal) = (request.context.revision, Arc::clone(&request.context.principal));
        let slot = Arc::new(watch::Sender::new(Occupant::Request(Arc::new(request))));
        Self {
            client,
            principal,
            revision,
            slot,
            place: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            given: Mutex::new(given),
            answered: Mutex::default(),
            unshared_texts: Mutex::default(),
            has_been_asked_for_roots: AtomicBool::new(false),
        }
    }

    /// Starts with a place among running work, which is kept until the returned value is dropped.
    pub(crate) fn begin(self: &Arc<Self>, place: Place) -> Begun {
        *self.place.lock() = Some(place);
        self.measure(Measured::begins);
        Begun(Arc::clone(self))
    }

    /// Keeps a text that is too long for the result, and returns its URI.
    pub(crate) fn keep_text(&self, text: &str) -> Option<String> {
        let kept = self.server().resources().kept();
        let uri = kept.keep(text, self.caller())?;
        if kept.is_shared() {
            self.unshared_texts.lock().push((uri.clone(), text.to_owned()));
        }
        Some(uri)
    }

    /// Shares kept texts with other servers, before the client receives their URIs.
    pub(crate) async fn share_texts(&self) {
        let texts = std::mem::take(&mut *self.unshared_texts.lock());
        for (uri, text) in texts {
            self.server().resources().kept().share(&uri, text, self.caller()).await;
        }
    }

    /// Stores answers that came with the call, in the stateless era.
    pub(crate) fn take_answers(&self, responses: Raw<'_>) {
        if self.session().is_none() {
            self.given.lock().take_in_advance(responses);
        }
    }

    /// Whether this is a replay because the process of an earlier run is gone.
    pub(crate) fn is_replay(&self) -> bool {
        self.given.lock().is_replay()
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.client.server
    }

    /// The snapshot, as soon as `has` accepts it and the files that are still being loaded. Waits for these files up to the
    /// default timeout of a call.
    pub(crate) async fn snapshot_with(
        &self,
        has: impl Fn(&Snapshot, &[FileInProgress]) -> bool,
    ) -> Arc<Snapshot> {
        let (served, timeout) = (self.server().served(), self.server().settings().default_timeout);
        tokio::select! {
            biased;
            snapshot = served.snapshot_with(timeout, has) => snapshot,
            () = self.cancelled() => served.snapshot(),
        }
    }

    pub(crate) fn caller(&self) -> &Arc<Caller> {
        self.client.caller()
    }

    pub(crate) fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.principal.identity
    }

    /// The memory budget of the caller.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        self.caller().budget()
    }

    /// The subscriber for the session's resource subscriptions.
    pub(crate) fn subscriber(&self) -> Option<&Arc<Subscriber>> {
        self.client.subscriber()
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// The session of the request, in the handshake era.
    pub(super) fn session(&self) -> Option<&Session> {
        self.client.session().filter(|_| self.revision.era() == Era::Handshake)
    }

    /// The consents of its session, or of its connection.
    pub(super) fn connection_consents(&self) -> Option<&Consents> {
        self.client.session().map(|session| &session.consents)
    }

    pub(super) fn current(&self) -> Option<Arc<Current>> {
        self.slot.borrow().request()
    }

    /// Answers the request. If the process is parked, the outcome is kept for the retry.
    pub(crate) fn answer(&self, answer: Result<RenderedResult, RpcError>) {
        if let Some(current) = self.current() {
            current.in_flight.answer(answer);
            return;
        }
        // Returned if a retry has just arrived.
        if let Some(answer) = self.server().parking().finish(&self.slot, answer)
            && let Some(current) = self.current()
        {
            current.in_flight.answer(answer);
        }
    }

    /// Passes the measurement of the request to `report`, if there is one.
    pub(crate) fn measure(&self, report: impl FnOnce(&Measured)) {
        if let Some(current) = self.current() {
            current.in_flight.request().measure(report);
        }
    }

    /// Writes the audit record of its start, if the audit log is durable. Returns the error to answer with if that fails.
    pub(crate) async fn record_beginning(&self) -> Option<RpcError> {
        self.server().audit().filter(|audit| audit.is_durable())?;
        let current = self.current()?;
        let mut related = None;
        self.measure(|measured| related = measured.related());
        related?.begins(current.in_flight.request().id()).await
    }

    /// The error for a retry whose process is gone, if its script may not run again.
    pub(crate) fn unresumable(&self) -> RpcError {
        self.measure(|measured| measured.refused(Unacceptable::Gone.reason()));
        unknown_state()
    }

    /// The most bytes that a response may have.
    pub(crate) fn longest_answer(&self) -> usize {
        self.current().map_or(usize::MAX, |current| current.in_flight.request().longest_answer())
    }

    /// The request's `_meta` as JSON.
    pub(crate) fn meta(&self) -> String {
        let meta = self.current().and_then(|current| current.context.meta.as_deref().map(str::to_owned));
        meta.unwrap_or_else(|| "{}".to_owned())
    }

    /// A child span of the request. If spans are not exported, it passes on the caller's trace context.
    fn child_span(&self, name: &str, kind: SpanKind) -> ChildSpan {
        let Some(current) = self.current() else { return ChildSpan::unrecorded(TraceVariables::default()) };
        let trace = &current.context.trace;
        let mut child = None;
        current.in_flight.request().measure(|measured| child = measured.child(name, kind, trace.clone()));
        child.unwrap_or_else(|| ChildSpan::unrecorded(trace.clone()))
    }

    /// The span of a script.
    pub(crate) fn script_span(&self, script: &Path) -> ChildSpan {
        let name = script.file_name().unwrap_or_default().to_string_lossy();
        let mut span = self.child_span(&name, SpanKind::Client);
        span.add("process.executable.name", &*name);
        span
    }

    /// The span of a question to the client.
    pub(super) fn question_span(&self, method: &'static str) -> ChildSpan {
        let mut span = self.child_span(method, SpanKind::Client);
        span.add("mcp.method.name", method);
        span.add_network();
        span
    }

    /// The progress token for a script: the content of a string, or the digits of an integer. A token that fits into no
    /// variable, or would fill a whole line of the side channel, is replaced by a placeholder; notifications still carry the
    /// real one.
    pub(crate) fn progress_token_text(&self) -> String {
        let Some(current) = self.current() else { return String::new() };
        let Some(token) = current.context.progress_token.as_deref() else { return String::new() };
        let text = serde_json::from_str::<String>(token).unwrap_or_else(|_| token.to_owned());
        let is_fit = !text.is_empty() && text.len() <= LONGEST_TOKEN && !text.contains('\0');
        if is_fit { text } else { STAND_IN_TOKEN.to_owned() }
    }

    /// Whether the client wants progress or log notifications.
    pub(crate) fn wants_notifications(&self) -> bool {
        self.current().is_some_and(|current| {
            current.context.progress_token.is_some() || current.context.log_level.is_some()
        })
    }

    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.current().map(|current| current.context.capabilities).unwrap_or_default()
    }

    /// The state of the session for a function, as JSON; `None` without a session.
    pub(crate) fn session_state(&self) -> Option<String> {
        self.session().map(|session| session.state.text())
    }

    /// The name of the client; empty without a session.
    pub(crate) fn client_name(&self) -> &str {
        self.session().map_or("", Session::client_name)
    }

    /// The roots of the script.
    pub(crate) async fn roots(&self) -> Arc<ScriptRoots> {
        let session = self.session().filter(|_| self.capabilities().roots);
        let of_client = match session {
            Some(session) => session.roots.get().await,
            None => self.client.remembered_roots.get(),
        };
        of_client.unwrap_or_else(|| Arc::clone(self.server().own_roots()))
    }

    /// The roots that a sandbox with `roots` opens: those of the client if its caller is the local user, otherwise those of the
    /// project. Any other caller could name any folder of this machine.
    pub(crate) fn opened_roots<'a>(&'a self, roots: &'a ScriptRoots) -> &'a [PathBuf] {
        if self.principal.is_local() { &roots.folders } else { &self.server().own_roots().folders }
    }

    /// Whether the client has roots for which it was not asked yet. Without a session that takes a second request, so it is
    /// asked only for tools that need them.
    pub(crate) fn has_unasked_roots(&self) -> bool {
        self.capabilities().roots && self.session().is_none() && self.client.remembered_roots.get().is_none()
    }

    pub(crate) fn note_question_for_roots(&self) {
        self.has_been_asked_for_roots.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_been_asked_for_roots(&self) -> bool {
        self.has_been_asked_for_roots.load(Ordering::Relaxed)
    }

    /// Whether the client supports any question of a script. Without a session, roots count too.
    pub(crate) fn can_be_asked(&self) -> bool {
        let offered = self.capabilities();
        offered.can_be_asked() || (offered.roots && self.session().is_none())
    }

    /// Stores the roots that a client without a session named, or those of the project if it named none.
    pub(crate) fn learn_roots(&self, named: Option<ScriptRoots>) -> Arc<ScriptRoots> {
        let roots = named.map_or_else(|| Arc::clone(self.server().own_roots()), Arc::new);
        self.client.remembered_roots.set(Arc::clone(&roots));
        roots
    }

    /// Completes when the client cancels the request, or when no retry will come for parked work.
    pub(crate) async fn cancelled(&self) {
        let mut slot = self.slot.subscribe();
        loop {
            let current = match &*slot.borrow_and_update() {
                Occupant::Abandoned => return,
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

    /// Whether no request waits for the response, or the one that did was cancelled.
    pub(crate) fn is_over(&self) -> bool {
        self.current().is_none_or(|current| current.in_flight.request().is_cancelled())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.current().is_some_and(|current| current.in_flight.request().is_cancelled())
    }
}

/// The longest progress token that scripts receive, in bytes. Escaped as JSON it leaves room on a line of the side channel,
/// whose length is limited.
const LONGEST_TOKEN: usize = 512;

/// The placeholder for a token that scripts cannot receive.
const STAND_IN_TOKEN: &str = "progress";

/// Work that has started: it has a place, or rests.
pub(crate) struct Begun(Arc<Work>);

impl Drop for Begun {
    fn drop(&mut self) {
        // Dropping a place starts the next request, which must not happen under this lock.
        let place = self.0.place.lock().take();
        drop(place);
    }
}
