//! `tools/list` and `tools/call`.

mod call;
mod content_check;
mod cut;
mod failures;
mod not_json;
mod output;
mod record;
pub(crate) mod resources_file;
mod structured;
mod unknown;
mod whole_result;

pub(crate) use call::call;

use crate::handling::Immediate;
use crate::replies::Answer;
use mcp_bash_wire::RpcError;

pub(crate) fn list(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    snapshot.check_served()?;
    if let Some(failure) = &snapshot.catalog.listing_failure {
        return Err(RpcError::internal(failure.clone()));
    }
    let page = snapshot.tools(request.context.revision, request.params, &request.context.caller)?;
    Ok(page.into_answer("tools"))
}
