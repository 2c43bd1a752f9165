//! Pipe setup: turns an invocation into a launch and the pipes to its process.

use crate::ask::CallQuestions;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use crate::capture::ENLARGED_PIPE;
use crate::capture::USUAL_PIPE;
use crate::launch::Launch;
use crate::side_channel::SideChannel;
use crate::{Input, Invocation};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::pipe::PIPE_BUF;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use tokio::net::unix::pipe::Sender;

/// The server's ends of the three pipes.
#[derive(Debug)]
pub(crate) struct Pipes<'a> {
    /// The pipe and the rest of the input, if the pipe could not take all of it before the start.
    pub(crate) input: Option<(Sender, &'a [u8])>,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
}

/// Prepares the start of a process: environment and pipes.
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
            environment.extend(variables.into_iter().zip(questions.variable_values()));
        }
    }
    let (stdin, rest) = match invocation.input {
        Input::Bytes(input) => input_pipe(input)?,
        Input::File(file) => (file.into(), None),
    };
    let (output, stdout) = output_pipe()?;
    let (errors, stderr) = output_pipe()?;
    let streams = [stdin, stdout, stderr];
    let launch = Launch::new(
        &invocation.program,
        &invocation.arguments,
        &invocation.directory,
        environment,
        streams,
        invocation.confinement,
    )?;
    let sender = |(pipe, rest)| Ok::<_, io::Error>((Sender::from_owned_fd_unchecked(pipe)?, rest));
    Ok((launch, Pipes { input: rest.map(sender).transpose()?, output, errors }))
}

/// A pipe to a process, and the bytes that are still to be written to it.
type Rest<'a> = (OwnedFd, &'a [u8]);

/// A pipe for standard input, filled with as much of `input` as it takes. The rest is written while the process runs.
/// Usually there is none, and the runtime has no pipe to watch.
fn input_pipe(input: &[u8]) -> io::Result<(OwnedFd, Option<Rest<'_>>)> {
    let (reading, writing) = io::pipe()?;
    if input.is_empty() {
        return Ok((reading.into(), None));
    }
    if input.len() <= PIPE_BUF {
        // An empty pipe always takes this many bytes without blocking.
        (&writing).write_all(input)?;
        return Ok((reading.into(), None));
    }
    let writing = nonblocking(writing.into())?;
    if input.len() > USUAL_PIPE {
        // If a larger pipe is not allowed, the input is written in more pieces.
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        let _ = rustix::pipe::fcntl_setpipe_size(&writing, input.len().min(ENLARGED_PIPE));
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

/// A pipe for an output of a process: the reading end, which does not block, and the writing end for the
/// process.
pub(crate) fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reading, writing) = io::pipe()?;
    Ok((nonblocking(reading.into())?, writing.into()))
}

pub(crate) fn nonblocking(pipe: OwnedFd) -> io::Result<OwnedFd> {
    ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}
