//! Read loop: cuts the input into lines and dispatches them, until the input ends.

use super::Service;
use super::input::Input;
use crate::lifecycle::{Activity, Ending};
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_server::{Reply, Stream};
use mcp_bash_wire::Lines;
use std::sync::Arc;
use tokio::task::yield_now;

/// How many messages of one burst are dispatched before the outbox is flushed, so that a client that sends many at once can
/// start on the first responses.
const BURST: usize = 64;

/// Reads until the end of input, or until the client sends `exit`.
pub(super) async fn all(
    input: &Input,
    service: &Service,
    activity: &Activity,
    budget: &Arc<Budget>,
) -> Ending {
    let (client, outbox) = (&service.client, &service.outbox);
    let reply: Arc<dyn Reply> = Arc::clone(outbox) as _;
    let mut lines = Lines::new(service.server.settings().limits.message_bytes);
    let mut held = Charge::nothing(budget);
    let mut closing = false;
    loop {
        outbox.room().await;
        let count = input.read(lines.room()).await;
        activity.note();
        if count == 0 {
            outbox.take_only_answers();
            if let Some(line) = lines.last_line() {
                client.receive(&line, &reply);
            }
            return if client.has_exited() { Ending::Exit } else { Ending::EndOfInput };
        }
        lines.filled(count);
        if lines.size() != held.bytes() {
            held.set(lines.size());
        }
        let mut answered = 0;
        while let Some(line) = lines.next_line() {
            client.receive(&line, &reply);
            if client.has_exited() {
                return Ending::Exit;
            }
            answered += 1;
            if answered % BURST == 0 || outbox.is_clogged() {
                outbox.room().await;
                // Let other tasks run, however much input arrives.
                yield_now().await;
            }
        }
        if client.is_closing() && !closing {
            closing = true;
            service.start_shutdown_timer();
        }
    }
}
