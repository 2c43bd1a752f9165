//! Standard input: a pipe, a socket, a terminal or a file.

use super::system::make_roomy;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::termios::isatty;
use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;

/// It may be shared with others, so that it is not ours to make it non-blocking: it is only read when it has
/// something.
pub(super) enum Input {
    /// Says when there is something to read.
    Pipe { input: AsyncFd<OwnedFd>, is_roomy: Cell<bool> },
    /// Says so too.
    Other(AsyncFd<OwnedFd>),
    /// Always has something to read, or its end: a file, or nothing at all.
    File(OwnedFd),
}

impl Input {
    pub(super) fn new(input: OwnedFd) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(fstat(&input)?.st_mode);
        if !matches!(kind, FileType::Fifo | FileType::Socket) && !isatty(&input) {
            return Ok(Self::File(input));
        }
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
        )]
        let input = AsyncFd::with_interest(input, Interest::READABLE)?;
        Ok(match kind {
            FileType::Fifo => Self::Pipe { input, is_roomy: Cell::new(false) },
            _ => Self::Other(input),
        })
    }

    /// Waits until there is something to read, and reads it. Nothing is the end; an input that fails has ended.
    pub(super) async fn read(&self, room: &mut [u8]) -> usize {
        let input = match self {
            Self::Pipe { input, .. } | Self::Other(input) => input,
            Self::File(file) => {
                yield_now().await;
                return read(file, room).unwrap_or(0);
            }
        };
        loop {
            let Ok(mut ready) = input.readable().await else { return 0 };
            match read(input.get_ref(), room) {
                Ok(count) => {
                    if self.is_known_empty(count < room.len()) || !is_readable(input.get_ref()) {
                        ready.clear_ready();
                    }
                    return count;
                }
                // The parent process made it non-blocking, and that is its decision.
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(_) => return 0,
            }
        }
    }

    /// Whether it is certain that there is no more, after a read that was short or not. A pipe gives all it has; others
    /// have to be asked.
    fn is_known_empty(&self, was_short: bool) -> bool {
        if let Self::Pipe { input, is_roomy } = self {
            if !was_short && !is_roomy.replace(true) {
                // It has a lot to say.
                make_roomy(input.get_ref());
            }
            return was_short;
        }
        false
    }
}

fn is_readable(input: &OwnedFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&at_once)) != Ok(0)
}

fn read(input: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    rustix::io::retry_on_intr(|| rustix::io::read(input, &mut *room))
}
