//! Line buffer: cuts bytes into lines of bounded length. Longer lines are dropped, so that no writer can use up our
//! memory.

/// Bytes of an incomplete line.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    pending: Vec<u8>,
    longest: usize,
    /// The rest of a line that was too long is being dropped.
    discarding: bool,
}

impl LineBuffer {
    pub(crate) fn new(longest: usize) -> Self {
        Self { pending: Vec::new(), longest, discarding: false }
    }

    /// Passes on the lines that `piece` completes, without empty ones.
    pub(crate) fn take(&mut self, piece: &[u8], on_line: &mut impl FnMut(&[u8])) {
        self.pending.extend_from_slice(piece);
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &self.pending) {
            let line = &self.pending[start..newline];
            if !std::mem::take(&mut self.discarding) && !line.is_empty() {
                on_line(line);
            }
            start = newline + 1;
        }
        self.pending.drain(..start);
        if self.pending.len() > self.longest {
            self.pending.clear();
            self.discarding = true;
        }
    }

    /// Passes on a last line without its newline.
    pub(crate) fn finish(&mut self, on_line: &mut impl FnMut(&[u8])) {
        if !self.pending.is_empty() && !self.discarding {
            on_line(&self.pending);
        }
        self.pending.clear();
    }
}
