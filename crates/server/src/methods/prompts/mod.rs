//! `prompts/list` and `prompts/get`.

mod content;
mod get;
mod values;

pub(crate) use get::get;

use super::tools::served;
use crate::handling::Immediate;
use crate::replies::{Answer, Members};
use mcp_bash_wire::RpcError;

pub(crate) fn list(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    served(&snapshot.catalog)?;
    let page = snapshot.prompts(request.context.revision, request.params)?;
    let mut result = Members::default();
    result.raw("prompts", &page.items);
    result.string("nextCursor", page.next.as_deref());
    let meta = format!("\"mcpbash/total\":{}", page.total);
    Ok(Answer { meta, ..Answer::members(result.into_text()).cacheable() })
}
