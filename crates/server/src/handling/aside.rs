//! Side request: waits for files or a task, and takes no place among the calls.

use crate::callers::RequestContext;
use crate::requests::InFlightRequest;
use crate::sessions::{Client, Server};
use mcp_bash_wire::{Raw, RawBuf};
use std::sync::Arc;

/// The context of a side request's handler.
pub(crate) struct Aside {
    pub(crate) client: Arc<Client>,
    pub(crate) context: RequestContext,
    pub(crate) params: Option<RawBuf>,
    /// The request itself, to ask its client or to detect its cancellation.
    pub(crate) in_flight: Arc<InFlightRequest>,
}

impl Aside {
    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.client.server
    }

    pub(crate) fn params(&self) -> Option<Raw<'_>> {
        self.params.as_ref().map(RawBuf::as_raw)
    }
}
