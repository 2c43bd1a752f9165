//! Worker output: passed on in lines, with the end of it kept.

use crate::capture::PipeSource;
use crate::child::ByteSource;
use crate::line_buffer::LineBuffer;

/// The longest line that is passed on.
const LONGEST_LINE: usize = 64 * 1024;

/// How much of a pipe is read without waiting: more than most pipes hold, so that anything beyond it was written
/// meanwhile.
const MOST_AT_ONCE: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct Output {
    source: PipeSource,
    is_open: bool,
    piece: Vec<u8>,
    lines: LineBuffer,
    tail: Vec<u8>,
    /// How much of the end is kept.
    kept: usize,
}

impl Output {
    pub(super) fn new(source: PipeSource, kept: usize) -> Self {
        let lines = LineBuffer::new(LONGEST_LINE);
        Self { source, is_open: true, piece: Vec::new(), lines, tail: Vec::new(), kept }
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Waits for more, which [`Output::pass_on`] passes on. Cancel-safe.
    pub(super) async fn read(&mut self) {
        self.is_open = self.source.read(&mut self.piece).await > 0;
    }

    pub(super) fn pass_on(&mut self, on_line: &mut impl FnMut(&[u8])) {
        self.lines.take(&self.piece, on_line);
        if self.kept > 0 {
            self.tail.extend_from_slice(&self.piece);
            let excess = self.tail.len().saturating_sub(self.kept);
            self.tail.drain(..excess);
        }
        self.piece.clear();
    }

    /// Passes on what has been written by now, without waiting.
    pub(super) fn read_now(&mut self, on_line: &mut impl FnMut(&[u8])) {
        let mut left = MOST_AT_ONCE;
        while self.is_open && left > 0 {
            match self.source.read_now(&mut self.piece) {
                None => return,
                Some(count) => {
                    self.is_open = count > 0;
                    left = left.saturating_sub(count);
                    self.pass_on(on_line);
                }
            }
        }
    }

    /// The same for the last time: a last line without its newline is passed on too.
    pub(super) fn drain(&mut self, on_line: &mut impl FnMut(&[u8])) {
        self.read_now(on_line);
        self.lines.finish(on_line);
    }

    /// The end of what was written.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }
}
