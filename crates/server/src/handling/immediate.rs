//! Immediate request: answered before the next message is read.

use crate::callers::RequestContext;
use crate::sessions::{Client, Server, Session};
use mcp_bash_wire::{Raw, RpcError};
use std::sync::Arc;

/// The context of an immediate request's handler.
pub(crate) struct Immediate<'a> {
    pub(crate) client: &'a Arc<Client>,
    pub(crate) context: &'a RequestContext,
    pub(crate) params: Option<Raw<'a>>,
}

impl<'a> Immediate<'a> {
    pub(crate) fn server(&self) -> &'a Arc<Server> {
        &self.client.server
    }

    /// The session of the request. Requests of the handshake era always have one.
    pub(crate) fn session(&self) -> Result<&'a Session, RpcError> {
        self.client.session().ok_or_else(|| RpcError::internal("Internal error: the request has no session"))
    }
}
