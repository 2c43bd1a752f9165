//! Output capture: reads a pipe to its end, and keeps at most a given number of bytes.

use crate::ProcessEnding;
use crate::child::ByteSource;
use mcp_bash_budget::{Budget, Charge, NoRoom};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// The bytes read from a pipe, of which at most `limit` are kept.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) bytes: Vec<u8>,
    limit: usize,
    /// The charge for the bytes, if there are many.
    pub(crate) held: Charge,
}

/// Why a pipe is not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadStop {
    /// More was written than the limit.
    OverLimit,
    /// The budget has no room for more.
    NoRoom(NoRoom),
}

impl From<ReadStop> for ProcessEnding {
    fn from(stop: ReadStop) -> Self {
        match stop {
            ReadStop::OverLimit => Self::OutputTooLarge,
            ReadStop::NoRoom(why) => Self::NoRoom(why),
        }
    }
}

/// Capacity reserved before the first read: most scripts print less than this.
const FIRST_RESERVE: usize = 2048;

/// The usual capacity of a pipe.
pub(crate) const USUAL_PIPE: usize = 64 * 1024;

/// The capacity of a pipe with much output: the most that systems usually allow.
pub(crate) const ENLARGED_PIPE: usize = 1024 * 1024;

impl Capture {
    pub(crate) fn new(limit: usize, budget: &Arc<Budget>) -> Self {
        Self { bytes: Vec::new(), limit, held: Charge::nothing(budget) }
    }

    /// Reads to the end, or until there are more bytes than the limit.
    pub(crate) async fn all(&mut self, mut pipe: impl ByteSource) -> Result<(), ReadStop> {
        self.bytes.reserve(FIRST_RESERVE);
        while pipe.read(&mut self.bytes).await > 0 {
            if self.bytes.len() > self.limit {
                self.bytes.truncate(self.limit);
                return Err(ReadStop::OverLimit);
            }
            if self.bytes.len() > USUAL_PIPE {
                if let Err(why) = self.held.grow_to(self.bytes.len()) {
                    self.bytes = Vec::new();
                    return Err(ReadStop::NoRoom(why));
                }
                if pipe.enlarge() {
                    self.bytes.reserve(ENLARGED_PIPE);
                }
            }
        }
        Ok(())
    }

    /// Reads to the end, and keeps the last bytes.
    pub(crate) async fn tail(&mut self, mut pipe: impl ByteSource) {
        while pipe.read(&mut self.bytes).await > 0 {
            if self.bytes.len() > 2 * self.limit {
                self.cut_to_tail();
            }
        }
        self.cut_to_tail();
    }

    pub(crate) fn cut_to_tail(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..excess);
    }
}

/// The reading end of a non-blocking pipe. It is registered with the runtime only when a read finds the pipe empty:
/// most scripts have exited, and closed their end, before the first read.
#[derive(Debug)]
pub(crate) struct PipeSource {
    pipe: Pipe,
    is_enlarged: bool,
}

#[derive(Debug)]
enum Pipe {
    Unwatched(OwnedFd),
    Watched(Receiver),
    /// Reading it has failed.
    Closed,
}

impl PipeSource {
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self { pipe: Pipe::Unwatched(pipe), is_enlarged: false }
    }

    /// Appends what has been written, without waiting and without asking the runtime about the pipe. `None` when there
    /// is nothing yet.
    pub(crate) fn read_now(&mut self, bytes: &mut Vec<u8>) -> Option<usize> {
        bytes.reserve(FIRST_RESERVE / 2);
        let count = match &self.pipe {
            Pipe::Unwatched(pipe) => read(pipe, spare_capacity(bytes)),
            Pipe::Watched(pipe) => read(pipe, spare_capacity(bytes)),
            Pipe::Closed => Ok(0),
        };
        match count {
            Ok(count) => Some(count),
            Err(Errno::AGAIN | Errno::INTR) => None,
            Err(_) => Some(0),
        }
    }

    fn watch(&mut self) {
        if let Pipe::Unwatched(pipe) = std::mem::replace(&mut self.pipe, Pipe::Closed)
            && let Ok(pipe) = Receiver::from_owned_fd_unchecked(pipe)
        {
            self.pipe = Pipe::Watched(pipe);
        }
    }
}

impl ByteSource for PipeSource {
    async fn read(&mut self, bytes: &mut Vec<u8>) -> usize {
        if let Pipe::Unwatched(pipe) = &self.pipe {
            bytes.reserve(FIRST_RESERVE / 2);
            match read(pipe, spare_capacity(bytes)) {
                Ok(count) => return count,
                Err(Errno::AGAIN | Errno::INTR) => self.watch(),
                Err(_) => self.pipe = Pipe::Closed,
            }
        }
        match &mut self.pipe {
            Pipe::Watched(pipe) => pipe.read_buf(bytes).await.unwrap_or(0),
            Pipe::Unwatched(_) | Pipe::Closed => 0,
        }
    }

    /// If the system does not allow it, the output takes more reads and writes.
    fn enlarge(&mut self) -> bool {
        if self.is_enlarged {
            return false;
        }
        self.is_enlarged = true;
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        let _ = match &self.pipe {
            Pipe::Unwatched(pipe) => rustix::pipe::fcntl_setpipe_size(pipe, ENLARGED_PIPE),
            Pipe::Watched(pipe) => rustix::pipe::fcntl_setpipe_size(pipe, ENLARGED_PIPE),
            Pipe::Closed => Ok(0),
        };
        true
    }
}
