//! A running server and the pipes to it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::replies::{Line, ReplyLines, is_notification, judge};
use crate::watchdog::Watch;
use crate::{Failure, Launch, Request};

/// How long a server may take over one measure. Even on a busy machine the slowest takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// One server process, from its start until it is closed or dropped. Dropping it kills it.
#[derive(Debug)]
pub struct Subject {
    name: String,
    pid: Pid,
    child: Child,
    stdin: Option<ChildStdin>,
    replies: ReplyLines<ChildStdout>,
    /// An unnamed file with what the server said on its standard error, quoted when it fails.
    stderr: File,
    started: Instant,
    next_id: u32,
    line: Vec<u8>,
    watch: Option<Watch>,
}

impl Subject {
    /// Starts the server and returns at once; it may still be loading.
    pub fn start(launch: &Launch) -> Result<Self, Failure> {
        let fail = |error: io::Error| Failure::new(launch.name(), format!("it cannot be started: {error}"));
        let stderr = tempfile::tempfile().map_err(fail)?;
        let mut command = launch.command(stderr.try_clone().map_err(fail)?);
        let started = Instant::now();
        let mut child = command.spawn().map_err(fail)?;
        let pid = Pid::from_child(&child);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new(launch.name(), "its pipes are missing"));
        };
        Ok(Self {
            name: launch.name().to_owned(),
            pid,
            child,
            stdin: Some(stdin),
            replies: ReplyLines::new(stdout),
            stderr,
            started,
            next_id: 1,
            line: Vec::new(),
            watch: Some(Watch::start(pid, PATIENCE)),
        })
    }

    /// Starts the server and greets it. Also returns the time from the start of the process until the
    /// `initialize` reply was complete.
    pub fn start_initialized(launch: &Launch) -> Result<(Self, Duration), Failure> {
        let mut subject = Self::start(launch)?;
        subject.call(&Request::initialize())?;
        let elapsed = subject.started.elapsed();
        subject.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok((subject, elapsed))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How long ago the process was started.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Sends one request and waits for its answer. The time is taken from just before the request is written
    /// until the answer's line is complete; checking the answer is not part of it.
    pub fn call(&mut self, request: &Request) -> Result<Duration, Failure> {
        self.call_checked(request, |_| Ok(()))
    }

    /// The same, with a `check` of the answer's line that says what is wrong with it.
    pub fn call_checked(
        &mut self,
        request: &Request,
        check: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Duration, Failure> {
        self.converse(request, check, |_| {})
    }

    /// The same, with somebody who hears what is said before the answer.
    pub fn call_listening(
        &mut self,
        request: &Request,
        hear: impl FnMut(&[u8]),
    ) -> Result<Duration, Failure> {
        self.converse(request, |_| Ok(()), hear)
    }

    fn converse(
        &mut self,
        request: &Request,
        mut check: impl FnMut(&[u8]) -> Result<(), String>,
        mut hear: impl FnMut(&[u8]),
    ) -> Result<Duration, Failure> {
        let id = self.reserve_ids(1);
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        request.write_line(id, &mut line);
        let sent = Instant::now();
        self.send(&line)?;
        self.line = line;
        loop {
            let (elapsed, judged) = match self.replies.next_line() {
                Ok(line) => {
                    let (elapsed, judged) = (sent.elapsed(), judge(line));
                    if judged == Ok(Line::Unasked) {
                        hear(line);
                    }
                    let owed = judged == Ok(Line::Answer(id));
                    (elapsed, if owed { check(line).and(judged) } else { judged })
                }
                Err(error) => return Err(self.failure(&error.to_string())),
            };
            match judged {
                Ok(Line::Answer(answered)) if answered == id => return Ok(elapsed),
                Ok(Line::Unasked) => {}
                Ok(Line::Answer(other)) => {
                    return Err(self.failure(&format!("it answered request {other}, not {id}")));
                }
                Err(what) => return Err(self.failure(&what)),
            }
        }
    }

    /// Waits for a notification with this method and returns when it came. Others are passed over.
    pub fn await_notification(&mut self, method: &str) -> Result<Instant, Failure> {
        self.begin_measure();
        loop {
            let notified = match self.replies.next_line() {
                Ok(line) => (Instant::now(), is_notification(line, method)),
                Err(error) => return Err(self.failure(&error.to_string())),
            };
            if let (at, true) = notified {
                return Ok(at);
            }
        }
    }

    /// Closes the server's standard input and waits for it to end by itself. Returns how long that took.
    pub fn close(mut self) -> Result<Duration, Failure> {
        self.begin_measure();
        let closed = Instant::now();
        drop(self.stdin.take());
        // The process is left unreaped at first, so that the watchdog can still end it safely.
        let waited = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let elapsed = closed.elapsed();
        waited.map_err(|error| self.failure(&format!("waiting for its end: {error}")))?;
        match self.reap() {
            Some(status) if status.success() => Ok(elapsed),
            _ => Err(self.failure("it did not end cleanly when its input was closed")),
        }
    }

    /// A failure of this server, with its exit status and its last words where there are any.
    pub fn failure(&mut self, what: &str) -> Failure {
        let overdue = self.watch.as_ref().is_some_and(Watch::is_overdue);
        let what = match self.status_soon() {
            Some(_) if overdue => format!("it took more than {PATIENCE:?} and was killed"),
            Some(status) => format!("{what} ({status})"),
            None => format!("{what} (it is still running)"),
        };
        let words = self.last_words();
        let words =
            if words.is_empty() { words } else { format!("; its standard error ends with:\n{words}") };
        Failure::new(&self.name, format!("{what}{words}"))
    }

    /// Starts the server's time for one measure.
    pub fn begin_measure(&self) {
        if let Some(watch) = &self.watch {
            watch.renew(PATIENCE);
        }
    }

    /// Takes `count` fresh request ids and returns the first.
    pub(crate) fn reserve_ids(&mut self, count: u32) -> u32 {
        let first = self.next_id;
        self.next_id += count;
        first
    }

    /// Both pipes at once, for a measure that writes and reads in two threads.
    pub(crate) fn pipes(&mut self) -> Option<(&mut ChildStdin, &mut ReplyLines<ChildStdout>)> {
        Some((self.stdin.as_mut()?, &mut self.replies))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(stdin) = self.stdin.as_mut() else { return Err(self.failure("its input is closed")) };
        match stdin.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.failure(&format!("it takes no more input: {error}"))),
        }
    }

    /// The exit status, if the process has ended or is about to.
    fn status_soon(&mut self) -> Option<ExitStatus> {
        // A dying process closes its pipes a little before it can be waited for.
        for _ in 0..50 {
            let ended = waitid(
                WaitId::Pid(self.pid),
                WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG,
            );
            if !matches!(ended, Ok(None)) {
                return self.reap();
            }
            thread::sleep(Duration::from_millis(10));
        }
        None
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        drop(self.watch.take());
        self.child.wait().ok()
    }

    fn last_words(&mut self) -> String {
        const ENOUGH: u64 = 2000;
        let mut bytes = Vec::new();
        let length = self.stderr.metadata().map_or(0, |metadata| metadata.len());
        if self.stderr.seek(SeekFrom::Start(length.saturating_sub(ENOUGH))).is_ok() {
            // Words that cannot be read are words left out; the failure itself is reported all the same.
            let _ = (&self.stderr).take(ENOUGH).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        drop(self.watch.take());
        // Both fail only on a process that is already gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
