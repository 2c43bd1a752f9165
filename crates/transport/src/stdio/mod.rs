//! MCP over standard input and output.
//!
//! # Theory of operation
//!
//! The thread that calls [`serve`] does nearly everything: it waits for input and for the processes of calls at once,
//! cuts what came into lines and hands them to the client of the server, which answers most of them on the spot; the answers of
//! one read leave in one write, before the next read. Work that waits goes on in tasks on the same thread, so that a
//! call wakes nobody but its script and its client. What could block has threads of its own. All answers leave through
//! the `outbox`, which lets one thread write at a time and never blocks those who send: what the pipe does not take at
//! once is written by a thread of its own. When a client sends without reading, we stop reading too, and start none of the
//! calls that wait, until it has read half of what it may leave unread.
//!
//! A second thread watches for what ends a server from outside: a closed output, a dead parent, idleness (`lifecycle`). All
//! ways to the end meet in [`serve`].

mod descriptors;
mod input;
mod outbox;
mod read;

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use linux as system;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere as system;

use crate::Host;
use crate::lifecycle::{Activity, Ending, Lifecycle, Watch, Watcher, await_signals};
use crate::memory::give_memory_back;
use input::Input;
use mcp_bash_server::{Client, Server, Stream as _, spawn_lasting};
use mcp_bash_wire::LogLevel;
use outbox::Outbox;
use serde_json::json;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

/// How long scripts may take to end when the server has to.
const GRACE: Duration = Duration::from_millis(500);

/// How often to look whether a client has gone on reading.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait before another thread is asked for, where the system had none.
const BREATH: Duration = Duration::from_millis(100);

/// How long a client may leave our last words unread.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Serves one client on standard input and output until there is a reason to end, which is returned when nothing is left
/// of its calls.
pub fn serve(server: Arc<Server>, runtime: &Runtime, host: Host) -> io::Result<Ending> {
    let (input, output) = descriptors::take()?;
    let principal = server.local_principal();
    let budget = Arc::clone(principal.caller.budget());
    let outbox = Arc::new(Outbox::new(output, server.settings().max_unread_bytes, &budget));
    let stream = Arc::clone(&outbox) as _;
    let client = Arc::new(Client::with_session(Arc::clone(&server), principal, stream));
    let service = Arc::new(Service { server, client, outbox, lifecycle: Arc::default() });
    let _inside = runtime.enter();
    await_signals(&service.lifecycle, &service.server, input.as_fd())?;
    let activity = Activity::new();
    let watcher = service.watch(activity.clone(), host)?;
    let input = Input::new(input)?;
    let (relieved, delayed) = (Arc::clone(&service), Arc::clone(&service));
    let handle = runtime.handle();
    spawn_lasting(handle, "go_on_when_relieved", move || go_on_when_relieved(Arc::clone(&relieved)));
    spawn_lasting(handle, "flush_again", move || flush_again(Arc::clone(&delayed)));
    give_memory_back(handle, &budget, host);
    Ok(runtime.block_on(async {
        let client_served = async {
            let ending = read::all(&input, &service, &activity, &budget).await;
            service.drain(ending).await;
            ending
        };
        let ending = tokio::select! {
            biased;
            ending = service.lifecycle.ended() => ending,
            () = service.outbox.failed() => Ending::OutputFailed,
            ending = client_served => ending,
        };
        let ending = match service.outbox.failure() {
            Some(error) => {
                let details = json!({ "error": error.to_string() });
                service.server.log().event(
                    LogLevel::Error,
                    "mcp.transport",
                    "an answer could not be written",
                    &details,
                );
                Ending::OutputFailed
            }
            None => ending,
        };
        let closed = Arc::clone(&service);
        // To end is to wait, and this thread must stay able to see children go.
        watcher.finish(move || closed.close(ending)).await;
        ending
    }))
}

/// The service of one client.
struct Service {
    server: Arc<Server>,
    client: Arc<Client>,
    outbox: Arc<Outbox>,
    lifecycle: Arc<Lifecycle>,
}

impl Service {
    fn watch(&self, activity: Activity, host: Host) -> io::Result<Watcher> {
        let (client, outbox) = (Arc::clone(&self.client), Arc::clone(&self.outbox));
        let idle_timeout = self.server.settings().idle_timeout;
        // Calls may wait until the client reads. One that has not read for so long is not waited for.
        let is_given_up = move || idle_timeout.is_some_and(|limit| outbox.is_stuck(limit));
        Watcher::start(Watch {
            lifecycle: Arc::clone(&self.lifecycle),
            output: Arc::clone(&self.outbox),
            orphan_check: self.server.settings().orphan_check,
            activity,
            idle_timeout,
            is_idle: Box::new(move || client.is_idle() || is_given_up()),
            give_up: host.give_up,
        })
    }

    /// Lets what is in flight be finished. After the end of input each call has its own deadline; but some wait until the
    /// client reads, so that one that does not read either has to be given up. A client that said `exit` wants to be rid
    /// of us: then it gets as long as the shutdown may take.
    async fn drain(&self, ending: Ending) {
        if ending == Ending::Exit {
            let _ = timeout(self.server.settings().shutdown_timeout, self.client.finish()).await;
            return;
        }
        while timeout(LOOK, self.client.finish()).await.is_err() {
            if self.outbox.is_stuck(TIMEOUT) {
                return;
            }
        }
    }

    /// Ends the server if `exit` does not come in time.
    fn start_shutdown_timer(&self) {
        let (lifecycle, patience) = (Arc::clone(&self.lifecycle), self.server.settings().shutdown_timeout);
        tokio::spawn(async move {
            sleep(patience).await;
            lifecycle.end(Ending::ShutdownTimeout);
        });
    }

    /// Ends what is left, and lets the client read our last words. Blocks.
    fn close(&self, ending: Ending) {
        if !ending.leaves_a_reader() {
            self.outbox.take_nothing();
        }
        self.server.log().event(ending.level(), "mcp.lifecycle", ending.describe(), &json!({}));
        self.client.abandon();
        self.server.end(GRACE);
        if ending.leaves_a_reader() {
            self.outbox.finish(TIMEOUT);
        }
    }
}

/// Writes what could not be written since the system had no thread for it.
async fn flush_again(service: Arc<Service>) {
    loop {
        service.outbox.lack_of_thread().await;
        sleep(BREATH).await;
        service.outbox.flush();
    }
}

/// Lets what was held back while the client did not read go on when it does.
async fn go_on_when_relieved(service: Arc<Service>) {
    loop {
        service.outbox.relief().await;
        service.server.relieved();
    }
}
