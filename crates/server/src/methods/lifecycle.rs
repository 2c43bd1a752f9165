//! `initialize`, `shutdown` and `exit`: the lifecycle of a session.

use crate::callers::ClientCapabilities;
use crate::handling::Immediate;
use crate::logging::{Facts, MeasuredSession};
use crate::replies::definitions::server_info;
use crate::replies::{Answer, Members};
use crate::sessions::name_and_version;
use mcp_bash_wire::{LogLevel, Object, Revision, RpcError, code, write};

/// Agrees on a revision, and sends the capabilities of the server.
pub(super) fn initialize(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let (mut requested, mut capabilities, mut client) = (None, None, None);
    if let Some(params) = request.params {
        let params = Object::read(params, "params", &["protocolVersion", "capabilities", "clientInfo"])?;
        requested = params.optional_string("protocolVersion")?;
        capabilities = params.optional_object("capabilities")?;
        client = params.optional_object("clientInfo")?;
    }

    // Handwritten clients often send no version.
    let revision = requested.as_deref().map_or(Revision::NEWEST_HANDSHAKE, Revision::negotiate);
    let capabilities = capabilities.map(|raw| ClientCapabilities::read(raw)).unwrap_or_default();
    request.session()?.greet(revision, capabilities)?;
    if let Some(meter) = request.server().meter() {
        request.session()?.measured.get_or_init(|| MeasuredSession::begin(meter, revision));
    }
    let mut facts = Facts::none();
    if let Some(client) = client {
        let [name, version] = name_and_version(client);
        facts = facts.by_client("client", format!("{name} {version}").trim());
        let _ = request.session()?.client_info.set([name, version]);
    }
    if let Some(requested) = &requested {
        facts = facts.by_client("requested", requested);
    }
    let facts = facts.words("revision", revision.as_str());
    request.client.log(LogLevel::Debug, "mcp.lifecycle", "client connected", facts);

    let server = request.server();
    let snapshot = server.snapshot();
    let catalog = &snapshot.catalog;
    let mut result = Members::default();
    result.raw("protocolVersion", &write::string(revision.as_str()));
    result.raw("capabilities", &server.capabilities(revision));
    result.raw("serverInfo", &server_info(&catalog.identity, revision));
    result.string("instructions", catalog.instructions.as_deref());
    Ok(Answer::members(result.into_text()))
}

/// Prepares the shutdown: from now on only `ping`, `shutdown` and `exit` are served.
pub(super) fn shutdown(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    request.session()?.close();
    request.client.log(LogLevel::Debug, "mcp.lifecycle", "shutdown requested", Facts::none());
    Ok(Answer::default())
}

/// Ends the session. `shutdown` must come first.
pub(super) fn exit(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    if !request.session()?.exit() {
        return Err(RpcError::with_reason(
            code::EXIT_BEFORE_SHUTDOWN,
            "Shutdown not requested",
            "send `shutdown` before `exit`",
        ));
    }
    Ok(Answer::default())
}
