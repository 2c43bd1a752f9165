//! Starting work: admits requests whose handlers take time, or continues the handler of an earlier request.

use super::arrival::{Arrival, Dispatched};
use super::resumption::Resumption;
use crate::callers::RequestContext;
use crate::handling::Work;
use crate::logging::{Facts, Measured};
use crate::methods::LaterHandler;
use crate::requests::open_request::OpenRequest;
use crate::requests::request_state::{unchecked_state, unknown_state};
use crate::requests::{Current, GivenAnswers, RequestState, Resumed, Task, Unacceptable};
use crate::sessions::Client;
use crate::tasks::{Weight, panics};
use mcp_bash_audit::Reason;
use mcp_bash_budget::{Charge, SMALL};
use mcp_bash_wire::{LogLevel, RawBuf, RpcError};
use std::fmt::Display;
use std::sync::Arc;
use std::task::{Context, Waker};

impl Arrival<'_, '_> {
    /// Starts the handler of a request of the method `name`.
    pub(super) fn start_work(
        &self,
        name: &'static str,
        handler: LaterHandler,
        context: RequestContext,
    ) -> Result<Dispatched, RpcError> {
        let current = Current { context, in_flight: self.begin()?, task: self.client.task_questions() };
        if let Some(work) = self.future_work(name, handler, &current) {
            work.admit(current, GivenAnswers::default());
        }
        Ok(Dispatched::Later)
    }

    /// Continues the handler of an earlier request. It starts no other one, so a state cannot be used for anything else; only a
    /// script whose process is gone runs again, if its author allows it.
    pub(super) fn resume(
        &self,
        name: &'static str,
        handler: LaterHandler,
        context: RequestContext,
    ) -> Result<Dispatched, RpcError> {
        let server = &self.client.server;
        let resumption = Resumption::read(self.request.params())?;
        let keys = server.state_keys().ok_or_else(|| RpcError::internal("There are no random numbers"))?;
        let shown = match resumption.open(name, &context.principal.caller, keys) {
            Ok(shown) => shown,
            Err(why) => {
                self.responder.measure(|measured| measured.refused(why.reason()));
                report_state(self.client, why);
                return Ok(Dispatched::Failed(unknown_state()));
            }
        };
        let current = Current { context, in_flight: self.begin()?, task: self.client.task_questions() };
        let Some(work) = self.future_work(name, handler, &current) else { return Ok(Dispatched::Later) };
        let mut resuming = Box::pin(work.resume(shown, current));
        // Completes immediately, in the order of the messages, unless a database has to be asked.
        let is_done = resuming.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        if !is_done {
            server.runtime().spawn(resuming);
        }
        Ok(Dispatched::Later)
    }

    /// The parts of a request that outlive its message. `None` if the budget has no room; then it has been answered.
    fn future_work(
        &self,
        name: &'static str,
        handler: LaterHandler,
        current: &Current,
    ) -> Option<FutureWork> {
        let client = Arc::clone(self.client);
        let bytes = self.held_bytes(&current.context);
        let held = match (bytes > SMALL).then(|| client.caller().budget().charge(bytes)).transpose() {
            Ok(held) => held,
            Err(why) => {
                refuse(current.in_flight.request(), &why);
                return None;
            }
        };
        let weight = self.request.weight(&client.server.snapshot());
        let params = self.request.params().map(RawBuf::from);
        Some(FutureWork { client, name, handler, params, bytes, held, weight })
    }
}

/// A handler that may have to wait before it starts.
struct FutureWork {
    client: Arc<Client>,
    name: &'static str,
    handler: LaterHandler,
    params: Option<RawBuf>,
    /// The bytes that the request holds.
    bytes: usize,
    held: Option<Charge>,
    weight: Weight,
}

impl FutureWork {
    /// Continues the call that the state belongs to.
    async fn resume(self, shown: RequestState, current: Current) {
        let client = Arc::clone(&self.client);
        let (id, expires, parking) = (shown.id, shown.expires(), client.server.parking());
        let params = self.params.as_ref().map(RawBuf::as_raw);
        let (Ok(resumption), Some(keys)) = (Resumption::read(params), client.server.state_keys()) else {
            return;
        };
        match parking.resume(shown, resumption.responses, current, keys).await {
            Resumed::GoesOn => {}
            Resumed::Finished(current, outcome) => drop(current.in_flight.answer(outcome)),
            Resumed::AskAgain(current, asked) => {
                current.in_flight.request().measure(Measured::asks);
                if !current.in_flight.answer(Ok(asked.members.into())) {
                    parking.abandon(&asked.id);
                }
            }
            Resumed::RunAgain(current, rounds) => {
                if !self.admit(current, GivenAnswers::of_earlier_run(rounds)) {
                    parking.give_back(id, expires).await;
                }
            }
            Resumed::Refused(current, why) => {
                current.in_flight.request().measure(|measured| measured.refused(why.reason()));
                report_state(&client, why);
                current.in_flight.answer(Err(unknown_state()));
            }
            Resumed::Unchecked(current) => drop(current.in_flight.answer(Err(unchecked_state()))),
        }
    }

    /// Submits the request to admission. False if it is rejected; then it has been answered.
    fn admit(self, current: Current, given: GivenAnswers) -> bool {
        let Self { client, name, handler, params, bytes, held, weight } = self;
        let open_request = Arc::clone(current.in_flight.request());
        let work = Arc::new(Work::new(Arc::clone(&client), current, given));
        let most = work.principal().rights.as_ref().and_then(|rights| rights.concurrency());
        let task: Task = Box::new(move |place| {
            Box::pin(async move {
                let _held = held;
                let _begun = work.begin(place);
                if work.is_cancelled() {
                    return;
                }
                if let Some(problem) = work.record_beginning().await {
                    work.answer(Err(problem));
                    return;
                }
                let answer = panics::caught_while_waiting(async {
                    panics::on_purpose(name);
                    handler(&work, params.as_ref().map(RawBuf::as_raw)).await
                });
                let answer = answer.await;
                work.share_texts().await;
                let snapshot = work.server().snapshot();
                let answer = answer.map(|answer| answer.render(work.revision(), &snapshot.catalog.identity));
                let params = params.as_ref().map(RawBuf::as_raw);
                work.answer(answer.map_err(|error| work.server().short_paths().error(error, params)));
            })
        });
        // A panic drops the work, which answers the request; nothing else may answer it.
        let admission = client.server.admission();
        let admitted =
            panics::caught(|| Ok(admission.admit(client.caller(), &open_request, bytes, task, weight, most)));
        if let Ok(Err(refused)) = admitted {
            // Before the work is dropped, which would answer with a less precise error.
            refuse(&open_request, &refused.reason);
            drop(refused);
            return false;
        }
        true
    }
}

/// Logs for the operator only why a state is rejected.
fn report_state(client: &Client, why: Unacceptable) {
    let facts = Facts::of_caller(client.caller()).words("reason", why.words());
    client.server.log().request_event(LogLevel::Notice, "mcp.state", "a requestState is refused", facts);
}

/// Answers a request that was not admitted.
fn refuse(request: &OpenRequest, why: &dyn Display) {
    request.measure(|measured| measured.refused(Reason::Busy));
    request.answer(Err(RpcError::internal(format!("Server busy: {why}"))));
}
