//! From an invocation to a process with pipes to it.

use crate::call::Call;
use crate::calls::RunnerId;
use crate::capture::{LARGE, ROOMY};
use crate::desk::Place;
use crate::side_channel::SideChannel;
use crate::{Invocation, StartError};
use rustix::io::{Errno, ioctl_fionbio};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tokio::net::unix::pipe::Sender;

/// Our ends of the pipes.
#[derive(Debug)]
pub(crate) struct Pipes<'a> {
    /// There if the pipe did not take all of the input at once, with what is left of it.
    pub(crate) input: Option<(Sender, &'a [u8])>,
    pub(crate) output: Option<OwnedFd>,
    pub(crate) errors: Option<OwnedFd>,
}

pub(crate) fn start<'a>(
    runner: RunnerId,
    invocation: &Invocation<'a>,
    channel: Option<&SideChannel>,
    questions: Option<&Place>,
    ended: &AtomicBool,
) -> Result<(Call, Pipes<'a>), StartError> {
    let failed = |source| StartError::Spawn { program: invocation.program.clone(), source };
    let (stdin, input) = feed(invocation.input).map_err(failed)?;
    let mut command = Command::new(&invocation.program);
    command
        .args(&invocation.arguments)
        .current_dir(&invocation.directory)
        .env_clear()
        .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(channel) = channel {
        command.envs(invocation.side_channel.iter().map(|variable| (variable, channel.path())));
    }
    if let (Some(place), Some(variables)) = (questions, invocation.questions) {
        command.envs(variables.into_iter().zip(place.directions()));
    }
    let mut call = Call::start(runner, &mut command, ended).map_err(failed)?;
    let pipes = pipes(&mut call, input).map_err(failed)?;
    Ok((call, pipes))
}

/// A pipe to a process, and what is still to be written to it.
type Rest<'a> = (OwnedFd, &'a [u8]);

/// A standard input that holds `input` already, as far as a pipe takes it. What it does not take is written while the
/// process runs; mostly there is no such rest, and nothing to be watched.
fn feed(input: &[u8]) -> io::Result<(Stdio, Option<Rest<'_>>)> {
    if input.is_empty() {
        return Ok((Stdio::null(), None));
    }
    let (reading, writing) = io::pipe()?;
    let writing = nonblocking(writing.into())?;
    if input.len() > LARGE {
        // Where that is not allowed, it takes more turns.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&writing, input.len().min(ROOMY));
    }
    let mut taken = 0;
    while taken < input.len() {
        match rustix::io::write(&writing, &input[taken..]) {
            Ok(count) => taken += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let rest = (taken < input.len()).then(|| (writing, &input[taken..]));
    Ok((reading.into(), rest))
}

fn pipes<'a>(call: &mut Call, input: Option<Rest<'a>>) -> io::Result<Pipes<'a>> {
    let (output, errors) = match call.leader() {
        Some(leader) => (leader.stdout.take(), leader.stderr.take()),
        None => (None, None),
    };
    let sender = |(pipe, rest)| Ok::<_, io::Error>((Sender::from_owned_fd_unchecked(pipe)?, rest));
    Ok(Pipes {
        input: input.map(sender).transpose()?,
        output: output.map(|pipe| nonblocking(pipe.into())).transpose()?,
        errors: errors.map(|pipe| nonblocking(pipe.into())).transpose()?,
    })
}

fn nonblocking(pipe: OwnedFd) -> io::Result<OwnedFd> {
    ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}
