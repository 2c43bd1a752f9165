//! One call, from the first command to the last.

use super::failure::Failure;
use super::local;
use super::payload;
use super::questions::Asking;
use super::streams::{self, ToRemote};
use crate::boot;
use crate::frames::{Event, Garbled};
use crate::plan::{Plan, Report};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{self, Receiver, UnboundedSender};
use tokio::time::{Instant, sleep_until, timeout};

/// The exit code of a call that was cancelled: that of a process which `TERM` has ended.
const CANCELLED: u8 = 143;

/// How long the other host may take to end a tool when the channel is closed.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a launcher may take to end after the tool and its output, and how long the next piece of output may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs the call, and returns the exit code of the tool.
pub(super) async fn conduct(plan: &Plan, report: &mut Report) -> Result<u8, Failure> {
    let mut stop = signal(SignalKind::terminate())?;
    let payload = payload::build(plan)?;
    for step in &plan.commands.before {
        let ran = tokio::select! {
            biased;
            _ = stop.recv() => Err(Failure::Cancelled),
            ran = local::run(step) => ran,
        };
        if let Err(failure) = ran {
            local::run_last(plan.commands.after.as_ref()).await;
            return Err(failure);
        }
    }
    let ended = match Call::start(plan, payload) {
        Ok(call) => call.follow(plan, report, &mut stop).await,
        Err(failure) => Err(failure),
    };
    local::run_last(plan.commands.after.as_ref()).await;
    ended
}

/// A call whose launcher was started.
struct Call {
    child: Child,
    events: Receiver<Result<Event, Garbled>>,
    remote: UnboundedSender<ToRemote>,
    output: tokio::task::JoinHandle<std::io::Result<()>>,
    /// How many pieces of output have arrived.
    arrived: Arc<AtomicU64>,
    lines: Option<pipe::Sender>,
    payload: Option<Vec<u8>>,
    phase: Phase,
    /// The last text of the launcher and of the tool on standard error.
    said: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No shell on the other host has answered yet.
    Reaching,
    Sending,
    Running,
}

