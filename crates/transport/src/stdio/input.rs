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

/// The input may be shared with other processes, so it is not made non-blocking: it is read only when it is readable.
pub(super) enum Input {
    /// Reports when it is readable.
    Pipe { input: AsyncFd<OwnedFd>, is_roomy: Cell<bool> },
    /// A socket or a terminal. Reports when it is readable.
    Other(AsyncFd<OwnedFd>),
    /// Always readable: a file or `/dev/null`.
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

    /// Waits until the input is readable, and reads. Returns 0 at the end of input; a failed read counts as the end.
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
                // The parent process made it non-blocking, which we leave as it is.
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(_) => return 0,
            }
        }
    }

    /// Whether the input is known to be drained. A short read drains a pipe; other inputs have to be polled.
    fn is_known_empty(&self, was_short: bool) -> bool {
        if let Self::Pipe { input, is_roomy } = self {
            if !was_short && !is_roomy.replace(true) {
                // The client sends large bursts.
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
