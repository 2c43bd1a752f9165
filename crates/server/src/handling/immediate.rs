//! Immediate request: one that is answered before the next message is read.

use crate::callers::RequestContext;
use crate::sessions::{Client, Server, Session};
use mcp_bash_wire::{Raw, RpcError};
use std::sync::Arc;

/// What the handler of an immediate request knows.
pub(crate) struct Immediate<'a> {
    pub(crate) client: &'a Arc<Client>,
    pub(crate) context: &'a RequestContext,
    pub(crate) params: Option<Raw<'a>>,
}

impl<'a> Immediate<'a> {
    pub(crate) fn server(&self) -> &'a Arc<Server> {
        &self.client.server
    }

    /// The session of the request. The gate lets no request of the handshake era through without one.
    pub(crate) fn session(&self) -> Result<&'a Session, RpcError> {
        self.client.session().ok_or_else(|| RpcError::internal("Internal error: the request has no session"))
    }
}
