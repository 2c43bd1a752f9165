//! Server process: its start, its watchdog, its exit, and its standard error when it fails.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::watchdog::Watch;
use crate::{Failure, Launch};

/// The timeout of a server for one measure. Even on a busy machine the slowest takes a few seconds.
const TIMEOUT: Duration = Duration::from_secs(60);

/// One process, from its start until it exits or this is dropped, which kills it.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    name: String,
    pid: Pid,
    child: Child,
    /// An unnamed file with the server's standard error, quoted when it fails.
    stderr: File,
    started: Instant,
    watch: Option<Watch>,
}

impl ServerProcess {
    /// Starts the server and returns at once, with the pipes to it; it may still be loading.
    pub(crate) fn start(launch: &Launch) -> Result<(Self, ChildStdin, ChildStdout), Failure> {
        let fail = |error: io::Error| Failure::new(launch.name(), format!("it cannot be started: {error}"));
        let stderr = tempfile::tempfile().map_err(fail)?;
        let mut command = launch.command(stderr.try_clone().map_err(fail)?);
        let started = Instant::now();
        let mut child = command.spawn().map_err(fail)?;
        let pid = Pid::from_child(&child);
        let pipes = (child.stdin.take(), child.stdout.take());
        let watch = Some(Watch::start(pid, TIMEOUT));
        let process = Self { name: launch.name().to_owned(), pid, child, stderr, started, watch };
        let (Some(stdin), Some(stdout)) = pipes else {
            return Err(Failure::new(launch.name(), "its pipes are missing"));
        };
        Ok((process, stdin, stdout))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How long ago the process was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Starts the timeout for one measure.
    pub(crate) fn begin_measure(&self) {
        if let Some(watch) = &self.watch {
            watch.renew(TIMEOUT);
        }
    }

    /// Waits until the process has exited. It is not reaped, so that the watchdog can still kill it safely.
    pub(crate) fn await_end(&mut self) -> Result<(), Failure> {
        let waited = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        waited.map(drop).map_err(|error| self.failure(&format!("waiting for its end: {error}")))
    }

    /// The exit status of a process that has exited.
    pub(crate) fn reap(&mut self) -> Option<ExitStatus> {
        drop(self.watch.take());
        self.child.wait().ok()
    }

    /// A failure of this server, with its exit status and the end of its standard error, if any.
    pub(crate) fn failure(&mut self, what: &str) -> Failure {
        let overdue = self.watch.as_ref().is_some_and(Watch::is_overdue);
        let what = match self.status_soon() {
            Some(_) if overdue => format!("it took more than {TIMEOUT:?} and was killed"),
            Some(status) => format!("{what} ({status})"),
            None => format!("{what} (it is still running)"),
        };
        let words = self.last_words();
        let words =
            if words.is_empty() { words } else { format!("; its standard error ends with:\n{words}") };
        Failure::new(&self.name, format!("{what}{words}"))
    }

    /// Whether the process has exited. It is not reaped.
    pub(crate) fn has_ended(&self) -> bool {
        let ended = waitid(
            WaitId::Pid(self.pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG,
        );
        !matches!(ended, Ok(None))
    }

    /// The server's standard error, or the end of it if it is long.
    pub(crate) fn last_words(&self) -> String {
        const ENOUGH: u64 = 2000;
        let length = self.stderr.metadata().map_or(0, |metadata| metadata.len());
        let mut bytes = vec![0; usize::try_from(length.min(ENOUGH)).unwrap_or_default()];
        // Read with an offset: the server writes at the position that the two share. If it cannot be read it
        // is left out; the failure itself is still reported.
        let count = self.stderr.read_at(&mut bytes, length.saturating_sub(ENOUGH)).unwrap_or_default();
        bytes.truncate(count);
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }

    /// The exit status, if the process has exited or is about to.
    fn status_soon(&mut self) -> Option<ExitStatus> {
        // A dying process closes its pipes shortly before it can be waited for.
        for _ in 0..50 {
            if self.has_ended() {
                return self.reap();
            }
            thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.watch.take());
        // Both fail only if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