impl Call {
    fn start(plan: &Plan, payload: Vec<u8>) -> Result<Self, Failure> {
        let mut child = local::start(&plan.commands.run)?;
        let missing = || Failure::Io(std::io::Error::other("a stream of the launcher is missing"));
        let (input, output) =
            (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let errors = child.stderr.take().ok_or_else(missing)?;
        let (remote, messages) = mpsc::unbounded_channel();
        let (found, events) = mpsc::channel(64);
        let supervisor = boot::supervisor(&plan.mark, &plan.id, plan.temporary.as_deref());
        let _ = remote.send(ToRemote::Bytes(supervisor.into_bytes()));
        tokio::spawn(streams::send(input, messages));
        tokio::spawn(streams::read_events(errors, plan.mark.clone(), found));
        let (mark, arrived) = (plan.mark.clone(), Arc::<AtomicU64>::default());
        let counted = Arc::clone(&arrived);
        let output = tokio::spawn(async move { streams::pass_output(output, &mark, &counted).await });
        // The runner holds the other end open.
        let side_channel = std::env::var_os("MCP_LOG_STREAM");
        let lines = side_channel.and_then(|path| pipe::OpenOptions::new().open_sender(path).ok());
        let (payload, phase, said) = (Some(payload), Phase::Reaching, Vec::new());
        Ok(Self { child, events, remote, output, arrived, lines, payload, phase, said })
    }

    /// Follows the call to its end.
    async fn follow(mut self, plan: &Plan, report: &mut Report, stop: &mut Signal) -> Result<u8, Failure> {
        let mut give_up: Option<Instant> = None;
        let code = loop {
            let deadline = give_up.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            let event = tokio::select! {
                biased;
                _ = stop.recv(), if give_up.is_none() => {
                    let _ = self.remote.send(ToRemote::Close);
                    // A job that waits in a queue reads nothing.
                    let has_shell = self.phase != Phase::Reaching;
                    give_up = Some(Instant::now() + if has_shell { END_TIMEOUT } else { Duration::ZERO });
                    continue;
                }
                () = sleep_until(deadline), if give_up.is_some() => break None,
                event = self.events.recv() => event,
            };
            match event {
                None => break None,
                Some(Err(garbled)) => {
                    self.abandon(plan).await;
                    return Err(garbled.into());
                }
                Some(Ok(Event::Exited(code))) => break Some(code),
                Some(Ok(Event::Refused(words))) => {
                    self.abandon(plan).await;
                    return Err(Failure::Refused(words));
                }
                Some(Ok(event)) => self.attend(event, report).await,
            }
        };
        match code {
            Some(code) => {
                self.close().await;
                Ok(if give_up.is_some() { CANCELLED } else { u8::try_from(code).unwrap_or(u8::MAX) })
            }
            None if give_up.is_some() => {
                self.abandon(plan).await;
                Ok(CANCELLED)
            }
            None => Err(self.lost(plan).await),
        }
    }

    async fn attend(&mut self, event: Event, report: &mut Report) {
        match event {
            Event::Hello(node) => {
                report.node = Some(node).filter(|node| !node.is_empty());
                self.phase = Phase::Sending;
                if let Some(payload) = self.payload.take() {
                    let size = format!("{}\n", payload.len()).into_bytes();
                    let _ = self.remote.send(ToRemote::Bytes(size));
                    let _ = self.remote.send(ToRemote::Bytes(payload));
                }
            }
            Event::Started => {
                self.phase = Phase::Running;
                tokio::spawn(streams::beat(self.remote.clone()));
            }
            Event::Text(text) => {
                if self.phase == Phase::Running {
                    streams::write_error(&text).await;
                }
                self.said.extend_from_slice(&text);
                let extra = self.said.len().saturating_sub(8192);
                self.said.drain(..extra);
            }
            Event::Line(line) => {
                if let Some(lines) = &mut self.lines {
                    // The runner reads until the call has ended.
                    let _ = lines.write_all(&[&line[..], b"\n"].concat()).await;
                }
            }
            Event::Question(number, question) => {
                let asking = Asking::from_environment();
                tokio::spawn(Asking::put(asking, number, question, self.remote.clone()));
            }
            Event::OwnError(text) => {
                if let Some(path) = std::env::var_os("MCP_TOOL_ERROR_FILE") {
                    let _ = mcp_bash_files::write_whole(path.as_ref(), &text);
                }
            }
            // The caller has handled them.
            Event::Refused(_) | Event::Exited(_) => {}
        }
    }

    /// The tool has ended: the launcher is about to, and the rest of the output arrives. However slow the line is, none of it
    /// is cut off.
    async fn close(mut self) {
        let _ = self.remote.send(ToRemote::Close);
        loop {
            let before = self.arrived.load(Ordering::Relaxed);
            if timeout(CLOSE_TIMEOUT, &mut self.output).await.is_ok() {
                break;
            }
            if self.arrived.load(Ordering::Relaxed) == before {
                return local::kill(&mut self.child).await;
            }
        }
        if timeout(CLOSE_TIMEOUT, self.child.wait()).await.is_err() {
            local::kill(&mut self.child).await;
        }
    }

    /// Ends the call by force.
    async fn abandon(&mut self, plan: &Plan) {
        let _ = self.remote.send(ToRemote::Close);
        local::run_last(plan.commands.cancel.as_ref()).await;
        local::kill(&mut self.child).await;
    }

    /// The launcher has ended, or has closed its standard error, without a word about the tool.
    async fn lost(mut self, plan: &Plan) -> Failure {
        let program = plan.commands.run[0].clone();
        let status = match timeout(END_TIMEOUT, self.child.wait()).await {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => return error.into(),
            Err(_) => {
                self.abandon(plan).await;
                return Failure::Io(std::io::Error::other(format!(
                    "`{program}` has closed its standard error"
                )));
            }
        };
        local::run_last(plan.commands.cancel.as_ref()).await;
        let words = local::last_words(&self.said);
        if self.phase == Phase::Running {
            return Failure::Lost { program, status, words };
        }
        Failure::NotReached { program, status, words }
    }
}
