//! Reads a pipe to its end without keeping more than it may.

use crate::Ending;
use mcp_bash_budget::{Budget, Charge, NoRoom};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// What was read of a pipe that may hold at most so much.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) bytes: Vec<u8>,
    limit: usize,
    /// What the bytes cost, once they are many.
    pub(crate) held: Charge,
}

/// Why a pipe was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surplus {
    /// It held more than its limit.
    OverLimit,
    /// There was no room for what it held.
    NoRoom(NoRoom),
}

impl From<Surplus> for Ending {
    fn from(surplus: Surplus) -> Self {
        match surplus {
            Surplus::OverLimit => Self::OutputTooLarge,
            Surplus::NoRoom(why) => Self::NoRoom(why),
        }
    }
}

/// How much room there is for the first bytes: most scripts say less than this.
const ROOM: usize = 2048;

/// More than a pipe usually holds.
pub(crate) const LARGE: usize = 64 * 1024;

/// What a pipe may hold where there is so much to say, as far as systems usually allow.
pub(crate) const ROOMY: usize = 1024 * 1024;

impl Capture {
    pub(crate) fn new(limit: usize, budget: &Arc<Budget>) -> Self {
        Self { bytes: Vec::new(), limit, held: Charge::nothing(budget) }
    }

    /// Reads all there is, and stops at the limit.
    pub(crate) async fn all(&mut self, pipe: OwnedFd) -> Result<(), Surplus> {
        self.bytes.reserve(ROOM);
        let mut pipe = Source::new(pipe);
        while pipe.read(&mut self.bytes).await > 0 {
            if self.bytes.len() > self.limit {
                self.bytes.truncate(self.limit);
                return Err(Surplus::OverLimit);
            }
            if self.bytes.len() > LARGE {
                if let Err(why) = self.held.grow_to(self.bytes.len()) {
                    self.bytes = Vec::new();
                    return Err(Surplus::NoRoom(why));
                }
                if pipe.make_roomy() {
                    self.bytes.reserve(ROOMY);
                }
            }
        }
        Ok(())
    }

    /// Reads all there is, and keeps the end of it.
    pub(crate) async fn tail(&mut self, pipe: OwnedFd) {
        let mut pipe = Source::new(pipe);
        while pipe.read(&mut self.bytes).await > 0 {
            if self.bytes.len() > 2 * self.limit {
                self.cut_to_tail();
            }
        }
        self.cut_to_tail();
    }

    pub(crate) fn cut_to_tail(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..surplus);
    }
}

/// A pipe that does not block. The runtime watches it only once there was nothing to read: most scripts have ended, and
/// closed their end, before we look for the first time.
struct Source {
    pipe: Pipe,
    roomy: bool,
}

enum Pipe {
    Unwatched(OwnedFd),
    Watched(Receiver),
    /// It cannot be read any more.
    Gone,
}

impl Source {
    fn new(pipe: OwnedFd) -> Self {
        Self { pipe: Pipe::Unwatched(pipe), roomy: false }
    }

    /// Appends what there is, and says how much that was: nothing at the end.
    async fn read(&mut self, bytes: &mut Vec<u8>) -> usize {
        if let Pipe::Unwatched(pipe) = &self.pipe {
            bytes.reserve(ROOM / 2);
            match read(pipe, spare_capacity(bytes)) {
                Ok(count) => return count,
                Err(Errno::AGAIN | Errno::INTR) => self.watch(),
                Err(_) => self.pipe = Pipe::Gone,
            }
        }
        match &mut self.pipe {
            Pipe::Watched(pipe) => pipe.read_buf(bytes).await.unwrap_or(0),
            Pipe::Unwatched(_) | Pipe::Gone => 0,
        }
    }

    fn watch(&mut self) {
        if let Pipe::Unwatched(pipe) = std::mem::replace(&mut self.pipe, Pipe::Gone)
            && let Ok(pipe) = Receiver::from_owned_fd_unchecked(pipe)
        {
            self.pipe = Pipe::Watched(pipe);
        }
    }

    /// Lets the pipe hold more, once: it has a lot to say, and this takes fewer turns for the two of us. Where that is
    /// not allowed, it takes more of them.
    fn make_roomy(&mut self) -> bool {
        if self.roomy {
            return false;
        }
        self.roomy = true;
        #[cfg(target_os = "linux")]
        let _ = match &self.pipe {
            Pipe::Unwatched(pipe) => rustix::pipe::fcntl_setpipe_size(pipe, ROOMY),
            Pipe::Watched(pipe) => rustix::pipe::fcntl_setpipe_size(pipe, ROOMY),
            Pipe::Gone => Ok(0),
        };
        true
    }
}
