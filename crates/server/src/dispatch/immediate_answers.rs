//! Immediate answers: requests whose handlers do not wait, and lists, which wait for files that are being loaded.

use super::arrival::{Arrival, Dispatched};
use crate::callers::RequestContext;
use crate::handling::Immediate;
use crate::methods::{Method, NowHandler, Serve};
use crate::replies::RenderedResult;
use crate::sessions::Client;
use crate::tasks::panics;
use mcp_bash_wire::{Raw, RawBuf, RpcError};
use std::sync::Arc;

/// The bytes that a waiting list holds besides its request: its task, and its entry among the requests in flight.
const WAITING_LIST: usize = 1024;

impl Arrival<'_, '_> {
    /// The result of a request that is answered immediately.
    pub(super) fn answer_now(
        &self,
        method: &Method,
        handler: NowHandler,
        context: &RequestContext,
    ) -> Result<RenderedResult, RpcError> {
        answer_now(method, handler, self.client, context, self.request.params())
    }

    /// Answers a list when all its entries are known, or after a timeout: many clients list once and never again.
    pub(super) fn list_when_complete(
        &self,
        method: &'static Method,
        handler: NowHandler,
        context: RequestContext,
    ) -> Result<Dispatched, RpcError> {
        // Over its budget, a client gets the entries known so far.
        let held = self.client.caller().budget().charge(WAITING_LIST + self.held_bytes(&context));
        let Ok(held) = held else {
            return Ok(self.answer_now(method, handler, &context).into());
        };
        let in_flight = self.begin()?;
        let (client, params) = (Arc::clone(self.client), self.request.params().map(RawBuf::from));
        self.client.server.runtime().spawn(async move {
            let _held = held;
            let server = &client.server;
            tokio::select! {
                () = server.served().complete(server.settings().list_wait) => {}
                () = in_flight.request().cancelled() => return,
            }
            let params = params.as_ref().map(RawBuf::as_raw);
            let answer = panics::caught(|| answer_now(method, handler, &client, &context, params));
            in_flight.answer(answer.map_err(|error| server.short_paths().error(error, params)));
        });
        Ok(Dispatched::Later)
    }
}

fn answer_now(
    method: &Method,
    handler: NowHandler,
    client: &Arc<Client>,
    context: &RequestContext,
    params: Option<Raw<'_>>,
) -> Result<RenderedResult, RpcError> {
    panics::on_purpose(method.name);
    if matches!(method.serve, Serve::List(_)) {
        client.server.served().note_listing();
    }
    let answer = handler(&Immediate { client, context, params })?;
    let result = answer.render(context.revision, &client.server.snapshot().catalog.identity);
    method.guard_size(&result.members, client.server.settings())?;
    Ok(result)
}
