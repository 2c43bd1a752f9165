//! The side channel: a named pipe that a script, and whatever it starts, writes lines to while it runs.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// The longest line that is passed on. Longer ones are dropped, so that a script cannot make us hoard.
const LONGEST_LINE: usize = 64 * 1024;

/// The reading end. The pipe vanishes from the disk with this value.
#[derive(Debug)]
pub(crate) struct SideChannel {
    path: PathBuf,
    pipe: pipe::Receiver,
    pending: Vec<u8>,
    /// The rest of a line that was too long is passed over.
    discarding: bool,
}

impl SideChannel {
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        make_fifo(&path)?;
        // Opened for writing too: the pipe then never ends while scripts come and go at its other end.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let pipe = OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open(&path)?;
        let pipe = pipe::Receiver::from_file_unchecked(pipe)?;
        Ok(Self { path, pipe, pending: Vec::new(), discarding: false })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for bytes and passes on the lines they complete. Safe to drop half-way.
    pub(crate) async fn read(&mut self, on_line: &mut impl FnMut(&[u8])) -> io::Result<()> {
        self.pipe.read_buf(&mut self.pending).await?;
        self.pass_on(on_line);
        Ok(())
    }

    /// Passes on what has been written by now, a last line without its newline included.
    pub(crate) fn drain(&mut self, on_line: &mut impl FnMut(&[u8])) {
        while self.pipe.try_read_buf(&mut self.pending).is_ok_and(|count| count > 0) {
            self.pass_on(on_line);
        }
        if !self.pending.is_empty() && !self.discarding {
            on_line(&self.pending);
        }
        self.pending.clear();
    }

    /// Forgets what nobody read, so that another call can have the channel.
    fn clear(&mut self) {
        self.drain(&mut |_| {});
        self.discarding = false;
    }

    fn pass_on(&mut self, on_line: &mut impl FnMut(&[u8])) {
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &self.pending) {
            let line = &self.pending[start..newline];
            if !std::mem::take(&mut self.discarding) && !line.is_empty() {
                on_line(line);
            }
            start = newline + 1;
        }
        self.pending.drain(..start);
        if self.pending.len() > LONGEST_LINE {
            self.pending.clear();
            self.discarding = true;
        }
    }
}

impl Drop for SideChannel {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Channels that no call uses now. To make one costs as much as all else we do for a call, so they are used again: all
/// who could write to them are gone with their call.
#[derive(Debug, Default)]
pub(crate) struct SpareChannels(Mutex<Vec<SideChannel>>);

/// More than these are not kept.
const MOST_SPARE: usize = 64;

impl SpareChannels {
    pub(crate) fn take(&self) -> Option<SideChannel> {
        let mut channel = self.lock().pop()?;
        channel.clear();
        Some(channel)
    }

    pub(crate) fn give_back(&self, channel: SideChannel) {
        let mut spare = self.lock();
        if spare.len() < MOST_SPARE {
            spare.push(channel);
        }
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SideChannel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(not(target_vendor = "apple"))]
fn make_fifo(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode, mkfifoat};
    Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?)
}

/// There is no safe way to the system call, so the tool of that name has to do.
#[cfg(target_vendor = "apple")]
fn make_fifo(path: &Path) -> io::Result<()> {
    let status = std::process::Command::new("/usr/bin/mkfifo").arg("-m").arg("600").arg(path).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("mkfifo failed")) }
}
