//! Streams of a launcher: what goes to the other host, and what comes from it.

use crate::frames::{Decoder, Event, Garbled};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender};

/// How many bytes are read at a time.
const PIECE: usize = 64 * 1024;

/// The time between two signs of life. The supervisor ends the tool after three times 15 s without one.
const BEAT: Duration = Duration::from_secs(5);

/// How much of what comes before the output of the tool is held, as from a login script that prints, in bytes.
const LONGEST_PRELUDE: usize = 1024 * 1024;

pub(super) enum ToRemote {
    Bytes(Vec<u8>),
    /// Closes the channel, which ends the tool.
    Close,
}

/// Writes to the other host until the channel is closed.
pub(super) async fn send(mut input: ChildStdin, mut messages: UnboundedReceiver<ToRemote>) {
    while let Some(ToRemote::Bytes(bytes)) = messages.recv().await {
        // If the launcher has ended, its other streams say so.
        if input.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Gives the other host a sign of life from time to time, until the channel is closed.
pub(super) async fn beat(remote: UnboundedSender<ToRemote>) {
    while remote.send(ToRemote::Bytes(b"B\n".to_vec())).is_ok() {
        tokio::time::sleep(BEAT).await;
    }
}

/// Passes the output of the tool on, and counts the pieces that have arrived. It begins after a line with the mark: a login
/// script may print before that.
pub(super) async fn pass_output(mut output: ChildStdout, mark: &str, arrived: &AtomicU64) -> io::Result<()> {
    let start = format!("\n{mark}\n").into_bytes();
    // A line break before the mark, in case nothing comes before it.
    let mut prelude = vec![b'\n'];
    let mut stdout = pipe_of(io::stdout())?;
    let mut piece = vec![0; PIECE];
    loop {
        let count = output.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        arrived.fetch_add(1, Ordering::Relaxed);
        let searched = prelude.len().saturating_sub(start.len());
        prelude.extend_from_slice(&piece[..count]);
        let found = prelude[searched..].windows(start.len()).position(|window| window == start);
        if let Some(at) = found {
            stdout.write_all(&prelude[searched + at + start.len()..]).await?;
            break;
        }
        if prelude.len() > LONGEST_PRELUDE {
            prelude.drain(..prelude.len() - start.len());
        }
    }
    loop {
        let count = output.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        arrived.fetch_add(1, Ordering::Relaxed);
        stdout.write_all(&piece[..count]).await?;
    }
}

/// A standard stream of the bridge, which is a pipe to the runner.
fn pipe_of(stream: impl AsFd) -> io::Result<pipe::Sender> {
    pipe::Sender::from_owned_fd(stream.as_fd().try_clone_to_owned()?)
}

/// Reads standard error of the launcher to its end, as events.
pub(super) async fn read_events(
    mut errors: ChildStderr,
    mark: String,
    events: Sender<Result<Event, Garbled>>,
) {
    let mut decoder = Decoder::new(&mark);
    let mut piece = vec![0; PIECE];
    loop {
        let count = errors.read(&mut piece).await.unwrap_or(0);
        if count == 0 {
            break;
        }
        let mut found = Vec::new();
        let taken = decoder.take(&piece[..count], |event| found.push(event));
        for event in found {
            if events.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if let Err(garbled) = taken {
            let _ = events.send(Err(garbled)).await;
            return;
        }
    }
    let rest = decoder.rest();
    if !rest.is_empty() {
        let _ = events.send(Ok(Event::Text(rest))).await;
    }
}

/// Writes to standard error of the bridge, which is that of the tool for the runner.
pub(super) async fn write_error(text: &[u8]) {
    if let Ok(mut stderr) = pipe_of(io::stderr()) {
        let _ = stderr.write_all(text).await;
    }
}

/// Says what is wrong with the launcher.
pub(super) async fn complain(problem: &str) {
    write_error(format!("launcher: {problem}\n").as_bytes()).await;
}
