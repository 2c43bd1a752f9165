//! `server/discover`: the versions and capabilities of the server, for a stateless client.

use crate::handling::Immediate;
use crate::replies::{Answer, Members};
use mcp_bash_wire::{Revision, RpcError, write};
use std::sync::LazyLock;

/// The JSON array of versions, which never changes.
static SUPPORTED: LazyLock<String> = LazyLock::new(|| {
    let versions: Vec<String> =
        Revision::stateless().map(|revision| write::string(revision.as_str())).collect();
    format!("[{}]", versions.join(","))
});

/// Enough bytes for most results.
const ROOM: usize = 512;

#[expect(clippy::unnecessary_wraps, reason = "every handler has this signature")]
pub(super) fn discover(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let server = request.server();
    let mut result = Members::with_capacity(ROOM);
    result.raw("supportedVersions", &SUPPORTED);
    result.raw("capabilities", &server.capabilities(request.context.revision));
    result.string("instructions", server.snapshot().catalog.instructions.as_deref());
    Ok(Answer::members(result.into_text()).cacheable())
}
