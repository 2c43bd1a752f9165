//! Request context: the principal, revision and capabilities of a request. Both eras produce the same type.

use super::capabilities::ClientCapabilities;
use super::guard::Guard;
use super::handshake::Handshake;
use super::identity::Principal;
use super::trace_context;
use mcp_bash_scripts::TraceVariables;
use mcp_bash_wire::{Era, LogLevel, Raw, RequestMeta, Revision, RpcError, code, keys};
use std::sync::Arc;

/// The context of one request.
pub(crate) struct RequestContext {
    /// The principal that makes the request.
    pub(crate) principal: Arc<Principal>,
    pub(crate) revision: Revision,
    /// JSON text: a string or an integer.
    pub(crate) progress_token: Option<Box<str>>,
    /// The minimum level of the log events that the client wants with this request.
    pub(crate) log_level: Option<LogLevel>,
    /// The whole `_meta` of the request for the script, without the shared secret.
    pub(crate) meta: Option<Box<str>>,
    pub(crate) capabilities: ClientCapabilities,
    /// The trace context of the request.
    pub(crate) trace: TraceVariables,
}

/// The longest progress token, in bytes.
const LONGEST_TOKEN: usize = 1024 * 1024;

impl RequestContext {
    /// Builds the context: from the request in the stateless era, from the session otherwise.
    pub(crate) fn of(
        meta: &RequestMeta<'_>,
        principal: &Arc<Principal>,
        handshake: Option<Handshake>,
        guard: Option<&Guard>,
    ) -> Result<Self, RpcError> {
        let (revision, log_level, capabilities) = if meta.is_stateless() {
            let revision = stateless_revision(meta)?;
            let offered = meta.client_capabilities.map(|raw| ClientCapabilities::read(raw));
            (revision, stateless_log_level(meta)?, offered.unwrap_or_default())
        } else {
            let handshake = handshake.ok_or_else(|| missing_meta(keys::PROTOCOL_VERSION))?;
            (handshake.revision, handshake.log_level(), handshake.capabilities)
        };
        let progress_token = match meta.progress_token {
            None => None,
            // The token is repeated in every notification.
            Some(token) if token.text().len() > LONGEST_TOKEN => {
                return Err(RpcError::invalid_params(format!(
                    "Invalid params: `progressToken` is longer than {LONGEST_TOKEN} bytes"
                )));
            }
            Some(token) if token.is_integer() || token.string().is_some() => Some(token.text().into()),
            Some(token) => {
                let kind = token.kind();
                return Err(RpcError::invalid_params(format!(
                    "Invalid params: `progressToken` must be a string or an integer, not {kind}"
                )));
            }
        };
        let whole = meta.whole.map(|whole| match guard {
            None => whole.text().into(),
            Some(guard) => guard.without_secret(whole).into(),
        });
        let principal = Arc::clone(principal);
        let trace = trace_context::read(meta.trace);
        Ok(Self { principal, revision, progress_token, log_level, meta: whole, capabilities, trace })
    }

    /// The context of a task's inner request: it always reports progress, and never logs.
    pub(crate) fn of_task(mut self) -> Self {
        self.progress_token.get_or_insert_with(|| "\"task\"".into());
        self.log_level = None;
        self
    }

    pub(crate) fn era(&self) -> Era {
        self.revision.era()
    }
}

fn stateless_revision(meta: &RequestMeta<'_>) -> Result<Revision, RpcError> {
    let version = required(meta.protocol_version, keys::PROTOCOL_VERSION)?;
    let version = version.string().ok_or_else(|| wrong(keys::PROTOCOL_VERSION, "a string", version))?;
    // A missing member is reported before an unsupported version.
    let capabilities = required(meta.client_capabilities, keys::CLIENT_CAPABILITIES)?;
    if !capabilities.is_object() {
        return Err(wrong(keys::CLIENT_CAPABILITIES, "an object", capabilities));
    }
    Revision::parse(&version)
        .filter(|revision| revision.era() == Era::Stateless)
        .ok_or_else(|| RpcError::unsupported_version(&version))
}

fn stateless_log_level(meta: &RequestMeta<'_>) -> Result<Option<LogLevel>, RpcError> {
    let Some(level) = meta.log_level else { return Ok(None) };
    let name = level.string().ok_or_else(|| wrong(keys::LOG_LEVEL, "a string", level))?;
    LogLevel::parse(&name).map(Some).ok_or_else(|| unknown_log_level(&name))
}

/// The error for a log level that RFC 5424 does not define.
pub(crate) fn unknown_log_level(name: &str) -> RpcError {
    let reason = format!("unknown level `{name}`; known are {}", LogLevel::names());
    RpcError::with_reason(code::INVALID_PARAMS, "Invalid log level", &reason)
}

/// The error for a request that lacks a member that the stateless era requires.
pub(crate) fn missing_meta(key: &str) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: `_meta` must hold `{key}`"))
}

fn required<'a>(value: Option<Raw<'a>>, key: &str) -> Result<Raw<'a>, RpcError> {
    value.ok_or_else(|| missing_meta(key))
}

fn wrong(key: &str, expected: &str, found: Raw<'_>) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: `{key}` must be {expected}, not {}", found.kind()))
}
