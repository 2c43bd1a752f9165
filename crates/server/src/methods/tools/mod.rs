//! `tools/list` and `tools/call`.

mod call;
mod content_check;
mod cut;
mod failures;
mod output;
mod record;
pub(crate) mod resources_file;
mod structured;
mod unknown;
mod whole_result;

pub(crate) use call::{asked_timeout, call};

use crate::handling::Immediate;
use crate::replies::{Answer, Members};
use mcp_bash_project::Catalog;
use mcp_bash_wire::RpcError;

pub(crate) fn list(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    served(&snapshot.catalog)?;
    if let Some(failure) = &snapshot.catalog.listing_failure {
        return Err(RpcError::internal(failure.clone()));
    }
    let page = snapshot.tools(request.context.revision, request.params, &request.context.caller)?;
    let mut result = Members::default();
    result.raw("tools", &page.items);
    result.string("nextCursor", page.next.as_deref());
    let meta = format!("\"mcpbash/total\":{}", page.total);
    Ok(Answer { meta, ..Answer::members(result.into_text()).cacheable() })
}

/// Refuses where the project cannot be served at all.
pub(crate) fn served(catalog: &Catalog) -> Result<(), RpcError> {
    match &catalog.failure {
        None => Ok(()),
        Some(failure) => Err(RpcError::internal(failure.clone())),
    }
}
