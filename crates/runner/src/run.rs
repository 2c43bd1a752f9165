//! Starts one process and stays with it to its end.

use crate::capture::{Capture, Read};
use crate::group::{Group, Groups};
use crate::side_channel::SideChannel;
use crate::{Ending, Invocation, Outcome, StartError, StateDir};
use rustix::process::{Pid, Signal};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant as Clock, sleep_until};

/// How long the pipes of a process that has ended may stay open, held by one that left its group.
const LINGER: Duration = Duration::from_millis(100);

/// Runs processes, and knows those that are alive.
#[derive(Debug)]
pub struct Runner {
    groups: Groups,
    state_dir: Arc<StateDir>,
}

impl Runner {
    pub fn new(state_dir: Arc<StateDir>) -> Self {
        Self { groups: Groups::default(), state_dir }
    }

    /// Runs `invocation` to its end, or until `cancelled` completes. `on_line` gets the lines of the side channel
    /// while it runs.
    pub async fn run(
        &self,
        invocation: Invocation,
        cancelled: impl Future<Output = ()>,
        mut on_line: impl FnMut(&[u8]),
    ) -> Result<Outcome, StartError> {
        let mut channel = self.open_side_channel(&invocation)?;
        let mut child = start(&invocation, channel.as_ref())?;
        let group =
            child.id().and_then(|id| Pid::from_raw(id.cast_signed())).map(|pid| self.groups.enter(pid));

        let mut stdout = Capture::new(invocation.output_limit);
        let mut stderr = Capture::new(invocation.error_tail);
        let ending = {
            let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            let reading = async {
                let (output, (), ()) =
                    tokio::join!(stdout.all(pipes.1), stderr.tail(pipes.2), feed(pipes.0, invocation.input),);
                output
            };
            tokio::pin!(reading, cancelled);
            let mut read = None;
            let deadline = Clock::now() + invocation.timeout;
            let why = loop {
                tokio::select! {
                    biased;
                    status = child.wait() => break status.map_or(Ending::Signalled(0), ending_of),
                    () = &mut cancelled => break Ending::Cancelled,
                    () = sleep_until(deadline) => break Ending::TimedOut,
                    output = &mut reading, if read.is_none() => {
                        if output == Read::OverLimit {
                            break Ending::OutputTooLarge;
                        }
                        read = Some(output);
                    }
                    Ok(()) = next_lines(channel.as_mut(), &mut on_line) => {}
                }
            };
            end(&mut child, group, why, invocation.grace).await;
            if read.is_none() && why != Ending::OutputTooLarge {
                // The writers are gone, so what is left in the pipes is all there will be.
                let rest = tokio::time::timeout(LINGER, &mut reading).await;
                if rest == Ok(Read::OverLimit) { Ending::OutputTooLarge } else { why }
            } else {
                why
            }
        };
        if let Some(channel) = &mut channel {
            channel.drain(&mut on_line);
        }
        stderr.cut_to_tail();
        Ok(Outcome { ending, stdout: stdout.bytes, stderr: stderr.bytes })
    }

    /// Ends every process that is alive: `TERM` to all, then `KILL` to what is left after `grace`.
    pub fn end_all(&self, grace: Duration) {
        self.groups.signal_all(Signal::TERM);
        let deadline = Instant::now() + grace;
        while !self.groups.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.groups.signal_all(Signal::KILL);
    }

    fn open_side_channel(&self, invocation: &Invocation) -> Result<Option<SideChannel>, StartError> {
        if invocation.side_channel.is_empty() {
            return Ok(None);
        }
        let path = self.state_dir.fresh("channel").map_err(StartError::SideChannel)?;
        SideChannel::open(path).map(Some).map_err(StartError::SideChannel)
    }
}

fn start(invocation: &Invocation, channel: Option<&SideChannel>) -> Result<Child, StartError> {
    let mut command = Command::new(&invocation.program);
    command
        .args(&invocation.arguments)
        .current_dir(&invocation.directory)
        .env_clear()
        .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
        .stdin(if invocation.input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(channel) = channel {
        command.envs(invocation.side_channel.iter().map(|variable| (variable, channel.path())));
    }
    command.spawn().map_err(|source| StartError::Spawn { program: invocation.program.clone(), source })
}

/// Gives the process its input. One that does not read it is not an error.
async fn feed(pipe: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(&input).await;
    }
}

async fn next_lines(
    channel: Option<&mut SideChannel>,
    on_line: &mut impl FnMut(&[u8]),
) -> std::io::Result<()> {
    match channel {
        Some(channel) => channel.read(on_line).await,
        None => std::future::pending().await,
    }
}

/// Ends what is left of the process and its group.
async fn end(child: &mut Child, group: Option<Group>, why: Ending, grace: Duration) {
    if matches!(why, Ending::TimedOut | Ending::Cancelled | Ending::OutputTooLarge)
        && let Some(group) = &group
    {
        group.terminate();
        if tokio::time::timeout(grace, child.wait()).await.is_err() {
            group.kill();
            let _ = child.wait().await;
        }
    }
    drop(group);
}

fn ending_of(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
    }
}
