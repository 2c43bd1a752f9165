//! Frames from a worker: lines of bounded length. Unlike a line of text for people, a frame that is too long is useless
//! when cut, and stops the reader.

use crate::capture::{PipeSource, USUAL_PIPE};
use crate::child::ByteSource;
use mcp_bash_budget::{Budget, Charge, NoRoom};
use std::sync::Arc;
use thiserror::Error;

/// What one read asks for: most frames are shorter.
const READ_SIZE: usize = 8 * 1024;

/// One line of a worker.
#[derive(Debug)]
pub struct Frame {
    /// Without its newline.
    pub bytes: Vec<u8>,
    /// The charge for a long one.
    pub held: Option<Charge>,
}

/// Why there are no more frames. The messages complete "the worker ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameFault {
    #[error("closed descriptor 3")]
    Ended,
    #[error("stopped in the middle of a frame")]
    Half,
    #[error("wrote a frame of more than {0} bytes")]
    TooLong(usize),
    #[error("wrote too long a frame: {0}")]
    NoRoom(NoRoom),
}

#[derive(Debug)]
pub(super) struct FrameReader {
    source: PipeSource,
    is_open: bool,
    limit: usize,
    buffer: Vec<u8>,
    /// Where the next frame begins in the buffer.
    start: usize,
    /// The buffer has no newline between `start` and this position.
    searched: usize,
    /// The charge for the buffer, once it is large.
    held: Option<Charge>,
}

