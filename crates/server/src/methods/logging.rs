//! `logging/setLevel`: sets the minimum level of the log events that a session receives.

use crate::callers::context::unknown_log_level;
use crate::handling::Immediate;
use crate::replies::Answer;
use mcp_bash_wire::{LogLevel, Object, RpcError};

pub(super) fn set_level(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let params =
        request.params.ok_or_else(|| RpcError::invalid_params("Invalid params: `level` is missing"))?;
    let name = Object::read(params, "params", &["level"])?.string("level")?;
    request.session()?.set_log_level(LogLevel::parse(&name).ok_or_else(|| unknown_log_level(&name))?);
    Ok(Answer::default())
}
