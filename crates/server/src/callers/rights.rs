//! Rights: what a caller may do, if that is not everything.

use mcp_bash_project::excerpt;
use mcp_bash_settings::AllowedTools;
use mcp_bash_wire::RpcError;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct Rights {
    /// The tools that the caller sees and may call; without a list, all of them.
    pub tools: Option<Arc<AllowedTools>>,
}

/// The refusal to call a tool that is not on the caller's list. It does not reveal whether the tool exists.
pub(crate) fn refusal(caller: &str, tool: &str) -> RpcError {
    RpcError::invalid_params(format!(
        "Tool '{}' is not allowed: it is not in the list of tools of the caller `{caller}`",
        excerpt(tool)
    ))
}
