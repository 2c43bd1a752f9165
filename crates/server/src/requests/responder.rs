//! Responder: answers one request, within what may be held for its caller.

use crate::logging::{Measured, MeasuredReply};
use crate::replies::{RenderedResult, Reply};
use mcp_bash_budget::{Budget, SMALL};
use mcp_bash_wire::{Id, RpcError, write};
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct Responder {
    reply: Arc<dyn Reply>,
    budget: Arc<Budget>,
    /// The measurement of the request, where there is a meter.
    measured: Option<Arc<Measured>>,
}

impl Responder {
    pub(crate) fn new(reply: Arc<dyn Reply>, budget: Arc<Budget>) -> Self {
        Self { reply, budget, measured: None }
    }

    /// The same, for a request that is measured.
    pub(crate) fn measured_by(self, measured: Option<Arc<Measured>>) -> Self {
        Self { measured, ..self }
    }

    /// Answers with a result; where there is no room for it, with an error that says so.
    pub(crate) fn result(&self, id: &Id, result: RenderedResult) {
        let RenderedResult { members, has_tool_failed } = result;
        if members.len() > SMALL
            && let Err(why) = self.budget.has_room(members.len())
        {
            // Given back before anything else is done.
            drop(members);
            return self.error(Some(id), &RpcError::internal(format!("The result is not sent: {why}")));
        }
        self.measure(|measured| measured.succeeded(has_tool_failed));
        self.reply.answer(write::result(id, members));
    }

    /// Answers with an error. One that says that the request cannot be served as it came is a refusal, wherever it was
    /// found out.
    pub(crate) fn error(&self, id: Option<&Id>, error: &RpcError) {
        if error.is_refusal() {
            return self.refuse(id, error);
        }
        self.measure(|measured| measured.failed(error));
        self.reply.answer(write::error(id, error));
    }

    /// Answers a request that was not served.
    pub(crate) fn refuse(&self, id: Option<&Id>, error: &RpcError) {
        self.measure(|measured| measured.failed(error));
        self.reply.refuse(write::error(id, error), error.code);
    }

    /// The request will not be answered.
    pub(crate) fn withdraw(&self) {
        self.measure(Measured::cancelled);
        self.reply.end();
    }

    pub(crate) fn notify(&self, message: Vec<u8>) {
        self.reply.notify(message);
    }

    pub(crate) fn flush(&self) {
        self.reply.flush();
    }

    pub(crate) fn is_clogged(&self) -> bool {
        self.reply.is_clogged()
    }

    /// Where the request is answered, for those who say more than an answer.
    pub(crate) fn reply(&self) -> Arc<dyn Reply> {
        let inner = Arc::clone(&self.reply);
        match &self.measured {
            None => inner,
            Some(measured) => Arc::new(MeasuredReply { inner, measured: Arc::clone(measured) }),
        }
    }

    /// Passes the measurement to `report`, where there is one.
    pub(crate) fn measure(&self, report: impl FnOnce(&Measured)) {
        if let Some(measured) = &self.measured {
            report(measured);
        }
    }

    /// Asks the client on the stream on which the request is answered. False as in [`Stream::ask`].
    ///
    /// [`Stream::ask`]: crate::replies::reply::Stream::ask
    pub(crate) fn ask(&self, question: Vec<u8>) -> bool {
        self.reply.ask(question)
    }
}
