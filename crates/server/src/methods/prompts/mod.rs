//! `prompts/list` and `prompts/get`.

mod content;
mod error;
mod get;
mod values;

pub(crate) use get::get;

use crate::handling::Immediate;
use crate::replies::Answer;
use mcp_bash_wire::RpcError;

pub(crate) fn list(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    snapshot.check_served()?;
    Ok(snapshot
        .prompts(request.context.revision, request.params, request.context.principal.rights.as_deref())?
        .into_answer("prompts"))
}
