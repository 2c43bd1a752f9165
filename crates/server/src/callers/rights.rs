//! What a caller may do, where that is less than everything.

use super::caller::Caller;
use mcp_bash_project::excerpt;
use mcp_bash_settings::AllowedTools;
use mcp_bash_wire::{Object, Raw, Request, RpcError};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct Rights {
    /// The tools that the caller sees and may call; all of them where there is no list.
    pub tools: Option<Arc<AllowedTools>>,
}

/// The refusal of a call that its caller may not make, if it is one: whether the tool exists is not told. What is no whole
/// call is left to those who say what it lacks.
pub(crate) fn refusal(caller: &Caller, request: &Request<'_>) -> Option<RpcError> {
    let allowed = caller.allowed_tools().filter(|_| &*request.method == "tools/call")?;
    let params = Object::read(request.params?, "params", &["name"]).ok()?;
    let name = params.get("name").and_then(Raw::string)?;
    (!allowed.hold(&name)).then(|| {
        RpcError::invalid_params(format!(
            "Tool '{}' is not allowed: it is not in the list of tools of the caller `{}`",
            excerpt(&name),
            caller.name()
        ))
    })
}
