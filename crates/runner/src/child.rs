//! Child: the traits through which supervision sees a child: the process, its outputs, the lines of its side channel
//! and its questions.

use crate::ProcessEnding;
use crate::question::Question;
use std::io;
use std::time::Duration;

/// A started process. When the value is dropped, the process and all it has started are killed.
pub(crate) trait Process {
    /// Completes when the process has ended. Cancel-safe.
    async fn exited(&mut self);

    /// Sends `TERM`, and `KILL` if the process or one of its group is alive after `grace`.
    async fn terminate(&mut self, grace: Duration);

    /// Kills what the process has left behind, and returns how it ended.
    async fn finish(self) -> ProcessEnding;

    /// Delay before the pipes are first read.
    fn first_read_delay(&self) -> Duration;

    /// The periodic work of a long call. True when it should be done again soon.
    fn upkeep(&self) -> bool;
}

/// The lines of the side channel.
pub(crate) trait Lines {
    /// Waits for bytes and passes on the lines they complete. Cancel-safe.
    async fn read(&mut self, on_line: &mut impl FnMut(&[u8])) -> io::Result<()>;

    /// Passes on what has been written by now, without waiting.
    fn drain(self, on_line: &mut impl FnMut(&[u8]));
}

/// The questions of a call.
pub(crate) trait Questions {
    /// The next question. Cancel-safe.
    async fn next(&mut self) -> Question;
}

/// One of the two outputs of a process.
pub(crate) trait ByteSource {
    /// Appends what has been written, and waits if there is nothing yet. Returns the number of bytes: 0 at the end.
    async fn read(&mut self, bytes: &mut Vec<u8>) -> usize;

    /// Enlarges the pipe once, so that much output takes fewer reads and writes. True the first time.
    fn enlarge(&mut self) -> bool;
}
