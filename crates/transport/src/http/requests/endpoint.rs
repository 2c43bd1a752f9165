//! Endpoint: state shared by all connections, caller identification and rate limits.

use crate::http::access::AccessRules;
use crate::http::identity::visitor::Visitor;
use crate::http::identity::{Head, Identified, IdentitySource, RolesFile, Unidentified, rights};
use crate::http::limits::options::Options;
use crate::http::limits::shared_rate::SharedRates;
use crate::http::metrics::Metrics;

use crate::http::requests::respond::{self, Answer, Refusal};
use crate::http::sessions::Sessions;
use crate::http::sessions::old_sessions::OldSessions;
use crate::http::streams::open_streams::Streams;
use crate::http::streams::replay_buffer::Rules;
use crate::http::streams::shared::SharedStreams;
use crate::http::streams::waiting::Waiting;
use bytes::Bytes;
use http::StatusCode;
use http::header::WWW_AUTHENTICATE;
use mcp_bash_server::{AuditReason, Caller, Principal, Server};
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// `Retry-After` for a client that found no room for a stream.
pub(super) const RETRY: Duration = Duration::from_secs(5);

/// State shared by all connections.
pub(in crate::http) struct Endpoint {
    pub(in crate::http) server: Arc<Server>,
    pub(in crate::http) rules: Arc<Rules>,
    pub(in crate::http) sessions: Sessions,
    pub(in crate::http) waiting: Waiting,
    pub(in crate::http) streams: Arc<Streams>,
    /// `None` if no other server continues the sessions of this one.
    pub(in crate::http) shared_streams: Option<Arc<SharedStreams>>,
    pub(in crate::http) old_sessions: OldSessions,
    pub(super) access: AccessRules,
    pub(in crate::http) identity_source: IdentitySource,
    roles: Option<Arc<RolesFile>>,
    metrics: Option<Arc<Metrics>>,
    rates: SharedRates,
    session_rates: SharedRates,
    options: Options,
}

impl Endpoint {
    pub(in crate::http) fn new(
        server: Arc<Server>,
        access: AccessRules,
        identity_source: IdentitySource,
        roles: Option<RolesFile>,
        metrics: Option<Arc<Metrics>>,
        options: Options,
    ) -> Self {
        let roles = roles.map(Arc::new);
        if let Some(roles) = &roles {
            let roles = Arc::clone(roles);
            server.set_rights_source(move |identity| {
                Some(rights(roles.granted(identity).as_deref(), identity))
            });
        }
        let shared_streams = SharedStreams::new(&server);
        Self {
            rules: Rules::of(&server),
            server,
            sessions: Sessions::new(&options.limits, shared_streams.clone()),
            shared_streams,
            waiting: Waiting::default(),
            streams: Streams::new(options.limits.streams),
            old_sessions: OldSessions::default(),
            access,
            identity_source,
            roles,
            metrics,
            rates: SharedRates::new("requests"),
            session_rates: SharedRates::new("sessions"),
            options,
        }
    }

    pub(in crate::http) fn options(&self) -> &Options {
        &self.options
    }

    /// Counts a refused request or connection.
    pub(in crate::http) fn count_refusal(&self, reason: &'static str) {
        if let Some(metrics) = &self.metrics {
            metrics.refused(reason);
        }
    }

    /// Ends listening requests and session streams; other requests are still answered.
    pub(in crate::http) fn end_listens(&self) {
        self.waiting.end_listens();
        self.old_sessions.end_all();
        if let Some(streams) = &self.shared_streams {
            streams.end_followers();
        }
        for session in self.sessions.all() {
            session.end_session_stream();
        }
    }

    /// Calls go on without answers to their questions.
    pub(in crate::http) fn end_questions(&self) {
        for session in self.sessions.all() {
            session.client.end_questions();
        }
    }

    pub(in crate::http) fn end_sessions(&self) {
        for session in self.sessions.all() {
            self.sessions.end(&session);
        }
    }

    /// Records a client certificate that was refused in the TLS handshake. Logs as many for each peer as it may guess tokens,
    /// so that a flood does not fill the log; counts all of them.
    pub(in crate::http) fn note_failed_handshake(&self, visitor: &Visitor, problem: &dyn Display) {
        self.count_refusal("certificate");
        if let Some(audit) = self.server.audit() {
            audit.login_failed(&visitor.name, AuditReason::Certificate);
        }
        if !self.identity_source.may_guess(visitor) {
            return;
        }
        let details = json!({ "peer": &*visitor.name, "error": problem.to_string() });
        self.server.log().event(LogLevel::Warning, "mcp.http", "a client certificate was refused", &details);
    }

