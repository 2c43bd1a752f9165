//! `initialize`, `shutdown` and `exit`: the handshake and its end.

use crate::capabilities::ClientCapabilities;
use crate::server::Server;
use crate::session::Session;
use crate::shape::{Answer, Members, server_info};
use mcp_bash_wire::{LogLevel, Object, Raw, Revision, RpcError, code, write};
use serde_json::json;

/// Agrees on a revision and tells the client what it can have.
pub(crate) fn initialize(
    server: &Server,
    session: &mut Session,
    params: Option<Raw<'_>>,
) -> Result<Answer, RpcError> {
    let params =
        params.ok_or_else(|| RpcError::invalid_params("Invalid params: `protocolVersion` is missing"))?;
    let params = Object::read(params, "params", &["protocolVersion", "capabilities", "clientInfo"])?;
    let requested = params.string("protocolVersion")?;
    let capabilities = params.optional_object("capabilities")?;
    let client = params.optional_object("clientInfo")?;

    let revision = Revision::negotiate(&requested);
    session
        .greet(revision, capabilities.map(|raw| ClientCapabilities::read(raw, revision)).unwrap_or_default());
    server.log().event(
        LogLevel::Info,
        "mcp.lifecycle",
        "client connected",
        &json!({
            "client": client.map(client_name),
            "requested": requested,
            "revision": revision.as_str(),
        }),
    );

    let snapshot = server.snapshot();
    let catalog = &snapshot.catalog;
    let mut result = Members::default();
    result.raw("protocolVersion", &write::string(revision.as_str()));
    result.raw("capabilities", &server.capabilities(revision));
    result.raw("serverInfo", &server_info(&catalog.identity, revision));
    if revision.has_instructions() {
        result.string("instructions", catalog.instructions.as_deref());
    }
    Ok(Answer::members(result.into_text()))
}

/// The client is about to leave: from now on only `ping`, `shutdown` and `exit` are served.
pub(crate) fn shutdown(server: &Server, session: &Session) -> Answer {
    session.close();
    server.log().event(LogLevel::Debug, "mcp.lifecycle", "shutdown requested", &json!({}));
    Answer::default()
}

/// Ends the server, which `shutdown` must have announced.
pub(crate) fn exit(session: &Session) -> Result<Answer, RpcError> {
    if session.is_closing() {
        Ok(Answer::default())
    } else {
        Err(RpcError::new(
            code::EXIT_BEFORE_SHUTDOWN,
            "Shutdown not requested: send `shutdown` before `exit`",
        ))
    }
}

/// Name and version of a client, as it gives them.
fn client_name(info: Raw<'_>) -> String {
    let Ok(info) = Object::read(info, "clientInfo", &["name", "version"]) else { return String::new() };
    let part = |name| info.get(name).and_then(Raw::string).unwrap_or_default();
    let shown: String = format!("{} {}", part("name"), part("version")).chars().take(80).collect();
    shown.trim().to_owned()
}
