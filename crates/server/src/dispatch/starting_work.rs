//! Starting work: requests whose answers take time are admitted, or continue the work of an earlier request.

use super::arrival::{Arrival, Dispatched};
use super::resumption::Resumption;
use crate::callers::RequestContext;
use crate::handling::Work;
use crate::logging::Facts;
use crate::methods::LaterHandler;
use crate::requests::request_state::unknown_state;
use crate::requests::{Current, GivenAnswers, Resumed, Task, Unacceptable};
use crate::tasks::panics;
use mcp_bash_budget::SMALL;
use mcp_bash_wire::{LogLevel, RawBuf, RpcError};
use std::fmt::Display;
use std::sync::Arc;

impl Arrival<'_, '_> {
    /// Starts the work on a request of the method `name`.
    pub(super) fn start_work(
        &self,
        name: &'static str,
        handler: LaterHandler,
        context: RequestContext,
    ) -> Result<Dispatched, RpcError> {
        let current = Current { context, in_flight: self.begin()? };
        self.admit(name, handler, current, GivenAnswers::default());
        Ok(Dispatched::Later)
    }

    /// Continues the work of an earlier request. It starts nothing else, so that a state is good for nothing else; only
    /// a script whose process is gone is run again, if its author allows it.
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
                self.report_state(why);
                return Ok(Dispatched::Failed(unknown_state()));
            }
        };
        let (id, expires) = (shown.id, shown.expires());
        let current = Current { context, in_flight: self.begin()? };
        let parking = server.parking();
        match parking.resume(shown, resumption.responses, current, keys) {
            Resumed::GoesOn => {}
            Resumed::Finished(current, outcome) => drop(current.in_flight.answer(outcome)),
            Resumed::AskAgain(current, asked) => {
                if !current.in_flight.answer(Ok(asked.members.into())) {
                    parking.abandon(&asked.id);
                }
            }
            Resumed::RunAgain(current, rounds) => {
                let given = GivenAnswers::of_earlier_run(rounds);
                if !self.admit(name, handler, current, given) {
                    parking.give_back(id, expires);
                }
            }
            Resumed::Refused(current, why) => {
                self.report_state(why);
                current.in_flight.answer(Err(unknown_state()));
            }
        }
        Ok(Dispatched::Later)
    }

    /// Logs for the operator alone why a state is refused.
    fn report_state(&self, why: Unacceptable) {
        let facts = Facts::of_caller(self.client.caller()).words("reason", why.words());
        let log = self.client.server.log();
        log.request_event(LogLevel::Notice, "mcp.state", "a requestState is refused", facts);
    }

    /// Admits the request to be worked on now or in its turn. False if it is refused; then it has been answered.
    fn admit(
        &self,
        name: &'static str,
        handler: LaterHandler,
        current: Current,
        given: GivenAnswers,
    ) -> bool {
        let caller = self.client.caller();
        let open_request = Arc::clone(current.in_flight.request());
        let refuse = |why: &dyn Display| {
            open_request.answer(Err(RpcError::internal(format!("Server busy: {why}"))));
            false
        };
        let bytes = self.held_bytes(&current.context);
        let held = match (bytes > SMALL).then(|| caller.budget().charge(bytes)).transpose() {
            Ok(held) => held,
            Err(why) => return refuse(&why),
        };
        let work = Arc::new(Work::new(Arc::clone(self.client), current, given));
        let weight = self.request.weight(&self.client.server.snapshot());
        let params = self.request.params().map(RawBuf::from);
        let task: Task = Box::new(move |place| {
            Box::pin(async move {
                let _held = held;
                let _begun = work.begin(place);
                if work.is_cancelled() {
                    return;
                }
                let answer = panics::caught_while_waiting(async {
                    panics::on_purpose(name);
                    handler(&work, params.as_ref().map(RawBuf::as_raw)).await
                });
                let answer = answer.await;
                let snapshot = work.server().snapshot();
                let answer = answer.map(|answer| answer.render(work.revision(), &snapshot.catalog.identity));
                let params = params.as_ref().map(RawBuf::as_raw);
                work.answer(answer.map_err(|error| work.server().short_paths().error(error, params)));
            })
        });
        // A panic drops the work, which answers; nothing else may answer.
        let admission = self.client.server.admission();
        let admitted = panics::caught(|| Ok(admission.admit(caller, &open_request, bytes, task, weight)));
        if let Ok(Err(refused)) = admitted {
            // Before the work is dropped, which would answer with a vaguer reason.
            refuse(&refused.reason);
            drop(refused);
            return false;
        }
        true
    }
}
