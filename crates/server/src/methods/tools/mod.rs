//! `tools/list` and `tools/call`.

mod before_start;
mod call;
mod content_check;
mod cut;
mod denied_roots;
mod failures;
mod not_json;
mod not_run;
mod output;
mod permission;
mod record;
pub(crate) mod resources_file;
mod structured;
mod unknown;
mod whole_result;

pub(crate) use call::call;

use crate::handling::Immediate;
use crate::replies::Answer;
use mcp_bash_project::Tool;
use mcp_bash_wire::RpcError;

pub(crate) fn list(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    snapshot.check_served()?;
    if let Some(failure) = &snapshot.catalog.listing_failure {
        return Err(RpcError::internal(failure.clone()));
    }
    let sandbox_of = |tool: &Tool| request.server().scripts().sandbox_summary(tool.options.sandbox.as_ref());
    let page = snapshot.tools(
        request.context.revision,
        request.params,
        request.context.principal.rights.as_deref(),
        sandbox_of,
    )?;
    Ok(page.into_answer("tools"))
}