impl FrameReader {
    pub(super) fn new(source: PipeSource, limit: usize) -> Self {
        Self { source, is_open: true, limit, buffer: Vec::new(), start: 0, searched: 0, held: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The next frame. Cancel-safe.
    pub(super) async fn next(&mut self, budget: &impl Fn() -> Arc<Budget>) -> Result<Frame, FrameFault> {
        loop {
            if let Some(frame) = self.complete() {
                return self.within_limit(frame);
            }
            self.make_room();
            let count = self.source.read(&mut self.buffer).await;
            self.judge(count, budget)?;
        }
    }

    /// The next frame, if it has been written by now; otherwise `None`.
    pub(super) fn next_now(
        &mut self,
        budget: &impl Fn() -> Arc<Budget>,
    ) -> Result<Option<Frame>, FrameFault> {
        loop {
            if let Some(frame) = self.complete() {
                return self.within_limit(frame).map(Some);
            }
            self.make_room();
            let Some(count) = self.source.read_now(&mut self.buffer) else { return Ok(None) };
            self.judge(count, budget)?;
        }
    }

    /// A frame that is completely in the buffer.
    fn complete(&mut self) -> Option<Frame> {
        let newline = self.searched + memchr::memchr(b'\n', &self.buffer[self.searched..])?;
        let is_all = newline + 1 == self.buffer.len();
        let (bytes, held) = if is_all && self.start == 0 && self.buffer.len() > USUAL_PIPE {
            let mut bytes = std::mem::take(&mut self.buffer);
            bytes.truncate(newline);
            (bytes, self.held.take())
        } else {
            (self.buffer[self.start..newline].to_vec(), self.held.take())
        };
        if is_all {
            self.buffer.clear();
            (self.start, self.searched) = (0, 0);
        } else {
            (self.start, self.searched) = (newline + 1, newline + 1);
        }
        Some(Frame { bytes, held })
    }

    /// A frame whose end came with the bytes that made it too long is too long as well.
    fn within_limit(&mut self, frame: Frame) -> Result<Frame, FrameFault> {
        if frame.bytes.len() > self.limit {
            Err(self.fail(FrameFault::TooLong(self.limit)))
        } else {
            Ok(frame)
        }
    }

    fn make_room(&mut self) {
        self.searched = self.buffer.len();
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.capacity() - self.buffer.len() < READ_SIZE {
            // Grows by doubling, so that a long frame is copied a bounded number of times.
            self.buffer.reserve(READ_SIZE.max(self.buffer.len()));
        }
    }

    /// Handles `count` more bytes in the buffer.
    fn judge(&mut self, count: usize, budget: &impl Fn() -> Arc<Budget>) -> Result<(), FrameFault> {
        let fault = if count == 0 {
            if self.buffer.is_empty() { FrameFault::Ended } else { FrameFault::Half }
        } else if self.buffer.len() > self.limit && !self.buffer[self.searched..].contains(&b'\n') {
            FrameFault::TooLong(self.limit)
        } else if self.buffer.len() > USUAL_PIPE {
            self.source.enlarge();
            let held = self.held.get_or_insert_with(|| Charge::nothing(&budget()));
            match held.grow_to(self.buffer.len()) {
                Ok(()) => return Ok(()),
                Err(why) => FrameFault::NoRoom(why),
            }
        } else {
            return Ok(());
        };
        Err(self.fail(fault))
    }

    /// Stops reading.
    fn fail(&mut self, fault: FrameFault) -> FrameFault {
        self.is_open = false;
        (self.buffer, self.held) = (Vec::new(), None);
        (self.start, self.searched) = (0, 0);
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeWriter, Write};

    fn reader(limit: usize) -> (FrameReader, PipeWriter, impl Fn() -> Arc<Budget>) {
        let (reading, writing) = std::io::pipe().unwrap();
        let source = PipeSource::new(crate::start::nonblocking(reading.into()).unwrap());
        let budget = Budget::new(200_000, "LIMIT");
        (FrameReader::new(source, limit), writing, move || Arc::clone(&budget))
    }

    #[tokio::test]
    async fn frames_are_cut_at_their_ends_however_they_arrive() {
        let (mut frames, mut pipe, budget) = reader(1000);
        pipe.write_all(b"one\ntwo\nthr").unwrap();
        assert_eq!(frames.next(&budget).await.unwrap().bytes, b"one");
        assert_eq!(frames.next_now(&budget).unwrap().unwrap().bytes, b"two");
        assert!(frames.next_now(&budget).unwrap().is_none());
        pipe.write_all(b"ee\nha").unwrap();
        assert_eq!(frames.next(&budget).await.unwrap().bytes, b"three");
        drop(pipe);
        assert_eq!(frames.next(&budget).await.unwrap_err(), FrameFault::Half);
        assert!(!frames.is_open());
    }

    #[tokio::test]
    async fn what_is_left_of_a_frame_is_reported_without_waiting_too() {
        let (mut frames, mut pipe, budget) = reader(1000);
        pipe.write_all(b"one\nha").unwrap();
        assert_eq!(frames.next_now(&budget).unwrap().unwrap().bytes, b"one");
        assert!(frames.next_now(&budget).unwrap().is_none());
        drop(pipe);
        assert_eq!(frames.next_now(&budget).unwrap_err(), FrameFault::Half);
        assert_eq!(frames.next_now(&budget).unwrap_err(), FrameFault::Ended);
    }

    /// Reads a frame of `length` bytes.
    async fn read(limit: usize, length: usize) -> (Result<Frame, FrameFault>, Arc<Budget>) {
        let (mut frames, mut pipe, budget) = reader(limit);
        let writing = std::thread::spawn(move || {
            // It fails if not all of it is read.
            let _ = pipe.write_all(&[vec![b'x'; length], b"\n".to_vec()].concat());
        });
        let frame = frames.next(&budget).await;
        drop(frames);
        writing.join().unwrap();
        (frame, budget())
    }

    #[tokio::test]
    async fn a_long_frame_is_charged_and_one_that_is_too_long_is_not_read() {
        let (frame, budget) = read(1_000_000, 150_000).await;
        let frame = frame.unwrap();
        assert!(frame.bytes.len() == 150_000 && budget.used() >= 150_000);
        drop(frame);
        assert_eq!(budget.used(), 0);
        let (frame, budget) = read(100_000, 150_000).await;
        assert_eq!((frame.unwrap_err(), budget.used()), (FrameFault::TooLong(100_000), 0));
        // Both ends arrive with one read.
        let (mut frames, mut pipe, budget) = reader(1000);
        pipe.write_all(&[b"fits\n".to_vec(), vec![b'x'; 1001], b"\n".to_vec()].concat()).unwrap();
        assert_eq!(frames.next(&budget).await.unwrap().bytes, b"fits");
        assert_eq!(frames.next(&budget).await.unwrap_err(), FrameFault::TooLong(1000));
        assert!(!frames.is_open());
        let (frame, budget) = read(1_000_000, 500_000).await;
        assert!(matches!(frame.unwrap_err(), FrameFault::NoRoom(_)));
        assert_eq!(budget.used(), 0);
    }
}
