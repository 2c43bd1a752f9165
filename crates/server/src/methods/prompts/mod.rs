//! `prompts/list` and `prompts/get`.

mod content;
mod get;
mod values;

pub(crate) use get::get;

use super::tools::served;
use crate::server::Server;
use crate::shape::{Answer, Members};
use mcp_bash_wire::{Raw, Revision, RpcError};

pub(crate) fn list(server: &Server, revision: Revision, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let snapshot = server.snapshot();
    served(&snapshot.catalog)?;
    let page = snapshot.prompts(revision, params)?;
    let mut result = Members::default();
    result.raw("prompts", &page.items);
    result.string("nextCursor", page.next.as_deref());
    let meta = format!("\"mcpbash/total\":{}", page.total);
    Ok(Answer { meta, ..Answer::members(result.into_text()).cacheable() })
}
