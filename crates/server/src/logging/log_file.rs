//! Log file: appends lines, even if the disk is full for a while. Lines are never joined with part of another line.

use parking_lot::Mutex;
use std::fs::File;
use std::io::{self, Write};

pub(crate) struct LogFile<F = File>(Mutex<LogFileState<F>>);

struct LogFileState<F> {
    file: F,
    /// Whether the last line was written only in part.
    is_torn: bool,
    /// Why the last line was not written.
    problem: Option<io::Error>,
    /// The number of lines lost since the last written one.
    lost: u64,
}

impl<F: Write> LogFile<F> {
    pub(crate) fn new(file: F) -> Self {
        Self(Mutex::new(LogFileState { file, is_torn: false, problem: None, lost: 0 }))
    }

    /// Writes to a new file from now on. Problems of the previous one are discarded.
    pub(crate) fn replace(&self, file: F) {
        *self.0.lock() = LogFileState { file, is_torn: false, problem: None, lost: 0 };
    }

    /// Appends a line, which ends with its newline. A full disk must not stop the server: then the line is lost.
    pub(crate) fn append(&self, line: &str) {
        self.0.lock().append(line);
    }

    /// Why nothing can be written: the last line could not be written, and `line_after` cannot be written now. `line_after`
    /// receives the number of lost lines.
    pub(crate) fn problem(&self, line_after: impl FnOnce(u64) -> String) -> Option<String> {
        let mut state = self.0.lock();
        if state.problem.is_some() {
            let line = line_after(state.lost);
            state.append(&line);
            if state.problem.is_some() {
                // The line that reports the loss does not count as lost.
                state.lost -= 1;
            }
        }
        state.problem.as_ref().map(ToString::to_string)
    }
}

impl<F: Write> LogFileState<F> {
    fn append(&mut self, line: &str) {
        let written = self.end_torn_line().and_then(|()| self.write(line.as_bytes()));
        match written {
            Ok(()) => (self.problem, self.lost) = (None, 0),
            Err(error) => {
                self.problem = Some(error);
                self.lost += 1;
            }
        }
    }

    fn end_torn_line(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.write_all(b"\n")?;
            self.is_torn = false;
        }
        Ok(())
    }

    fn write(&mut self, mut left: &[u8]) -> io::Result<()> {
        while !left.is_empty() {
            match self.file.write(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    left = &left[count..];
                    self.is_torn = !left.is_empty();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A disk with room for a number of bytes.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<(Vec<u8>, usize)>>);

    impl Disk {
        fn give_room(&self, bytes: usize) {
            self.0.lock().1 = bytes;
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().0.clone()).unwrap()
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (written, room) = &mut *self.0.lock();
            let count = bytes.len().min(*room);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            written.extend_from_slice(&bytes[..count]);
            *room -= count;
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_after_half_a_line_starts_on_its_own() {
        let disk = Disk::default();
        let file = LogFile::new(disk.clone());
        disk.give_room(6);
        for line in ["one\n", "two\n", "three\n"] {
            file.append(line);
        }
        assert_eq!(disk.text(), "one\ntw");
        // Room for only the newline does not count as a line.
        disk.give_room(1);
        file.append("four\n");
        disk.give_room(100);
        file.append("five\n");
        assert_eq!(disk.text(), "one\ntw\nfive\n");
        assert_eq!(file.problem(|_| unreachable!()), None);
    }

    #[test]
    fn it_is_a_problem_until_something_can_be_written() {
        let disk = Disk::default();
        let file = LogFile::new(disk.clone());
        file.append("one\n");
        file.append("two\n");
        let after = |lost: u64| format!("{lost} lost\n");
        for _ in 0..2 {
            assert_eq!(file.problem(after).unwrap(), io::Error::from(io::ErrorKind::StorageFull).to_string());
        }
        disk.give_room(100);
        assert_eq!(file.problem(after), None);
        assert_eq!(disk.text(), "2 lost\n");
    }
}
