//! Scopes: the scopes that an issuer's token needs for a call. Callers with other credentials have no scopes; only their rights
//! apply.

use super::identity::{Identity, KnownBy};
use mcp_bash_project::Tool;
use mcp_bash_wire::RpcError;

/// Whether this caller needs scopes.
pub(crate) fn restrict(identity: &Identity) -> bool {
    matches!(identity.known_by, KnownBy::Jwt | KnownBy::Introspection)
}

/// Rejects a call whose token lacks a scope. The error names all scopes of the tool, so that the client requests one token for
/// all of them.
pub(crate) fn check(identity: &Identity, tool: &Tool) -> Result<(), RpcError> {
    let needed = &tool.options.scopes;
    let has = |scope: &String| identity.scopes.iter().any(|granted| **granted == **scope);
    if !restrict(identity) || needed.iter().all(has) {
        Ok(())
    } else {
        Err(RpcError::insufficient_scope(needed))
    }
}
