//! Responder: answers one request, within the memory budget of its caller.

use crate::logging::{Measured, MeasuredReply, UnwrittenLine};
use crate::replies::{RenderedResult, Reply};
use mcp_bash_budget::{Budget, SMALL};
use mcp_bash_wire::{Id, RpcError, write};
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct Responder {
    reply: Arc<dyn Reply>,
    budget: Arc<Budget>,
    /// The measurement of the request, if there is a meter.
    measured: Option<Arc<Measured>>,
}

impl Responder {
    pub(crate) fn new(reply: Arc<dyn Reply>, budget: Arc<Budget>) -> Self {
        Self { reply, budget, measured: None }
    }

    /// Sets the measurement of the request.
    pub(crate) fn measured_by(self, measured: Option<Arc<Measured>>) -> Self {
        Self { measured, ..self }
    }

    /// Answers with a result, or with an error if the budget has no room for the result.
    pub(crate) fn result(&self, id: &Id, result: RenderedResult) {
        let RenderedResult { members, has_tool_failed } = result;
        if members.len() > SMALL
            && let Err(why) = self.budget.has_room(members.len())
        {
            // Freed before the error is written.
            drop(members);
            return self.error(Some(id), &RpcError::internal(format!("The result is not sent: {why}")));
        }
        self.measure(|measured| measured.note_result(&members));
        let message = write::result(id, members);
        let measured = self.measured.as_ref();
        let line = measured.and_then(|measured| measured.succeeded(has_tool_failed, message.len()));
        self.deliver(Some(id), message, None, line);
    }

    /// Answers with an error. An error that rejects the request itself is delivered as a refusal, wherever it was detected.
    pub(crate) fn error(&self, id: Option<&Id>, error: &RpcError) {
        if error.is_refusal() {
            return self.refuse(id, error);
        }
        self.deliver_error(id, error, None);
    }

    /// Rejects a request that was not served.
    pub(crate) fn refuse(&self, id: Option<&Id>, error: &RpcError) {
        self.deliver_error(id, error, Some(error.code));
    }

    fn deliver_error(&self, id: Option<&Id>, error: &RpcError, refusal: Option<i32>) {
        let message = write::error(id, error);
        let line = self.measured.as_ref().and_then(|measured| measured.failed(error, message.len()));
        self.deliver(id, message, refusal, line);
    }

    /// Sends a response: immediately, or once its audit record is durable.
    fn deliver(&self, id: Option<&Id>, message: Vec<u8>, refusal: Option<i32>, line: Option<UnwrittenLine>) {
        let Some(line) = line else { return send(&*self.reply, message, refusal) };
        let (reply, id) = (Arc::clone(&self.reply), id.cloned());
        line.write_durably(move |problem| {
            match problem {
                None => send(&*reply, message, refusal),
                Some(problem) => reply.answer(write::error(id.as_ref(), &problem)),
            }
            reply.flush();
        });
    }

    /// Ends the request without a response, because it was cancelled.
    pub(crate) fn withdraw(&self) {
        self.measure(Measured::cancelled);
        self.reply.end();
    }

    pub(crate) fn notify(&self, message: Vec<u8>) {
        self.reply.notify(message);
    }

    /// Queues a notification directly before the response.
    pub(crate) fn notify_before_answer(&self, message: Vec<u8>) {
        self.reply.notify_before_answer(message);
    }

    pub(crate) fn takes_notifications(&self) -> bool {
        self.reply.takes_notifications()
    }

    pub(crate) fn flush(&self) {
        self.reply.flush();
    }

    pub(crate) fn is_clogged(&self) -> bool {
        self.reply.is_clogged()
    }

    /// The reply of the request, for code that sends more than a response.
    pub(crate) fn reply(&self) -> Arc<dyn Reply> {
        let inner = Arc::clone(&self.reply);
        match &self.measured {
            None => inner,
            Some(measured) => Arc::new(MeasuredReply { inner, measured: Arc::clone(measured) }),
        }
    }

    /// Passes the measurement to `report`, if there is one.
    pub(crate) fn measure(&self, report: impl FnOnce(&Measured)) {
        if let Some(measured) = &self.measured {
            report(measured);
        }
    }

    /// Sends a question to the client on the reply's stream. False as in [`Stream::ask`].
    ///
    /// [`Stream::ask`]: crate::replies::reply::Stream::ask
    pub(crate) fn ask(&self, question: Vec<u8>) -> bool {
        self.reply.ask(question)
    }
}

/// Sends a response, or the refusal of a request that was not served.
fn send(reply: &dyn Reply, message: Vec<u8>, refusal: Option<i32>) {
    match refusal {
        None => reply.answer(message),
        Some(code) => reply.refuse(message, code),
    }
}
