//! Replies: splits the output of a server into lines and classifies each line.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Lines cut out of a blocking reader.
#[derive(Debug)]
pub(crate) struct ReplyLines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The part of `buffer` that was read and not yet returned.
    start: usize,
    end: usize,
}

impl<R: Read> ReplyLines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; 64 * 1024], start: 0, end: 0 }
    }

    /// The next line without its line end. The end of the stream is an error, since a driver only reads when
    /// it expects a reply.
    pub(crate) fn next_line(&mut self) -> io::Result<&[u8]> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.start..searched + found;
                self.start = line.end + 1;
                return Ok(&self.buffer[line]);
            }
            self.make_room();
            searched = self.end;
            let count = read_some(&mut self.reader, &mut self.buffer[self.end..])?;
            self.end += count;
        }
    }

    /// Reads available bytes into `buffer`, up to its length.
    ///
    /// Only for use when no line is half read, which is true whenever every expected reply has been taken.
    pub(crate) fn read_raw(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start < self.end {
            let count = buffer.len().min(self.end - self.start);
            buffer[..count].copy_from_slice(&self.buffer[self.start..self.start + count]);
            self.start += count;
            return Ok(count);
        }
        read_some(&mut self.reader, buffer)
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
    }
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closed its output")),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// The meaning of one line of output for a driver.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The successful answer to the request with this id.
    Answer(u32),
    /// A notification or a request of the server, which no measure counts.
    Unasked,
}

/// Classifies a line; an error describes what is wrong with it.
pub(crate) fn judge(line: &[u8]) -> Result<Line, String> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<u32>,
        method: Option<IgnoredAny>,
        result: Option<IgnoredAny>,
    }
    let quoted = || String::from_utf8_lossy(&line[..line.len().min(300)]).into_owned();
    let message: Message =
        serde_json::from_slice(line).map_err(|error| format!("it wrote «{}»: {error}", quoted()))?;
    match message {
        Message { method: Some(_), .. } => Ok(Line::Unasked),
        Message { id: Some(id), result: Some(_), .. } => Ok(Line::Answer(id)),
        _ => Err(format!("it answered «{}»", quoted())),
    }
}

/// Whether a line is a notification with this method.
pub(crate) fn is_notification(line: &[u8], method: &str) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        id: Option<IgnoredAny>,
        #[serde(borrow, default)]
        method: Cow<'a, str>,
    }
    serde_json::from_slice(line)
        .is_ok_and(|message: Message<'_>| message.id.is_none() && message.method == method)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its bytes a few at a time, as a pipe may.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn lines_are_complete_however_they_arrive() {
        let long = "x".repeat(200_000);
        let text = format!("one\n{long}\n\nlast\nhalf");
        for step in [1000, 65_536, usize::MAX] {
            let mut lines = ReplyLines::new(Trickle(text.as_bytes(), step));
            assert_eq!(lines.next_line().unwrap(), b"one");
            assert_eq!(lines.next_line().unwrap(), long.as_bytes());
            assert_eq!(lines.next_line().unwrap(), b"");
            assert_eq!(lines.next_line().unwrap(), b"last");
            assert_eq!(lines.next_line().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn only_a_result_is_an_answer() {
        assert_eq!(judge(br#"{"jsonrpc":"2.0","id":7,"result":{}}"#), Ok(Line::Answer(7)));
        assert_eq!(judge(br#"{"jsonrpc":"2.0","method":"notifications/message"}"#), Ok(Line::Unasked));
        assert_eq!(judge(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), Ok(Line::Unasked));
        assert!(judge(br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}"#).is_err());
        assert!(judge(b"hello").is_err());
    }

    #[test]
    fn notifications_are_recognized_by_their_method() {
        let changed = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        assert!(is_notification(changed, "notifications/tools/list_changed"));
        assert!(!is_notification(changed, "notifications/message"));
        assert!(!is_notification(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "ping"));
    }
}
