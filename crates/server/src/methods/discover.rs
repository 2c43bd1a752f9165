//! `server/discover`: what a stateless client may ask for.

use crate::immediate::Immediate;
use crate::shape::{Answer, Members};
use mcp_bash_wire::{Revision, RpcError, write};

#[expect(clippy::unnecessary_wraps, reason = "every handler has this signature")]
pub(super) fn discover(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let server = request.server();
    let versions: Vec<String> =
        Revision::stateless().map(|revision| write::string(revision.as_str())).collect();
    let mut result = Members::default();
    result.raw("supportedVersions", &format!("[{}]", versions.join(",")));
    result.raw("capabilities", &server.capabilities(request.context.revision));
    result.string("instructions", server.snapshot().catalog.instructions.as_deref());
    Ok(Answer::members(result.into_text()).cacheable())
}
