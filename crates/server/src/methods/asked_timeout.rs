//! `timeoutSecs`: the timeout that a client sets in the params of a request.

use mcp_bash_wire::{Object, RpcError};
use std::time::Duration;

/// The requested timeout (`timeoutSecs`), if present.
pub(super) fn asked_timeout(params: &Object<'_, '_>) -> Result<Option<Duration>, RpcError> {
    let Some(value) = params.get("timeoutSecs").filter(|value| !value.is_null()) else { return Ok(None) };
    match value.text().parse::<u64>() {
        Ok(seconds) if seconds > 0 => Ok(Some(Duration::from_secs(seconds))),
        _ => Err(RpcError::invalid_params(
            "Invalid params: `timeoutSecs` must be a whole number of seconds above 0",
        )),
    }
}
