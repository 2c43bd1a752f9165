//! Server process, and the threads that move its bytes.

use crate::audit;
use crate::peer::{Outgoing, Peer};
use crate::project::STARTING;
use crate::revision::Revision;
use crate::run::Run;
use crate::violations::{Kind, excerpt};
use crate::word::Word;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The properties in which servers differ.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) number: u32,
    pub(crate) revision: Revision,
    pub(crate) capabilities: Value,
    pub(crate) project: usize,
    pub(crate) settings: Vec<(&'static str, String)>,
}

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pub(crate) peer: Arc<Peer>,
    /// Its temporary folder.
    pub(crate) folder: PathBuf,
    threads: Vec<JoinHandle<()>>,
}

impl Process {
    pub(crate) fn start(run: &Arc<Run>, launch: Launch) -> io::Result<Self> {
        let folder = run.temporary.join(launch.number.to_string());
        std::fs::create_dir(&folder)?;
        let mut command = Command::new(&run.binary);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MCP") {
                command.env_remove(name);
            }
        }
        command
            .arg("--project-root")
            .arg(run.projects[launch.project].root())
            .env("TMPDIR", &folder)
            // Scripts inherit it, so every process shows its owner.
            .env("MCPBASH_SOAK_SERVER", Word { server: launch.number, call: 0 }.to_string())
            .env("MCPBASH_SOAK_TRACES", &run.traces)
            .env("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "1048576")
            .env("MCPBASH_SECRETS_FILE", &run.secrets)
            .envs(audit::settings(&run.audit_log))
            .envs(launch.settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = command.spawn()?;
        let (outgoing, lines) = channel();
        let peer = Peer::new(
            Arc::clone(run),
            launch.number,
            launch.revision,
            launch.capabilities,
            launch.project,
            child.id(),
            outgoing,
        );
        let peer = Arc::new(peer);
        run.enter(Arc::clone(&peer));
        drop(alone);
        let mut threads = Vec::new();
        if let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            let for_thread = || Arc::clone(&peer);
            threads.push(spawn(for_thread(), move |peer| write_all(peer, input, &lines)));
            threads.push(spawn(for_thread(), move |peer| read_all(peer, output)));
            threads.push(spawn(for_thread(), move |peer| read_errors(peer, errors)));
        }
        Ok(Self { child, peer, folder, threads })
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal_process(self.peer.pid, signal);
    }

    /// Waits for the server to exit and for its output to be read. `None` if it does not exit.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                Ok(None) | Err(_) => return None,
            }
        };
        self.peer.close_input();
        self.join(deadline);
        Some(status)
    }

    /// Waits for the threads, which end with the pipes. If a pipe stays open, a leftover process holds it.
    fn join(&mut self, deadline: Instant) {
        while self.threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

pub(crate) fn signal_process(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, signal);
    }
}

fn spawn(peer: Arc<Peer>, work: impl FnOnce(&Peer) + Send + 'static) -> JoinHandle<()> {
    thread::spawn(move || work(&peer))
}

fn write_all(peer: &Peer, mut input: ChildStdin, lines: &Receiver<Outgoing>) {
    let note = |since| *peer.writing_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    while let Ok(Outgoing::Line(line)) = lines.recv() {
        note(Some(Instant::now()));
        let written = input.write_all(&line);
        note(None);
        if written.is_err() {
            break;
        }
    }
}

/// Reads lines until the output ends, or should be closed.
fn read_all(peer: &Peer, mut output: ChildStdout) {
    const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    let (mut pending, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    while !peer.closes_output.load(Ordering::Acquire) {
        if peer.is_paused() {
            thread::sleep(Duration::from_millis(5));
            continue;
        }
        if poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&MOMENT)) == Ok(0) {
            continue;
        }
        match output.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => take_lines(peer, &mut pending, &buffer[..count]),
        }
    }
    if !pending.is_empty() && !peer.is_forced.load(Ordering::Acquire) {
        let rest = excerpt(&String::from_utf8_lossy(&pending));
        peer.violation(Kind::NotJson, &format!("the output ends within a line: {rest}"));
    }
    drop(output);
    peer.output_ended.store(true, Ordering::Release);
}

fn take_lines(peer: &Peer, pending: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        pending.extend_from_slice(&rest[..end]);
        peer.take_line(pending);
        pending.clear();
        rest = &rest[end + 1..];
    }
    pending.extend_from_slice(rest);
}

fn read_errors(peer: &Peer, mut errors: ChildStderr) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        peer.note_errors(&buffer[..count]);
    }
}
