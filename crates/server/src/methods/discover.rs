//! `server/discover`: what a stateless client may ask for.

use crate::server::Server;
use crate::shape::{Answer, Members};
use mcp_bash_wire::{Revision, write};

pub(crate) fn discover(server: &Server, revision: Revision) -> Answer {
    let versions: Vec<String> =
        Revision::stateless().map(|revision| write::string(revision.as_str())).collect();
    let mut result = Members::default();
    result.raw("supportedVersions", &format!("[{}]", versions.join(",")));
    result.raw("capabilities", &server.capabilities(revision));
    result.string("instructions", server.snapshot().catalog.instructions.as_deref());
    Answer::members(result.into_text()).cacheable()
}
