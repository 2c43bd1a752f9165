//! MCP over standard input and output.
//!
//! # Theory of operation
//!
//! The thread that calls [`serve`] does nearly everything: it waits for input and for the processes of calls at once,
//! cuts what came into lines and hands them to the connection, which answers most of them on the spot; the answers of
//! one read leave in one write, before the next read. Work that waits goes on in tasks on the same thread, so that a
//! call wakes nobody but its script and its client. What could block has threads of its own. All answers leave through
//! the `outbox`, which lets one thread write at a time and never blocks those who send: what the pipe does not take at
//! once is written by a thread of its own. When a client sends without reading, we stop reading too, and start none of the
//! calls that wait, until it has read half of what it may leave unread.
//!
//! A second thread watches for what ends a server from outside: a closed output, a dead parent, idleness. All ways to
//! the end meet in `ending`.

mod descriptors;
mod ending;
mod input;
mod outbox;
mod read;
mod watch;

pub use ending::Ending;

use ending::Finish;
use input::Input;
use mcp_bash_server::{Connection, Server};
use outbox::Outbox;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Serves one client on standard input and output until one of them ends. Does not return otherwise.
pub fn serve(server: Arc<Server>, runtime: &Runtime) -> io::Result<Infallible> {
    let (input, output) = descriptors::take()?;
    let budget = server.client_budget();
    let outbox = Arc::new(Outbox::new(output, server.settings().max_unread_bytes, &budget));
    let channel = Arc::clone(&outbox) as _;
    let connection = Arc::new(Connection::within(Arc::clone(&budget), Arc::clone(&server), channel));
    let finish = Arc::new(Finish::new(server, connection, outbox));
    let _inside = runtime.enter();
    ending::await_signals(&finish)?;
    let activity = watch::start(Arc::clone(&finish))?;
    let input = Input::new(input)?;
    runtime.spawn(go_on_when_relieved(Arc::clone(&finish)));
    runtime.block_on(read::all(&input, finish, &activity, &budget))
}

/// Lets what was held back while the client did not read go on when it does.
async fn go_on_when_relieved(finish: Arc<Finish>) {
    loop {
        finish.outbox().relief().await;
        finish.connection().relieved();
    }
}
