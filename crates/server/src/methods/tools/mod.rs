//! `tools/list` and `tools/call`.

mod call;
mod content_check;
mod cut;
mod output;
mod record;
pub(crate) mod resources_file;
mod structured;
mod unknown;

pub(crate) use call::{asked_timeout, call};

use crate::handling::Immediate;
use crate::replies::{Answer, Members};
use crate::requests::Weight;
use crate::sessions::Server;
use mcp_bash_project::Catalog;
use mcp_bash_wire::{Object, Raw, RpcError};

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

/// Longer params are not looked at twice.
const LONGEST_LOOKED_AT: usize = 64 * 1024;

/// How much a request of that method has to do.
pub(crate) fn weight(server: &Server, method: &str, params: Option<Raw<'_>>) -> Weight {
    let Some(params) =
        params.filter(|params| method == "tools/call" && params.text().len() <= LONGEST_LOOKED_AT)
    else {
        return Weight::Heavy;
    };
    let members = Object::read(params, "params", &["name"]).ok();
    let name = members.and_then(|members| members.get("name")?.string());
    let snapshot = server.snapshot();
    match name.and_then(|name| snapshot.tool(&name)) {
        Some((tool, _)) if tool.worker().is_some() => Weight::Light,
        _ => Weight::Heavy,
    }
}

/// Refuses where the project cannot be served at all.
pub(crate) fn served(catalog: &Catalog) -> Result<(), RpcError> {
    match &catalog.failure {
        None => Ok(()),
        Some(failure) => Err(RpcError::internal(failure.clone())),
    }
}
