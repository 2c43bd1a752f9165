//! What clients are told about scripts that were not run, or that failed.

use mcp_bash_scripts::ScriptError;
use mcp_bash_wire::{RpcError, code};

pub(crate) fn told(error: ScriptError) -> RpcError {
    match error {
        ScriptError::Refused { code, message } => {
            RpcError::new(code.unwrap_or(code::INVALID_PARAMS), message)
        }
        ScriptError::Blocked { .. } | ScriptError::Distrusted { .. } => {
            RpcError::invalid_params(error.to_string())
        }
        _ => RpcError::internal(error.to_string()),
    }
}
