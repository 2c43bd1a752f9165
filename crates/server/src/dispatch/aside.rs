//! Side requests: requests that wait for files or tasks without taking a place among the calls.

use super::arrival::{Arrival, Dispatched};
use super::deferring::settle;
use crate::callers::RequestContext;
use crate::handling::Aside;
use crate::methods::AsideHandler;
use crate::tasks::panics;
use mcp_bash_tasks::TaskId;
use mcp_bash_wire::{Raw, RawBuf, RpcError};
use std::sync::Arc;

/// The bytes that a side request holds besides its own: its task, and its entry among the requests in flight.
const WAITING: usize = 2048;

impl Arrival<'_, '_> {
    /// Serves the request outside of admission, until its client cancels it.
    pub(super) fn serve_aside(
        &self,
        handler: AsideHandler,
        context: RequestContext,
    ) -> Result<Dispatched, RpcError> {
        let held = self.client.caller().budget().charge(WAITING + self.held_bytes(&context));
        let held = held.map_err(|why| RpcError::internal(format!("Server busy: {why}")))?;
        let in_flight = Arc::new(self.begin()?);
        let params = self.request.params().map(RawBuf::from);
        let (client, revision) = (Arc::clone(self.client), context.revision);
        let task = self.request.subject().ok().flatten().and_then(Raw::string);
        let task = task.and_then(|id| TaskId::parse(&id));
        let principal = Arc::clone(&context.principal);
        let request = Aside {
            client: Arc::clone(&client),
            context,
            params: params.clone(),
            in_flight: Arc::clone(&in_flight),
        };
        self.client.server.runtime().spawn(async move {
            let _held = held;
            if let Some(task) = task {
                settle(&client, &principal, task).await;
            }
            let answer = tokio::select! {
                answer = panics::caught_while_waiting(handler(request)) => answer,
                () = in_flight.request().cancelled() => return,
            };
            let server = &client.server;
            let answer = answer.map(|answer| answer.render(revision, &server.snapshot().catalog.identity));
            let params = params.as_ref().map(RawBuf::as_raw);
            in_flight.answer(answer.map_err(|error| server.short_paths().error(error, params)));
        });
        Ok(Dispatched::Later)
    }
}
