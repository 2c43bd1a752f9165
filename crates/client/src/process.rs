//! A server that is a process of its own: started in a process group of its own, spoken to line by line, and ended as the
//! protocol says: its input is closed, then it is told to end, then it is killed with all that it has started.

use crate::error::Error;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A message of a server may have so many bytes.
const LONGEST_MESSAGE: u64 = 256 * 1024 * 1024;

/// How long a server may take to end by itself, and again when it is told to.
const GRACE: Duration = Duration::from_secs(2);

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
    messages: Option<mpsc::Sender<Vec<u8>>>,
    lines: UnboundedReceiver<Vec<u8>>,
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
        let (read, lines) = unbounded_channel();
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
        Ok(Self { child, messages: Some(messages), lines })
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

    fn ended(&mut self) -> Error {
        Error::Ended(self.child.try_wait().ok().flatten().map(|status| status.to_string()))
    }

    pub(crate) async fn end(mut self) {
        // Its input ends when the writing thread has written all.
        self.messages = None;
        if self.is_gone_within(GRACE).await {
            return;
        }
        self.signal(Signal::TERM);
        // Dropping it kills what is left.
        self.is_gone_within(GRACE).await;
    }

    /// Waits for its output to end, which is the sign that costs nothing to wait for, and reaps it.
    async fn is_gone_within(&mut self, limit: Duration) -> bool {
        let output_ended = async { while self.lines.recv().await.is_some() {} };
        let _ = tokio::time::timeout(limit, output_ended).await;
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Until it is reaped, its number cannot belong to another process.
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
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

fn read_lines(output: ChildStdout, lines: &UnboundedSender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_MESSAGE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(bytes) if bytes > 0) || lines.send(line).is_err() {
            return;
        }
    }
}
