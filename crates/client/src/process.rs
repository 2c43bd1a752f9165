//! Server process: started in a process group of its own, spoken to line by line, and shut down as the protocol says:
//! its input is closed, then it is sent `TERM`, then it is killed with everything it has started.

use crate::error::Error;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The longest message of a server, in bytes.
const LONGEST_MESSAGE: u64 = 256 * 1024 * 1024;

/// How many messages wait to be read; a server that sends more has to wait itself.
const MOST_UNHEARD: usize = 16;

/// How long to wait for a process that closed its output to exit, to get its status.
const TIMEOUT: Duration = Duration::from_millis(100);

/// How long to wait before checking again whether a process that closed its output is gone.
const LOOK: Duration = Duration::from_millis(2);

/// How long a server may take to exit by itself, and again after it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// The same when we are asked to exit ourselves.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Variables that it gets in addition to ours, or exclusively with `clean`.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether it gets none of our own variables.
    pub clean: bool,
    pub folder: Option<PathBuf>,
    /// Whether its standard error is discarded.
    pub silent: bool,
    /// The destination of its standard error, in place of our own.
    pub errors: Option<Arc<OwnedFd>>,
}

pub struct ServerProcess {
    child: Child,
    /// How it ended, once it is reaped. Its pid may be reused then.
    reaped: Option<ExitStatus>,
    messages: Option<mpsc::Sender<Vec<u8>>>,
    lines: Receiver<Vec<u8>>,
}

impl ServerProcess {
    pub fn start(launch: &Launch) -> Result<Self, Error> {
        let failed = |source| Error::Start { command: launch.program.to_string_lossy().into_owned(), source };
        let mut command = Command::new(&launch.program);
        if launch.clean {
            command.env_clear();
        }
        command.args(&launch.arguments).envs(launch.variables.iter().cloned()).process_group(0);
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if launch.silent {
            command.stderr(Stdio::null());
        }
        if let Some(errors) = &launch.errors {
            command.stderr(errors.try_clone().map_err(failed)?);
        }
        let mut child = command.spawn().map_err(failed)?;
        let (messages, to_write) = mpsc::channel();
        let (read, lines) = channel(MOST_UNHEARD);
        if let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) {
            std::thread::Builder::new()
                .name("to server".into())
                .spawn(move || write_all(&to_write, input))
                .map_err(failed)?;
            std::thread::Builder::new()
                .name("from server".into())
                .spawn(move || read_lines(output, &read))
                .map_err(failed)?;
        }
        Ok(Self { child, reaped: None, messages: Some(messages), lines })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let line = [message, b"\n"].concat();
        let sent = self.messages.as_ref().is_some_and(|messages| messages.send(line).is_ok());
        if sent { Ok(()) } else { Err(self.ended()) }
    }

    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, Error> {
        match self.lines.recv().await {
            Some(line) => Ok(line),
            None => Err(self.ended()),
        }
    }

    /// It has closed its output. The error says how it ended if that is known soon.
    fn ended(&mut self) -> Error {
        let end = Instant::now() + TIMEOUT;
        while !self.has_exited() && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
        if self.reaped.is_none() && self.has_exited() {
            self.signal(Signal::KILL);
            self.reaped = self.child.wait().ok();
        }
        Error::Ended(self.reaped.map(|status| status.to_string()))
    }

    pub(crate) async fn end(mut self) {
        // Its input is closed when the writing thread has written everything.
        self.messages = None;
        if !self.is_gone_within(GRACE).await {
            self.signal(Signal::TERM);
            self.is_gone_within(GRACE).await;
        }
        // Dropping it kills what is left of its group.
    }

    pub(crate) async fn end_now(mut self) {
        self.messages = None;
        self.signal(Signal::TERM);
        self.is_gone_within(SHORT_GRACE).await;
    }

    /// Waits for its output to close, which is the cheapest sign to wait for, and then for the process.
    async fn is_gone_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let output_ended = async { while self.lines.recv().await.is_some() {} };
        let _ = tokio::time::timeout(limit, output_ended).await;
        while !self.has_exited() {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(LOOK).await;
        }
        true
    }

    /// Whether it has exited. It stays a zombie, so that its pid is still that of its group.
    fn has_exited(&self) -> bool {
        if self.reaped.is_some() {
            return true;
        }
        let Some(pid) = self.pid() else { return true };
        let looking = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(pid), looking), Ok(None))
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.pid() {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Until it is reaped, its pid cannot belong to another process or group: processes that it left in its group
        // are killed with it.
        if self.reaped.is_none() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn write_all(messages: &mpsc::Receiver<Vec<u8>>, mut input: ChildStdin) {
    for message in messages {
        if input.write_all(&message).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(output: ChildStdout, lines: &Sender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_MESSAGE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(bytes) if bytes > 0) || lines.blocking_send(line).is_err() {
            return;
        }
    }
}
