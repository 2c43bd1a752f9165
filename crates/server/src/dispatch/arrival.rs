//! Arrival: a request that has arrived, and the responder that answers it.

use super::resolved::Resolved;
use crate::callers::{Denied, RequestContext, SLOWED};
use crate::logging::Facts;
use crate::methods::undeclared;
use crate::replies::RenderedResult;
use crate::requests::{InFlightRequest, Responder};
use crate::sessions::{Client, Filter};
use mcp_bash_audit::Reason;
use mcp_bash_wire::{LogLevel, RpcError};
use std::sync::Arc;

pub(super) struct Arrival<'a, 'r> {
    pub(super) client: &'a Arc<Client>,
    pub(super) request: &'a Resolved<'r>,
    pub(super) responder: &'a Responder,
}

/// The outcome of dispatching a request.
pub(super) enum Dispatched {
    /// Answered immediately with this result.
    Now(RenderedResult),
    /// Rejected by its handler with this error.
    Failed(RpcError),
    /// Answered later by the handler that was started.
    Later,
}

impl From<Result<RenderedResult, RpcError>> for Dispatched {
    fn from(answer: Result<RenderedResult, RpcError>) -> Self {
        answer.map_or_else(Self::Failed, Self::Now)
    }
}

impl Arrival<'_, '_> {
    /// Adds the request to those in flight.
    pub(super) fn begin(&self) -> Result<InFlightRequest, RpcError> {
        let pace = self.client.server.pace();
        let begun = self.client.in_flight.begin(self.request.id(), self.responder.clone(), pace);
        begun.ok_or_else(id_in_flight)
    }

    /// Opens a notification stream. The client receives only notifications for this request until it ends.
    pub(super) fn listen(&self, context: &RequestContext) -> Result<Dispatched, RpcError> {
        let filter = Filter::read(self.request.params())?;
        if filter.wants_tasks() && !context.capabilities.tasks && self.client.server.tasks_offered().is_some()
        {
            return Err(undeclared());
        }
        let Client { server, listens, .. } = &**self.client;
        let mut related = None;
        if filter.wants_resources()
            && let Some(audit) = server.audit()
        {
            if let Some(error) = audit.refusal() {
                self.responder.measure(|measured| measured.refused(Reason::Audit));
                return Err(error);
            }
            self.responder.measure(|measured| related = measured.related());
        }
        let (reply, id) = (self.responder.reply(), self.request.id());
        listens.begin(server, reply, context, id, filter, related)?;
        Ok(Dispatched::Later)
    }

    /// Rejects a request with a wrong or missing secret: immediately, or after a delay if there were many of them.
    pub(super) fn deny(&self, denied: &Denied) -> Result<Dispatched, RpcError> {
        let error = RpcError::from(denied);
        if !denied.throttled {
            let facts = Facts::none().by_client("method", self.request.method_name());
            self.client.log(LogLevel::Warning, "mcp.auth", "remote token rejected", facts);
            return Err(error);
        }
        let Some(slowed) = self.client.caller().slow_down() else { return Err(error) };
        let in_flight = self.begin()?;
        self.client.server.runtime().spawn(async move {
            tokio::time::sleep(SLOWED).await;
            in_flight.answer(Err(error));
            drop(slowed);
        });
        Ok(Dispatched::Later)
    }

    /// The bytes that the request holds while it waits or runs: its params, the parts of them that the context copies, a second
    /// copy of the progress token in a withheld notification, and the id, both in the table of requests in flight and in the
    /// response.
    pub(super) fn held_bytes(&self, context: &RequestContext) -> usize {
        let kept = |part: &Option<Box<str>>| part.as_ref().map_or(0, |text| text.len());
        let params = self.request.params().map_or(0, |params| params.text().len());
        let id = self.request.id().as_json().len();
        params + kept(&context.meta) + 2 * kept(&context.progress_token) + 2 * id
    }
}

/// The error for an id that is in use: the client could not tell the two responses apart.
pub(super) fn id_in_flight() -> RpcError {
    RpcError::invalid_request("Invalid Request: a request with this id is still in flight")
}
