//! Scopes: what the token of an issuer must allow for a call. Callers that are known in another way have no scopes, and their
//! rights say what they may do.

use super::identity::{Identity, KnownBy};
use mcp_bash_project::Tool;
use mcp_bash_wire::RpcError;

/// Whether scopes say what this caller may do.
pub(crate) fn restrict(identity: &Identity) -> bool {
    matches!(identity.known_by, KnownBy::Jwt | KnownBy::Introspection)
}

/// The refusal of a call whose token lacks a scope. It names all scopes of the tool, so that its client gets one token for them.
pub(crate) fn check(identity: &Identity, tool: &Tool) -> Result<(), RpcError> {
    let needed = &tool.options.scopes;
    let has = |scope: &String| identity.scopes.iter().any(|granted| **granted == **scope);
    if !restrict(identity) || needed.iter().all(has) {
        Ok(())
    } else {
        Err(RpcError::insufficient_scope(needed))
    }
}
