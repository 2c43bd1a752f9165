//! The reading thread: bytes, lines, answers, until the input ends.

use super::ending::Finish;
use super::watch::Activity;
use mcp_bash_server::{Channel, Flow};
use mcp_bash_wire::Lines;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::runtime::Handle;

/// How many messages of one burst are answered before the first answers leave, so that a client that sends a lot at
/// once can start on them while we go on.
const BURST: usize = 64;

/// Reads to the end of the input, or until the client says `exit`.
pub(super) fn all(input: &OwnedFd, finish: &Arc<Finish>, activity: &Activity, runtime: &Handle) -> ! {
    let connection = finish.connection();
    let mut lines = Lines::new(finish.server().settings().limits.message_bytes);
    let mut closing = false;
    loop {
        finish.outbox().wait_for_room();
        let count = read(input, lines.room());
        activity.note();
        if count == 0 {
            if let Some(line) = lines.last_line()
                && connection.receive(&line) == Flow::Exit
            {
                finish.after_exit();
            }
            finish.after_input();
        }
        lines.filled(count);
        let mut answered = 0;
        while let Some(line) = lines.next_line() {
            if connection.receive(&line) == Flow::Exit {
                finish.after_exit();
            }
            answered += 1;
            if answered % BURST == 0 {
                finish.outbox().flush();
            }
        }
        if connection.is_closing() && !closing {
            closing = true;
            finish.start_shutdown_timer(runtime);
        }
    }
}

/// Blocks until there is something to read. An input that fails has ended.
fn read(input: &OwnedFd, room: &mut [u8]) -> usize {
    loop {
        match rustix::io::read(input, &mut *room) {
            Ok(count) => return count,
            Err(Errno::INTR) => {}
            // Whoever started us made the pipe non-blocking, which is theirs to decide.
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(input, PollFlags::IN)], None)),
            Err(_) => return 0,
        }
    }
}
