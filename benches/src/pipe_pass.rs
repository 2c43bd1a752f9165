//! Pipe cost: the time to pass bytes through a pipe to the driver, which is not the server's part of a
//! measure.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use crate::replies::ReplyLines;

/// Passes a line of so many bytes through a pipe, from one thread to another.
#[derive(Debug)]
pub struct PipePass {
    line: Vec<u8>,
    writer: io::PipeWriter,
    lines: ReplyLines<io::PipeReader>,
}

impl PipePass {
    pub fn new(length: usize) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut line = vec![b'x'; length];
        line.push(b'\n');
        let mut pass = Self { line, writer, lines: ReplyLines::new(reader) };
        // The reader's buffer grows with its first line, as with a server's first answer.
        pass.take()?;
        Ok(pass)
    }

    /// The time from before the line is written until it is complete on the other side.
    pub fn take(&mut self) -> io::Result<Duration> {
        let Self { line, writer, lines } = self;
        let began = Instant::now();
        thread::scope(|scope| {
            let writing = scope.spawn(move || writer.write_all(line));
            lines.next_line()?;
            let elapsed = began.elapsed();
            writing.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))?;
            Ok(elapsed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_longer_than_the_pipe_gets_through_again_and_again() {
        let mut pass = PipePass::new(300_000).unwrap();
        for _ in 0..3 {
            assert!(pass.take().unwrap() > Duration::ZERO);
        }
    }
}
