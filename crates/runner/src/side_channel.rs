//! Side channel: a named pipe to which a script, and anything it starts, writes lines while it runs.

use crate::child::Lines;
use crate::line_buffer::LineBuffer;
use rustix::fs::fstat;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The longest line that is passed on.
const MAX_LINE: usize = 64 * 1024;

/// How much is read at once.
const READ_SIZE: usize = 8 * 1024;

/// How much of a pipe is read after its call has ended: more than a pipe usually holds. A process that goes on writing
/// beyond that belongs to no call.
const MAX_LEFT_IN_PIPE: usize = 1024 * 1024 + 64 * 1024;

/// A named pipe, open for reading. It belongs to the folder of a call.
#[derive(Debug)]
pub(crate) struct Pipe {
    path: PathBuf,
    /// Registered with the runtime once for all calls: doing it for each call costs as much as everything else.
    file: AsyncFd<File>,
    /// Whether the pipe was read until it was empty after the last call.
    is_drained: AtomicBool,
}

impl Pipe {
    /// Must be called inside the runtime.
    #[expect(clippy::disallowed_methods, reason = "a pipe, which is made here and opened for both ways")]
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        make_fifo(path)?;
        // Opened for writing too, so that there is no end of file when a script closes its end.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open(path)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
        )]
        let file = AsyncFd::with_interest(file, Interest::READABLE)?;
        Ok(Self { path: path.to_owned(), file, is_drained: AtomicBool::new(true) })
    }

    /// Whether it can still be opened, and has no second name (hard link).
    pub(crate) fn is_as_made(&self) -> bool {
        fstat(self.file.get_ref()).is_ok_and(|seen| seen.st_nlink == 1 && seen.st_mode & 0o600 == 0o600)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Empties the pipe for the next call. False when a process keeps filling it.
    pub(crate) fn discard_rest(&self) -> bool {
        if self.is_drained.load(Ordering::Relaxed) {
            return true;
        }
        let mut piece = [0; READ_SIZE];
        let mut left = MAX_LEFT_IN_PIPE;
        while let Some(count) = self.read(&mut piece) {
            left = left.saturating_sub(count);
            if left == 0 {
                return false;
            }
        }
        true
    }

    /// Reads without waiting: `None` when the pipe is empty.
    fn read(&self, piece: &mut [u8]) -> Option<usize> {
        loop {
            match rustix::io::read(self.file.get_ref(), &mut *piece) {
                Ok(count) if count > 0 => return Some(count),
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return None,
            }
        }
    }
}

/// The lines that one call writes to its pipe.
#[derive(Debug)]
pub(crate) struct SideChannel {
    pipe: Arc<Pipe>,
    lines: LineBuffer,
}

impl SideChannel {
    pub(crate) fn of(pipe: Arc<Pipe>) -> Self {
        pipe.is_drained.store(false, Ordering::Relaxed);
        Self { pipe, lines: LineBuffer::new(MAX_LINE) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.pipe.path()
    }
}

impl Lines for SideChannel {
    async fn read(&mut self, on_line: &mut impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            let mut ready = self.pipe.file.readable().await?;
            let mut piece = [0; READ_SIZE];
            match self.pipe.read(&mut piece) {
                Some(count) => {
                    drop(ready);
                    self.lines.take(&piece[..count], on_line);
                    return Ok(());
                }
                None => ready.clear_ready(),
            }
        }
    }

    /// A last line without its newline is passed on too. The pipe is read directly, because the runtime may not know
    /// yet that it is readable.
    fn drain(mut self, on_line: &mut impl FnMut(&[u8])) {
        let mut piece = [0; READ_SIZE];
        let mut left = MAX_LEFT_IN_PIPE;
        while let Some(count) = self.pipe.read(&mut piece) {
            self.lines.take(&piece[..count], on_line);
            left = left.saturating_sub(count);
            if left == 0 {
                return;
            }
        }
        self.pipe.is_drained.store(true, Ordering::Relaxed);
        self.lines.finish(on_line);
    }
}

#[cfg(not(target_vendor = "apple"))]
fn make_fifo(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode, mkfifoat};
    Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?)
}

/// `rustix` does not offer this system call here, so the program `mkfifo` is run.
#[cfg(target_vendor = "apple")]
fn make_fifo(path: &Path) -> io::Result<()> {
    let status = std::process::Command::new("/usr/bin/mkfifo").arg("-m").arg("600").arg(path).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("mkfifo failed")) }
}
