//! From an invocation to a process with pipes to it.

use crate::call::Call;
use crate::calls::RunnerId;
use crate::side_channel::SideChannel;
use crate::{Invocation, StartError};
use rustix::io::ioctl_fionbio;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tokio::net::unix::pipe::{Receiver, Sender};

/// Our ends of the three pipes. A process that is given no input has no pipe for it.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) input: Option<Sender>,
    pub(crate) output: Option<Receiver>,
    pub(crate) errors: Option<Receiver>,
}

pub(crate) fn start(
    runner: RunnerId,
    invocation: &Invocation,
    channel: Option<&SideChannel>,
    ended: &AtomicBool,
) -> Result<(Call, Pipes), StartError> {
    let mut command = Command::new(&invocation.program);
    command
        .args(&invocation.arguments)
        .current_dir(&invocation.directory)
        .env_clear()
        .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
        .stdin(if invocation.input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(channel) = channel {
        command.envs(invocation.side_channel.iter().map(|variable| (variable, channel.path())));
    }
    let failed = |source| StartError::Spawn { program: invocation.program.clone(), source };
    let mut call = Call::start(runner, &mut command, ended).map_err(failed)?;
    let pipes = pipes(&mut call).map_err(failed)?;
    Ok((call, pipes))
}

fn pipes(call: &mut Call) -> io::Result<Pipes> {
    let (input, output, errors) = match call.leader() {
        Some(leader) => (leader.stdin.take(), leader.stdout.take(), leader.stderr.take()),
        None => (None, None, None),
    };
    let receiver = |pipe: OwnedFd| nonblocking(pipe).and_then(Receiver::from_owned_fd_unchecked);
    let sender = |pipe: OwnedFd| nonblocking(pipe).and_then(Sender::from_owned_fd_unchecked);
    Ok(Pipes {
        input: input.map(|pipe| sender(pipe.into())).transpose()?,
        output: output.map(|pipe| receiver(pipe.into())).transpose()?,
        errors: errors.map(|pipe| receiver(pipe.into())).transpose()?,
    })
}

fn nonblocking(pipe: OwnedFd) -> io::Result<OwnedFd> {
    ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}
