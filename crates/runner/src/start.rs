//! From an invocation to a process with pipes to it.

use crate::ask::CallQuestions;
use crate::capture::LARGE;
#[cfg(target_os = "linux")]
use crate::capture::ROOMY;
use crate::launch::Launch;
use crate::side_channel::SideChannel;
use crate::{Input, Invocation};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::pipe::PIPE_BUF;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use tokio::net::unix::pipe::Sender;

/// Our ends of the pipes.
#[derive(Debug)]
pub(crate) struct Pipes<'a> {
    /// There if the pipe did not take all of the input at once, with what is left of it.
    pub(crate) input: Option<(Sender, &'a [u8])>,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
}

/// Gets everything ready for the process of an invocation.
pub(crate) fn prepare<'a>(
    invocation: Invocation<'a>,
    channel: Option<&SideChannel>,
    questions: Option<&CallQuestions>,
) -> io::Result<(Launch, Pipes<'a>)> {
    let mut environment = invocation.environment;
    if let Some(talk) = invocation.talk {
        if let Some(channel) = channel {
            environment.extend(talk.side_channel.iter().map(|variable| (variable, channel.path())));
        }
        if let (Some(questions), Some(variables)) = (questions, talk.questions) {
            environment.extend(variables.into_iter().zip(questions.directions()));
        }
    }
    let (stdin, rest) = match invocation.input {
        Input::Bytes(input) => feed(input)?,
        Input::File(file) => (file.into(), None),
    };
    let (output, stdout) = drain()?;
    let (errors, stderr) = drain()?;
    let streams = [stdin, stdout, stderr];
    let launch =
        Launch::new(&invocation.program, &invocation.arguments, &invocation.directory, environment, streams)?;
    let sender = |(pipe, rest)| Ok::<_, io::Error>((Sender::from_owned_fd_unchecked(pipe)?, rest));
    Ok((launch, Pipes { input: rest.map(sender).transpose()?, output, errors }))
}

/// A pipe to a process, and what is still to be written to it.
type Rest<'a> = (OwnedFd, &'a [u8]);

/// A standard input that holds `input` already, as far as a pipe takes it. What it does not take is written while the
/// process runs; mostly there is no such rest, and nothing to be watched.
fn feed(input: &[u8]) -> io::Result<(OwnedFd, Option<Rest<'_>>)> {
    let (reading, writing) = io::pipe()?;
    if input.is_empty() {
        return Ok((reading.into(), None));
    }
    if input.len() <= PIPE_BUF {
        // So much is always taken at once.
        (&writing).write_all(input)?;
        return Ok((reading.into(), None));
    }
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

/// A pipe from a process: our end, which does not block, and its own.
fn drain() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reading, writing) = io::pipe()?;
    Ok((nonblocking(reading.into())?, writing.into()))
}

fn nonblocking(pipe: OwnedFd) -> io::Result<OwnedFd> {
    ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}
