//! `tools/list` and `tools/call`.

mod call;
mod environment;
mod output;
mod resources_file;

pub(crate) use call::call;

use crate::server::Server;
use crate::shape::Answer;
use mcp_bash_project::Catalog;
use mcp_bash_wire::{Object, Raw, Revision, RpcError};

pub(crate) fn list(server: &Server, revision: Revision, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    if let Some(params) = params
        && Object::read(params, "params", &["cursor"])?.optional_string("cursor")?.is_some()
    {
        return Err(RpcError::invalid_params(
            "Invalid params: `cursor` is not one of ours; leave it out to start over",
        ));
    }
    served(&server.catalog())?;
    Ok(Answer::members(format!("\"tools\":{}", server.tools(revision))).cacheable())
}

/// Refuses where the project cannot be served at all.
fn served(catalog: &Catalog) -> Result<(), RpcError> {
    match &catalog.failure {
        None => Ok(()),
        Some(error) => Err(RpcError::internal(format!("server.d/register.json {error}"))),
    }
}
