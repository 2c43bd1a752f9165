//! Script errors: what clients receive when a script was not run, or failed.

use mcp_bash_scripts::ScriptError;
use mcp_bash_wire::{Limits, RpcError, Scanner, code, surrogates, write};

pub(crate) fn told(error: ScriptError) -> RpcError {
    match error {
        ScriptError::Refused { code, message, data } => RpcError {
            data: data.map(|data| json_of(&data)),
            ..RpcError::new(code.unwrap_or(code::INVALID_PARAMS), message)
        },
        ScriptError::Answered { code, message, data } => RpcError { data, ..RpcError::new(code, message) },
        ScriptError::Blocked { .. } | ScriptError::Distrusted { .. } => {
            RpcError::invalid_params(error.to_string())
        }
        _ => RpcError::internal(error.to_string()),
    }
}

/// The data of an error: JSON as it is, anything else as a string.
fn json_of(data: &str) -> String {
    match Scanner::new(&surrogates::repaired(data), Limits::default()).whole_value() {
        Ok(json) => write::compact(json.text()),
        Err(_) => write::string(data),
    }
}
