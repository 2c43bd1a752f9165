//! MCP over standard input and output.
//!
//! # Theory of operation
//!
//! The thread that calls [`serve`] does nearly all the work. It waits for input and for child processes at the same time, cuts
//! the input into lines, and passes them to the `Client` of the server, which answers most of them immediately. The responses
//! to one read are written together, before the next read. Calls that have to wait run as tasks on the same thread, so that a
//! call wakes only its script and its client. Blocking work has threads of its own. All messages leave through the `outbox`:
//! one thread writes at a time, senders never block, and a writer thread writes what the pipe does not take immediately.
//! Backpressure: if the client sends without reading, we stop reading and start no queued calls until half of the unread limit
//! is free.
//!
//! A second thread watches for external reasons to shut down: a closed output, a dead parent, idleness (`lifecycle`). [`serve`]
//! runs the shutdown, whatever its reason.

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

/// How long scripts may take to exit at shutdown.
const GRACE: Duration = Duration::from_millis(500);

/// How often to check whether the client has resumed reading.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Delay before the writer thread is started again after the system had none left.
const THREAD_RETRY_DELAY: Duration = Duration::from_millis(100);

/// How long a client may go without reading at shutdown.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Serves one client on standard input and output until shutdown. Returns the reason when none of its calls are left.
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
        // The shutdown blocks, and this thread must stay able to reap children.
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
        // Calls may wait until the client reads. A client that has not read within the idle timeout counts as idle.
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

    /// Waits for the requests in progress. After the end of input each call has its own deadline. Calls that wait for the
    /// client to read are abandoned if it has stopped reading. After `exit`, the client does not want to wait: calls get as
    /// long as the shutdown may take.
    async fn drain(&self, ending: Ending) {
        if ending == Ending::Exit {
            let _ = timeout(self.server.settings().shutdown_timeout, self.client.finish()).await;
            return;
        }
        while timeout(CHECK_INTERVAL, self.client.finish()).await.is_err() {
            if self.outbox.is_stuck(TIMEOUT) {
                return;
            }
        }
    }

    /// Shuts the server down if `exit` does not follow in time.
    fn start_shutdown_timer(&self) {
        let (lifecycle, shutdown_timeout) =
            (Arc::clone(&self.lifecycle), self.server.settings().shutdown_timeout);
        tokio::spawn(async move {
            sleep(shutdown_timeout).await;
            lifecycle.end(Ending::ShutdownTimeout);
        });
    }

    /// Stops the remaining calls, and lets the client read the last messages. Blocks.
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

/// Flushes again after the system had no thread for the writer.
async fn flush_again(service: Arc<Service>) {
    loop {
        service.outbox.lack_of_thread().await;
        sleep(THREAD_RETRY_DELAY).await;
        service.outbox.flush();
    }
}

/// Resumes the work that backpressure held back once the client reads again.
async fn go_on_when_relieved(service: Arc<Service>) {
    loop {
        service.outbox.relief().await;
        service.server.relieved();
    }
}
