//! A server that is a process of its own: started in a process group of its own, spoken to line by line, and ended as the
//! protocol says: its input is closed, then it is told to end, then it is killed with all that it has started.

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

/// A message of a server may have so many bytes.
const LONGEST_MESSAGE: u64 = 256 * 1024 * 1024;

/// So many messages wait to be heard; a server that sends more has to wait itself.
const MOST_UNHEARD: usize = 16;

/// How long to wait for a process that closed its output to exit, for the sake of its status.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait before looking again whether a process that said its last word is gone.
const LOOK: Duration = Duration::from_millis(2);

/// How long a server may take to end by itself, and again when it is told to.
const GRACE: Duration = Duration::from_secs(2);

/// The same where we are told to end ourselves.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Variables that it gets in addition, or instead where `clean` says so.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether it gets none of our own variables.
    pub clean: bool,
    pub folder: Option<PathBuf>,
    /// Whether what it writes on standard error is thrown away.
    pub silent: bool,
    /// Where what it writes on standard error goes, in place of our own.
    pub errors: Option<Arc<OwnedFd>>,
}

pub struct ServerProcess {
    child: Child,
    /// How it ended, once it is reaped. Its number may be another's then.
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

    /// It said its last word. How it ended is told where that is known soon.
    fn ended(&mut self) -> Error {
        let end = Instant::now() + PATIENCE;
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
        // Its input ends when the writing thread has written all.
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

    /// Waits for its output to end, which is the sign that costs nothing to wait for, and then for the process.
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

    /// Whether it has exited. It stays a zombie, so that its number is still that of its group.
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
        // Until it is reaped, its number cannot belong to another process or group: what it left behind in its group goes
        // with it.
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
