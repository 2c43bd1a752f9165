//! MCP over standard input and output.
//!
//! # Theory of operation
//!
//! The thread that calls [`serve`] reads. It blocks in `read`, cuts what came into lines and hands them to the
//! connection, which answers most of them on the spot; the answers of one read leave in one write, before the next
//! read. Work runs elsewhere and answers through the same `outbox`, which lets one thread write at a time and never
//! blocks those who send: what the pipe does not take at once is written by a thread of its own. When a client sends
//! without reading, we stop reading too.
//!
//! A second thread watches for what ends a server from outside: a closed output, a dead parent, idleness. Signals
//! are awaited on the runtime. All ways to the end meet in `ending`.

mod descriptors;
mod ending;
mod outbox;
mod read;
mod watch;

pub use ending::Ending;

use ending::Finish;
use mcp_bash_server::{Connection, Server};
use outbox::Outbox;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Serves one client on standard input and output until one of them ends. Does not return otherwise.
pub fn serve(server: Arc<Server>, runtime: &Handle) -> io::Result<Infallible> {
    let (input, output) = descriptors::take()?;
    let outbox = Arc::new(Outbox::new(output, server.settings().max_unread_bytes));
    let connection = Arc::new(Connection::new(Arc::clone(&server), Arc::clone(&outbox) as _));
    let finish = Arc::new(Finish::new(server, connection, outbox));
    ending::await_signals(&finish, runtime)?;
    let activity = watch::start(Arc::clone(&finish))?;
    read::all(&input, &finish, &activity, runtime)
}
