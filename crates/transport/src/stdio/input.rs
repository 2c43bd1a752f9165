//! Standard input, whatever it is: a pipe, a socket, a terminal, a file.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;

/// It may be shared with others, so that it is not ours to make it non-blocking: it is only read when it has
/// something.
pub(super) enum Input {
    /// Says when there is something to read.
    Watched { input: AsyncFd<OwnedFd>, is_pipe: bool },
    /// Always has something to read, or its end.
    File(OwnedFd),
}

impl Input {
    pub(super) fn new(input: OwnedFd) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(fstat(&input)?.st_mode);
        if kind == FileType::RegularFile {
            return Ok(Self::File(input));
        }
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
        )]
        let input = AsyncFd::with_interest(input, Interest::READABLE)?;
        Ok(Self::Watched { input, is_pipe: kind == FileType::Fifo })
    }

    /// Waits until there is something to read, and reads it. Nothing is the end; an input that fails has ended.
    pub(super) async fn read(&self, room: &mut [u8]) -> usize {
        let (input, is_pipe) = match self {
            Self::File(file) => {
                yield_now().await;
                return read(file, room).unwrap_or(0);
            }
            Self::Watched { input, is_pipe } => (input, *is_pipe),
        };
        loop {
            let Ok(mut ready) = input.readable().await else { return 0 };
            match read(input.get_ref(), room) {
                Ok(count) => {
                    // A pipe that gave less than there was room for is empty. Others have to be asked.
                    if (is_pipe && count < room.len()) || !is_readable(input.get_ref()) {
                        ready.clear_ready();
                    }
                    return count;
                }
                // Whoever started us made it non-blocking, which is theirs to decide.
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(_) => return 0,
            }
        }
    }
}

fn is_readable(input: &OwnedFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&at_once)) != Ok(0)
}

fn read(input: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    rustix::io::retry_on_intr(|| rustix::io::read(input, &mut *room))
}