    /// Identifies the caller and applies its request rate.
    pub(super) async fn principal_of(
        &self,
        visitor: &Visitor,
        head: Head<'_>,
    ) -> Result<Arc<Principal>, Refusal> {
        let identified = self.identity_source.identify(head, visitor).await;
        let identified = identified.map_err(|unidentified| {
            if let Some(audit) = self.server.audit() {
                audit.login_failed(&visitor.name, unidentified.reason());
            }
            unknown(unidentified)
        })?;
        let Identified { identity, rate } = identified;
        let granted = self.roles.as_ref().map(|roles| roles.granted(&identity));
        let rate_of_roles = granted.as_ref().and_then(|granted| granted.as_ref()?.rate);
        let rate = rate.or(rate_of_roles).or(self.options.limits.rate);
        let mut principal = self.server.principal(identity, Some(Arc::clone(&visitor.name)));
        if let Some(rate) = rate {
            let allowed = self.rates.allow(&self.server, &principal.identity.name, rate).await;
            allowed.map_err(|wait| {
                if let Some(audit) = self.server.audit() {
                    audit.request_refused(&principal, AuditReason::Rate);
                }
                let reason = "Too many requests by this caller; try again later".to_owned();
                Box::new(respond::later(StatusCode::TOO_MANY_REQUESTS, wait, reason))
            })?;
        }
        if let Some(granted) = granted {
            principal.rights = Some(rights(granted.as_deref(), &principal.identity));
        }
        visitor.keep(&principal.caller);
        Ok(Arc::new(principal))
    }

    /// The HTTP response with an answer of the server. If scopes are missing, its challenge lists those that the token has and
    /// those that it lacks: a client requests exactly these and would lose the others.
    pub(super) fn answer(&self, principal: &Principal, status: StatusCode, message: Bytes) -> Answer {
        let scopes = (status == StatusCode::FORBIDDEN).then(|| {
            let mut scopes = principal.identity.scopes.clone();
            scopes.extend(
                scopes_in(&message).into_iter().filter(|scope| !principal.identity.scopes.contains(scope)),
            );
            scopes
        });
        let mut answer = respond::message(status, message);
        if let Some(scopes) = scopes {
            let challenge = self.identity_source.scope_challenge(&scopes);
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        answer
    }

    /// Counts a new session of the caller, if its rate allows one.
    pub(in crate::http) async fn allow_session(&self, caller: &Caller) -> Result<(), Refusal> {
        let Some(rate) = self.options.limits.session_rate else { return Ok(()) };
        self.session_rates.allow(&self.server, caller.name(), rate).await.map_err(|wait| {
            let reason =
                "Too many new sessions by this caller; MCPBASH_HTTP_MAX_SESSIONS_PER_MIN sets the limit";
            Box::new(respond::later(StatusCode::TOO_MANY_REQUESTS, wait, reason.to_owned()))
        })
    }
}

/// The required scopes in an error of the server.
fn scopes_in(error: &[u8]) -> Vec<Box<str>> {
    let error: Value = serde_json::from_slice(error).unwrap_or_default();
    let scopes = error["error"]["data"]["requiredScopes"].as_array();
    scopes.into_iter().flatten().filter_map(|scope| Some(scope.as_str()?.into())).collect()
}

/// The response to a request whose caller is unknown or may not make it.
fn unknown(unidentified: Unidentified) -> Refusal {
    Box::new(match unidentified {
        Unidentified::Unauthorized(challenge) => {
            let reason = "Unauthorized: this server requires a valid bearer token";
            respond::challenged(StatusCode::UNAUTHORIZED, reason, challenge)
        }
        Unidentified::TooFewScopes(challenge) => {
            let reason = "Forbidden: the token does not have the scopes that this server needs";
            respond::challenged(StatusCode::FORBIDDEN, reason, challenge)
        }
        Unidentified::Throttled => {
            let reason = "Too many unknown tokens from this client; try again later".to_owned();
            respond::later(StatusCode::TOO_MANY_REQUESTS, RETRY, reason)
        }
        Unidentified::IssuerUnreachable => {
            let reason = "The issuer of the token does not answer, so the token cannot be checked".to_owned();
            respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason)
        }
        Unidentified::Forbidden(reason) => respond::refusal(StatusCode::FORBIDDEN, reason),
    })
}

/// The response to a caller with too many streams.
pub(in crate::http) fn no_room() -> Refusal {
    let reason = "Too many streams are open; MCPBASH_HTTP_MAX_STREAMS sets the limit".to_owned();
    Box::new(respond::later(StatusCode::SERVICE_UNAVAILABLE, RETRY, reason))
}
