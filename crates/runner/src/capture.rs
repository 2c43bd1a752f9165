//! Reads a pipe to its end without keeping more than it may.

use tokio::io::{AsyncRead, AsyncReadExt};

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

impl Capture {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }

    /// Reads all there is, and stops at the limit.
    pub(crate) async fn all(&mut self, pipe: Option<impl AsyncRead + Unpin>) -> Result<(), OverLimit> {
        let Some(mut pipe) = pipe else { return Ok(()) };
        self.bytes.reserve(ROOM);
        while let Ok(count) = pipe.read_buf(&mut self.bytes).await {
            if count == 0 {
                break;
            }
            if self.bytes.len() > self.limit {
                self.bytes.truncate(self.limit);
                return Err(OverLimit);
            }
        }
        Ok(())
    }

    /// Reads all there is, and keeps the end of it.
    pub(crate) async fn tail(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
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
