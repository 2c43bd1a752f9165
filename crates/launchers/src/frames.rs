//! Frames: what the supervisor reports, between the lines that the tool writes to standard error. A frame is a line break,
//! the mark of the call, a blank, a letter for its kind, its text and a line break. The bytes around it are those of the
//! tool, unchanged.

use thiserror::Error;

/// The longest frame on the line, in bytes. The supervisor cuts what is longer.
const LONGEST: usize = 64 * 1024;

/// The longest text that is put together from pieces, in bytes.
const LONGEST_WHOLE: usize = 8 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Not a frame: the words of the launcher until the tool starts, then standard error of the tool.
    Text(Vec<u8>),
    /// The supervisor runs, on the host of this name.
    Hello(String),
    /// The host cannot run the tool.
    Refused(String),
    Started,
    /// A line of the side channel.
    Line(Vec<u8>),
    /// A question by its number.
    Question(u64, Vec<u8>),
    /// The file in which the tool leaves an error.
    OwnError(Vec<u8>),
    /// The tool has ended with this exit code, and nothing is left of it.
    Exited(i32),
}

/// The other side does not follow the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("it sent a report that cannot be read: {0}")]
pub(crate) struct Garbled(String);

pub(crate) struct Decoder {
    /// A line break, the mark and a blank.
    start: Vec<u8>,
    held: Vec<u8>,
    pieces: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new(mark: &str) -> Self {
        Self { start: format!("\n{mark} ").into_bytes(), held: Vec::new(), pieces: Vec::new() }
    }

    /// Takes bytes, and calls `on_event` for each event that is complete.
    pub(crate) fn take(&mut self, bytes: &[u8], mut on_event: impl FnMut(Event)) -> Result<(), Garbled> {
        self.held.extend_from_slice(bytes);
        loop {
            let Some(at) = find(&self.held, &self.start) else {
                let keep = self.beginning_at_end();
                let text: Vec<u8> = self.held.drain(..self.held.len() - keep).collect();
                if !text.is_empty() {
                    on_event(Event::Text(text));
                }
                return Ok(());
            };
            if at > 0 {
                on_event(Event::Text(self.held.drain(..at).collect()));
            }
            let body = self.start.len();
            let Some(length) = self.held[body..].iter().position(|byte| *byte == b'\n') else {
                let is_too_long = self.held.len() > LONGEST;
                return if is_too_long { Err(Garbled("it has no end".to_owned())) } else { Ok(()) };
            };
            let frame: Vec<u8> = self.held.drain(..=body + length).skip(body).take(length).collect();
            if let Some(event) = self.read(&frame)? {
                on_event(event);
            }
        }
    }

    /// The rest that is no frame, at the end of the stream.
    pub(crate) fn rest(self) -> Vec<u8> {
        self.held
    }

    /// How many bytes at the end may be the beginning of a frame.
    fn beginning_at_end(&self) -> usize {
        let longest = self.start.len().min(self.held.len());
        (1..=longest).rev().find(|count| self.held.ends_with(&self.start[..*count])).unwrap_or(0)
    }

    fn read(&mut self, frame: &[u8]) -> Result<Option<Event>, Garbled> {
        let (kind, text) = frame.split_first().unwrap_or((&b' ', &[]));
        let text = text.strip_prefix(b" ").unwrap_or(text);
        let garbled =
            || Garbled(String::from_utf8_lossy(&frame[..frame.len().min(80)]).escape_debug().to_string());
        let words = || String::from_utf8_lossy(text).trim().to_owned();
        if *kind == b'+' {
            self.pieces.extend_from_slice(text);
            let fits = self.pieces.len() <= LONGEST_WHOLE;
            return if fits { Ok(None) } else { Err(Garbled("it is too long".to_owned())) };
        }
        Ok(Some(match kind {
            b'H' => Event::Hello(words()),
            b'!' => Event::Refused(words()),
            b'S' => Event::Started,
            b'L' => Event::Line(self.whole(text)),
            b'E' => Event::OwnError(self.whole(text)),
            b'Q' => {
                let whole = self.whole(text);
                let blank = whole.iter().position(|byte| *byte == b' ').ok_or_else(garbled)?;
                let number = std::str::from_utf8(&whole[..blank]).ok().and_then(|number| number.parse().ok());
                Event::Question(number.ok_or_else(garbled)?, whole[blank + 1..].to_owned())
            }
            b'X' => Event::Exited(
                words().parse().ok().filter(|code| (0..=255).contains(code)).ok_or_else(garbled)?,
            ),
            _ => return Err(garbled()),
        }))
    }

    /// The pieces that came before, and this one.
    fn whole(&mut self, last: &[u8]) -> Vec<u8> {
        let mut whole = std::mem::take(&mut self.pieces);
        whole.extend_from_slice(last);
        whole
    }
}

/// Where `wanted` begins. Its first byte is a line break, which is rare.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(parts: &[&str]) -> Result<(Vec<Event>, String), Garbled> {
        let (mut decoder, mut events) = (Decoder::new("mark"), Vec::new());
        for part in parts {
            decoder.take(part.as_bytes(), |event| events.push(event))?;
        }
        Ok((events, String::from_utf8(decoder.rest()).unwrap()))
    }

    fn text(text: &str) -> Event {
        Event::Text(text.as_bytes().to_owned())
    }

    #[test]
    fn the_bytes_around_frames_stay_as_they_are() {
        let (found, rest) = events(&["a\n\nmark S\nb\n\nmark X 3\n\n"]).unwrap();
        assert_eq!(found, [text("a\n"), Event::Started, text("b\n"), Event::Exited(3)]);
        assert_eq!(rest, "\n");
    }

    #[test]
    fn a_frame_may_arrive_in_any_pieces() {
        let whole = "tool\nmark H node 1\nmark\nmark L {\"a\":1}\nmar";
        for cut in 0..whole.len() {
            let (found, rest) = events(&[&whole[..cut], &whole[cut..]]).unwrap();
            let mut said = String::new();
            let mut frames = Vec::new();
            for event in found {
                match event {
                    Event::Text(text) => said += std::str::from_utf8(&text).unwrap(),
                    frame => frames.push(frame),
                }
            }
            assert_eq!(frames, [Event::Hello("node 1".into()), Event::Line(b"{\"a\":1}".into())], "{cut}");
            assert_eq!(said + &rest, "toolmarkmar", "{cut}");
        }
    }

    #[test]
    fn long_lines_are_put_together() {
        let (found, _) = events(&["\nmark + 7 {\n\nmark + }\n\nmark Q \n"]).unwrap();
        assert_eq!(found, [Event::Question(7, b"{}".into())]);
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for wrong in
            ["\nmark Z\n", "\nmark X\n", "\nmark X 256\n", "\nmark X -1\n", "\nmark Q x {}\n", "\nmark \n"]
        {
            assert!(events(&[wrong]).is_err(), "{wrong:?}");
        }
        let endless = format!("\nmark L {}", "x".repeat(LONGEST));
        assert!(events(&[&endless]).is_err());
        let pieces = format!("\nmark + {}\n", "x".repeat(LONGEST - 100)).repeat(200);
        assert!(events(&[&pieces]).is_err());
    }
}
