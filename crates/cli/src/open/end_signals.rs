//! Exit signals: the signals that ask a command to exit, and what terminates it if it does not react.
//!
//! A command with processes to terminate and files to remove catches the signals and exits by itself. It may be blocked by
//! then: by a pipe that is not read, or a file system that does not answer. So a thread that does nothing else sees the
//! signals too, and exits the process if the command has not exited within [`GRACE`]. The warden terminates what is left of
//! its calls.

use crate::base::error::Error;
use crate::base::exit::Exit;
use std::io;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long a command may take to exit. Its own timeouts are shorter.
const GRACE: Duration = Duration::from_millis(1700);

/// Enough for a thread that waits.
const STACK: usize = 256 * 1024;

static WATCHED: Once = Once::new();

/// When the command last handled Ctrl-C and went on, as it may.
static WENT_ON: Mutex<Option<Instant>> = Mutex::new(None);

/// How much later than the command the thread may see a signal.
const SLACK: Duration = Duration::from_millis(500);

pub(crate) struct EndSignals {
    signals: Signals,
    is_told_to_end: bool,
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl EndSignals {
    pub(crate) fn catch(runtime: &Runtime) -> Result<Self, Error> {
        let _inside = runtime.enter();
        let signals = Signals::catch().map_err(|source| Error::Start { source })?;
        // Without the thread, only `KILL` terminates a blocked command.
        WATCHED.call_once(|| {
            let _ = std::thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(watch);
        });
        Ok(Self { signals, is_told_to_end: false })
    }

    pub(crate) async fn next(&mut self) {
        self.is_told_to_end |= self.signals.next().await != SignalKind::interrupt();
    }

    /// Whether a signal other than Ctrl-C has come, which means the whole process and not just the pending request.
    pub(crate) fn is_told_to_end(&self) -> bool {
        self.is_told_to_end
    }

    /// Lets the command go on after Ctrl-C: the user meant only the pending request.
    pub(crate) fn go_on() {
        *WENT_ON.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl Signals {
    fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.hangup.recv() => SignalKind::hangup(),
        }
    }
}

/// Exits the process some time after a signal, unless the command has gone on since.
fn watch() {
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let Ok(mut signals) = Signals::catch() else { return };
        loop {
            signals.next().await;
            let came = Instant::now();
            tokio::spawn(async move {
                tokio::time::sleep(GRACE).await;
                let went_on = *WENT_ON.lock().unwrap_or_else(PoisonError::into_inner);
                if went_on.is_none_or(|went_on| went_on + SLACK < came) {
                    std::process::exit(Exit::Interrupted.number().into());
                }
            });
        }
    });
}
