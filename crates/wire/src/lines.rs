//! Line framing: cuts a stream of bytes into lines of bounded length.

/// One line, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Whole(&'a [u8]),
    /// A line over the limit: only its start is kept, the rest is discarded as it arrives.
    TooLong {
        start: &'a [u8],
    },
}

/// A buffer that is filled at its end by a reader and emptied from its front line by line.
pub struct Lines {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The buffer holds no newline before this position.
    searched: usize,
    limit: usize,
    /// The rest of a line that was too long is skipped.
    discarding: bool,
}

/// The size of one read; also the size to which the buffer shrinks after a very long line.
const CHUNK: usize = 64 * 1024;

/// A buffer up to this size is kept: a client that sends one long line sends others.
const KEPT: usize = 32 * CHUNK;

impl Lines {
    pub fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, end: 0, searched: 0, limit, discarding: false }
    }

    /// Room for a reader to write into.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.clear();
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < CHUNK {
            // Grows by doubling, so that a long line is copied a bounded number of times.
            let wanted =
                (self.end + CHUNK).max(self.buffer.len() * 2).min(self.limit.saturating_add(2 * CHUNK));
            self.buffer.resize(wanted.max(self.end + CHUNK), 0);
        }
        &mut self.buffer[self.end..]
    }

    /// How much memory this takes.
    pub fn size(&self) -> usize {
        self.buffer.len()
    }

    /// The reader wrote that many bytes.
    pub fn filled(&mut self, count: usize) {
        self.end += count;
    }

    /// The next line that has arrived completely, or is known to be too long.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let newline = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]);
            let Some(offset) = newline else {
                self.searched = self.end;
                return self.unfinished();
            };
            let (start, stop) = (self.start, self.searched + offset);
            self.start = stop + 1;
            self.searched = self.start;
            if std::mem::take(&mut self.discarding) {
                continue;
            }
            return Some(self.line(start, stop));
        }
    }

    /// The text after the last newline, at the end of the stream.
    pub fn last_line(&mut self) -> Option<Line<'_>> {
        let (start, stop) = (self.start, self.end);
        self.start = stop;
        self.searched = stop;
        (start < stop && !self.discarding).then(|| self.line(start, stop))
    }

    fn unfinished(&mut self) -> Option<Line<'_>> {
        if self.discarding {
            self.start = self.end;
            return None;
        }
        if self.end - self.start <= self.limit {
            return None;
        }
        let (start, stop) = (self.start, self.end);
        self.start = self.end;
        self.discarding = true;
        Some(self.line(start, stop))
    }

    fn line(&self, start: usize, stop: usize) -> Line<'_> {
        let bytes = &self.buffer[start..stop];
        if bytes.len() > self.limit {
            Line::TooLong { start: &bytes[..self.limit] }
        } else {
            Line::Whole(bytes)
        }
    }

    fn clear(&mut self) {
        (self.start, self.end, self.searched) = (0, 0, 0);
        if self.buffer.len() > KEPT {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds `bytes` in pieces of the given sizes and returns the lines: `Ok` for a whole one, `Err` for the start of
    /// one that is too long.
    fn cut(bytes: &[u8], sizes: &[usize], limit: usize) -> Vec<Result<Vec<u8>, Vec<u8>>> {
        fn own(line: &Line<'_>) -> Result<Vec<u8>, Vec<u8>> {
            match line {
                Line::Whole(bytes) => Ok(bytes.to_vec()),
                Line::TooLong { start } => Err(start.to_vec()),
            }
        }
        let mut lines = Lines::new(limit);
        let mut found = Vec::new();
        let mut rest = bytes;
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let take = (*sizes.next().unwrap()).clamp(1, rest.len());
            lines.room()[..take].copy_from_slice(&rest[..take]);
            lines.filled(take);
            rest = &rest[take..];
            while let Some(line) = lines.next_line() {
                found.push(own(&line));
            }
        }
        found.extend(lines.last_line().map(|line| own(&line)));
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), any::<u8>()], 0..400),
            sizes in proptest::collection::vec(1_usize..50, 1..5),
            limit in 1_usize..40,
        ) {
            let mut expected: Vec<_> = bytes
                .split(|byte| *byte == b'\n')
                .map(|line| if line.len() > limit { Err(line[..limit].to_vec()) } else { Ok(line.to_vec()) })
                .collect();
            if expected.last().is_some_and(|last| *last == Ok(Vec::new())) {
                expected.pop();
            }
            prop_assert_eq!(cut(&bytes, &sizes, limit), expected);
        }
    }

    #[test]
    fn memory_follows_the_line_and_comes_back() {
        let mut lines = Lines::new(2 * KEPT);
        for _ in 0..100 {
            let count = lines.room().len();
            lines.filled(count);
            while lines.next_line().is_some() {}
            assert!(lines.buffer.len() < 2 * KEPT + 4 * CHUNK);
        }
        lines.room()[0] = b'\n';
        lines.filled(1);
        assert_eq!(lines.next_line(), None);
        lines.room();
        assert!(lines.buffer.len() <= 2 * CHUNK);
    }
}
