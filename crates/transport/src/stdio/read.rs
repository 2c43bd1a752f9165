//! Reading: bytes, lines, answers, until the input ends.

use super::ending::Finish;
use super::input::Input;
use super::watch::Activity;
use mcp_bash_budget::{Budget, Charge};
use mcp_bash_server::{Channel, Flow};
use mcp_bash_wire::Lines;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use tokio::task::yield_now;

/// How many messages of one burst are answered before the first answers leave, so that a client that sends a lot at
/// once can start on them while we go on.
const BURST: usize = 64;

/// Reads to the end of the input, or until the client says `exit`.
pub(super) async fn all(
    input: &Input,
    finish: Arc<Finish>,
    activity: &Activity,
    budget: &Arc<Budget>,
) -> io::Result<Infallible> {
    let connection = finish.connection();
    let mut lines = Lines::new(finish.server().settings().limits.message_bytes);
    let mut held = Charge::nothing(budget);
    let mut closing = false;
    loop {
        finish.outbox().room().await;
        let count = input.read(lines.room()).await;
        activity.note();
        if count == 0 {
            let last = lines.last_line().map(|line| connection.receive(&line));
            return match last {
                Some(Flow::Exit) => finish.aside(|finish| finish.after_exit()).await,
                Some(Flow::Continue) | None => finish.aside(|finish| finish.after_input()).await,
            };
        }
        lines.filled(count);
        if lines.size() != held.bytes() {
            held.set(lines.size());
        }
        let mut answered = 0;
        while let Some(line) = lines.next_line() {
            if connection.receive(&line) == Flow::Exit {
                return finish.aside(|finish| finish.after_exit()).await;
            }
            answered += 1;
            if answered % BURST == 0 || finish.outbox().is_clogged() {
                finish.outbox().room().await;
                // What waits in tasks has its turn too, however much comes in.
                yield_now().await;
            }
        }
        if connection.is_closing() && !closing {
            closing = true;
            finish.start_shutdown_timer();
        }
    }
}
