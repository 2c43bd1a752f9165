//! Frame sender: writes frames to the standard input of a worker, as far as the pipe takes them. The rest is queued
//! until the worker reads, and is written by the task that watches the worker.

use mcp_bash_budget::Charge;
use parking_lot::Mutex;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};
use thiserror::Error;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

/// The worker has not received the frame, and never will.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the worker does not read its standard input any more")]
pub struct NotTaken;

/// The writing end of the standard input of a worker.
#[derive(Debug)]
pub struct FrameSender {
    state: Mutex<Sending>,
    /// Notified when there is something to write for the task that watches the worker, or the pipe is broken.
    changed: Notify,
}

#[derive(Debug)]
struct Sending {
    pipe: Pipe,
    waiting: VecDeque<Waiting>,
}

/// The task that watches the worker registers the pipe with the runtime, once.
#[derive(Debug)]
enum Pipe {
    Unwatched(OwnedFd),
    Watched(AsyncFd<OwnedFd>),
    /// Nothing more can be written to it, and at least this many of the sent bytes were never read.
    Broken(usize),
    /// We have closed it.
    Closed,
}

/// A frame that is not completely written yet.
#[derive(Debug)]
struct Waiting {
    frame: Vec<u8>,
    written: usize,
    _held: Option<Charge>,
}

impl FrameSender {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        let state = Sending { pipe: Pipe::Unwatched(pipe), waiting: VecDeque::new() };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    /// Sends a frame, which ends with its newline. `held` is the charge for it until it is written.
    pub fn send(&self, frame: Vec<u8>, held: Option<Charge>) -> Result<(), NotTaken> {
        let mut state = self.state.lock();
        let mut written = 0;
        if state.waiting.is_empty() {
            let Some(pipe) = state.pipe.descriptor() else { return Err(NotTaken) };
            match write(pipe, &frame) {
                Ok(count) => written = count,
                Err(Errno::AGAIN) => {}
                Err(_) => {
                    state.fail();
                    self.changed.notify_one();
                    return Err(NotTaken);
                }
            }
        } else if state.pipe.descriptor().is_none() {
            return Err(NotTaken);
        }
        if written < frame.len() {
            state.waiting.push_back(Waiting { frame, written, _held: held });
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Closes the input of the worker.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.pipe = Pipe::Closed;
        state.waiting.clear();
    }

    /// Whether its input is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self.state.lock().pipe, Pipe::Closed)
    }

    /// How many of the sent bytes the worker has not read.
    pub fn unread(&self) -> usize {
        self.state.lock().unread()
    }

    /// Writes what waits, and completes when the pipe has no reader any more. Cancel-safe.
    pub(super) async fn broken(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::select! {
                () = poll_fn(|context| self.state.lock().poll_broken(context)) => return,
                () = changed => {}
            }
        }
    }
}

impl Sending {
    /// How many of the sent bytes were not read.
    fn unread(&self) -> usize {
        if let Pipe::Broken(unread) = self.pipe {
            return unread;
        }
        let in_pipe = self.pipe.descriptor().and_then(|pipe| rustix::io::ioctl_fionread(pipe).ok());
        unwritten(&self.waiting) + in_pipe.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0)
    }

    /// Writes what waits. Pending as long as the pipe has a reader, and ready when it has none.
    fn poll_broken(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Pipe::Unwatched(_) = self.pipe {
            self.pipe = std::mem::replace(&mut self.pipe, Pipe::Closed).watched();
            if let Pipe::Broken(unread) = &mut self.pipe {
                *unread = unwritten(&self.waiting);
                self.waiting.clear();
            }
        }
        loop {
            let pipe = match &self.pipe {
                Pipe::Watched(pipe) => pipe,
                Pipe::Broken(_) => return Poll::Ready(()),
                Pipe::Unwatched(_) | Pipe::Closed => return Poll::Pending,
            };
            while let Some(next) = self.waiting.front_mut() {
                match write(pipe.get_ref().as_fd(), &next.frame[next.written..]) {
                    Ok(count) => next.written += count,
                    Err(Errno::AGAIN) => break,
                    Err(_) => {
                        self.fail();
                        return Poll::Ready(());
                    }
                }
                if next.written == next.frame.len() {
                    self.waiting.pop_front();
                }
            }
            // The next event is that the full pipe has room again, or that it has no reader any more.
            match ready!(pipe.poll_write_ready(context)) {
                Ok(ready) if ready.ready().is_write_closed() => {}
                Ok(mut ready) => {
                    ready.clear_ready();
                    continue;
                }
                Err(_) => {}
            }
            self.fail();
            return Poll::Ready(());
        }
    }

    fn fail(&mut self) {
        self.pipe = Pipe::Broken(self.unread());
        self.waiting.clear();
    }
}

impl Pipe {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Unwatched(pipe) => Some(pipe.as_fd()),
            Self::Watched(pipe) => Some(pipe.get_ref().as_fd()),
            Self::Broken(_) | Self::Closed => None,
        }
    }

    /// Registers the pipe. If that fails, it is closed: the worker can read what is in it, and no more.
    fn watched(self) -> Self {
        let Self::Unwatched(pipe) = self else { return self };
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
        )]
        AsyncFd::with_interest(pipe, Interest::WRITABLE).map_or(Self::Broken(0), Self::Watched)
    }
}

/// How many bytes of these frames are not in the pipe.
fn unwritten(waiting: &VecDeque<Waiting>) -> usize {
    waiting.iter().map(|waiting| waiting.frame.len() - waiting.written).sum()
}

/// Writes as much as the pipe takes now.
fn write(pipe: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::write(pipe, bytes) {
            Err(Errno::INTR) => {}
            written => return written,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pipe_that_cannot_be_watched_keeps_count_of_what_was_not_written() {
        // A regular file cannot be registered.
        let sender = FrameSender::new(tempfile::tempfile().unwrap().into());
        sender.state.lock().waiting.push_back(Waiting { frame: vec![b'x'; 10], written: 3, _held: None });
        sender.broken().await;
        assert_eq!(sender.unread(), 7);
        assert_eq!(sender.send(vec![b'\n'], None), Err(NotTaken));
    }
}
