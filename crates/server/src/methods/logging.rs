//! `logging/setLevel`: how much a session wants to hear.

use crate::context::unknown_log_level;
use crate::session::Session;
use crate::shape::Answer;
use mcp_bash_wire::{LogLevel, Object, Raw, RpcError};

pub(crate) fn set_level(session: &mut Session, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let params = params.ok_or_else(|| RpcError::invalid_params("Invalid params: `level` is missing"))?;
    let name = Object::read(params, "params", &["level"])?.string("level")?;
    session.set_log_level(LogLevel::parse(&name).ok_or_else(|| unknown_log_level(&name))?);
    Ok(Answer::default())
}
