//! Reads a pipe to its end without keeping more than it may.

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// What was read of a pipe that may hold at most so much.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) bytes: Vec<u8>,
    limit: usize,
}

/// A pipe held more than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OverLimit;

/// How much room there is for the first bytes: most scripts say less than this.
const ROOM: usize = 2048;

/// More than a pipe usually holds.
pub(crate) const LARGE: usize = 64 * 1024;

/// What a pipe may hold where there is so much to say, as far as systems usually allow.
pub(crate) const ROOMY: usize = 1024 * 1024;

impl Capture {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }

    /// Reads all there is, and stops at the limit.
    pub(crate) async fn all(&mut self, pipe: Option<Receiver>) -> Result<(), OverLimit> {
        let Some(mut pipe) = pipe else { return Ok(()) };
        self.bytes.reserve(ROOM);
        let mut roomy = false;
        while let Ok(count) = pipe.read_buf(&mut self.bytes).await {
            if count == 0 {
                break;
            }
            if self.bytes.len() > LARGE && !roomy {
                // It has a lot to say: fewer turns for the two of us. Where that is not allowed, it takes more of them.
                #[cfg(target_os = "linux")]
                let _ = rustix::pipe::fcntl_setpipe_size(&pipe, ROOMY);
                self.bytes.reserve(ROOMY);
                roomy = true;
            }
            if self.bytes.len() > self.limit {
                self.bytes.truncate(self.limit);
                return Err(OverLimit);
            }
        }
        Ok(())
    }

    /// Reads all there is, and keeps the end of it.
    pub(crate) async fn tail(&mut self, pipe: Option<Receiver>) {
        let Some(mut pipe) = pipe else { return };
        while let Ok(count) = pipe.read_buf(&mut self.bytes).await {
            if count == 0 {
                break;
            }
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
