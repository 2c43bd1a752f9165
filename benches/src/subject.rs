//! Subject: a running server and the pipes to it.

use std::io::Write;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::process::ServerProcess;
use crate::replies::{Line, ReplyLines, is_notification, judge};
use crate::{Failure, Launch, Request};

/// One server process, from its start until it is closed or dropped. Dropping it kills it.
#[derive(Debug)]
pub struct Subject {
    process: ServerProcess,
    stdin: Option<ChildStdin>,
    replies: ReplyLines<ChildStdout>,
    next_id: u32,
    line: Vec<u8>,
}

impl Subject {
    /// Starts the server and returns at once; it may still be loading.
    pub fn start(launch: &Launch) -> Result<Self, Failure> {
        let (process, stdin, stdout) = ServerProcess::start(launch)?;
        let replies = ReplyLines::new(stdout);
        Ok(Self { process, stdin: Some(stdin), replies, next_id: 1, line: Vec::new() })
    }

    /// Starts the server and performs the handshake. Also returns the time from the start of the process
    /// until the `initialize` reply was complete.
    pub fn start_initialized(launch: &Launch) -> Result<(Self, Duration), Failure> {
        let mut subject = Self::start(launch)?;
        subject.call(&Request::initialize())?;
        let elapsed = subject.age();
        subject.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok((subject, elapsed))
    }

    pub fn name(&self) -> &str {
        self.process.name()
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How long ago the process was started.
    pub fn age(&self) -> Duration {
        self.process.age()
    }

    /// Sends one request and waits for its answer. The time runs from just before the request is written
    /// until the answer's line is complete, without checking the answer.
    pub fn call(&mut self, request: &Request) -> Result<Duration, Failure> {
        self.call_checked(request, |_| Ok(()))
    }

    /// The same, with a `check` of the answer's line that returns what is wrong with it.
    pub fn call_checked(
        &mut self,
        request: &Request,
        check: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Duration, Failure> {
        self.converse(request, check, |_| {})
    }

    /// The same, with a callback for the messages before the answer.
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

    /// Waits for a notification with this method and returns its time of arrival. Others are skipped.
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

    /// Closes the server's standard input and waits for it to exit by itself. Returns the time that took.
    pub fn close(mut self) -> Result<Duration, Failure> {
        self.begin_measure();
        let closed = Instant::now();
        drop(self.stdin.take());
        self.process.await_end()?;
        let elapsed = closed.elapsed();
        match self.process.reap() {
            Some(status) if status.success() => Ok(elapsed),
            _ => Err(self.failure("it did not end cleanly when its input was closed")),
        }
    }

    /// A failure of this server, with its exit status and the end of its standard error, if any.
    pub fn failure(&mut self, what: &str) -> Failure {
        self.process.failure(what)
    }

    /// Starts the timeout for one measure.
    pub fn begin_measure(&self) {
        self.process.begin_measure();
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
}
