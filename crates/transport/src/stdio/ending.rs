//! The ways a server ends, and the one place where it does.

use super::outbox::Outbox;
use mcp_bash_server::{Connection, Server};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

/// Why a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The client closed our input; what it had asked is answered.
    EndOfInput,
    /// The client said `exit`.
    Exit,
    /// The client said `shutdown`, and `exit` did not come in time.
    ShutdownTimeout,
    Signal(i32),
    /// The client closed our output: nobody will hear an answer.
    OutputClosed,
    /// The process that started us is gone.
    ParentDied,
    /// The client has not said anything for too long.
    Idle,
}

impl Ending {
    /// The status the process ends with: shells know a death by a signal as 128 and its number.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Signal(number) => 128 + number,
            _ => 0,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::EndOfInput => "end of input",
            Self::Exit => "the client said exit",
            Self::ShutdownTimeout => "shutdown timeout: exit did not come in time",
            Self::Signal(_) => "ended by a signal",
            Self::OutputClosed => "the client closed our output",
            Self::ParentDied => "the process that started us is gone",
            Self::Idle => "idle timeout: no message from the client",
        }
    }

    fn level(self) -> LogLevel {
        match self {
            Self::EndOfInput | Self::Exit => LogLevel::Debug,
            Self::ShutdownTimeout | Self::Idle => LogLevel::Warning,
            Self::Signal(_) | Self::OutputClosed | Self::ParentDied => LogLevel::Notice,
        }
    }
}

/// How long scripts may take to end when the server has to.
const GRACE: Duration = Duration::from_millis(500);

/// How often to look whether a client has gone on reading.
const LOOK: Duration = Duration::from_secs(1);

/// How long a client may leave our last words unread.
const PATIENCE: Duration = Duration::from_secs(5);

/// Everything that has to be ended.
pub(super) struct Finish {
    server: Arc<Server>,
    connection: Arc<Connection>,
    outbox: Arc<Outbox>,
    ended: AtomicBool,
}

impl Finish {
    pub(super) fn new(server: Arc<Server>, connection: Arc<Connection>, outbox: Arc<Outbox>) -> Self {
        Self { server, connection, outbox, ended: AtomicBool::new(false) }
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The input has ended: what is in flight is finished first. Each call has its own deadline. Some wait until the client
    /// reads, so that one that does not read either has to be given up.
    pub(super) fn after_input(&self) -> ! {
        while !self.connection.finish(Some(Instant::now() + LOOK)) {
            if self.outbox.is_stuck(PATIENCE) {
                break;
            }
        }
        self.end(Ending::EndOfInput)
    }

    /// The client wants to be rid of us: what is in flight gets as long as the shutdown may take.
    pub(super) fn after_exit(&self) -> ! {
        self.connection.finish(Some(Instant::now() + self.server.settings().shutdown_timeout));
        self.end(Ending::Exit)
    }

    pub(super) fn start_shutdown_timer(self: &Arc<Self>) {
        let finish = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(finish.server.settings().shutdown_timeout).await;
            let _ = finish.aside(|finish| finish.end(Ending::ShutdownTimeout)).await;
        });
    }

    /// Ends the process from another thread: to end is to wait, and this one must stay able to see children go.
    pub(super) async fn aside(
        self: &Arc<Self>,
        end: impl FnOnce(&Self) -> Infallible + Send + 'static,
    ) -> io::Result<Infallible> {
        let finish = Arc::clone(self);
        Ok(spawn_blocking(move || end(&finish)).await?)
    }

    /// Ends the process. The first caller decides; later ones wait for it to happen.
    pub(super) fn end(&self, ending: Ending) -> ! {
        if self.ended.swap(true, Ordering::AcqRel) {
            loop {
                std::thread::park();
            }
        }
        self.server.log().event(ending.level(), "mcp.lifecycle", ending.describe(), &json!({}));
        self.connection.abandon();
        self.server.end(GRACE);
        if matches!(ending, Ending::EndOfInput | Ending::Exit | Ending::ShutdownTimeout | Ending::Idle) {
            self.outbox.finish(PATIENCE);
        }
        std::process::exit(ending.exit_code());
    }
}

/// Ends the server on the signals that ask for it.
pub(super) fn await_signals(finish: &Arc<Finish>) -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let mut signals = signal(kind)?;
        let finish = Arc::clone(finish);
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                let _ = finish.aside(move |finish| finish.end(Ending::Signal(kind.as_raw_value()))).await;
            }
        });
    }
    Ok(())
}
