//! Frames: cuts a stream of JSON text into values, without waiting for more than a value needs.

use std::io::{self, Read};

use crate::read::{ends_literal, is_space};

/// How many bytes are read at once.
const CHUNK: usize = 64 * 1024;

/// A source of text, and the position in it.
pub(crate) struct Frames<'a> {
    source: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    /// The position of the next value in the buffer.
    start: usize,
    ended: bool,
    /// How many lines were consumed.
    lines: usize,
    /// How many bytes of the current line were consumed.
    column: usize,
}

fn line_breaks(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(*byte == b'\n')).sum()
}

/// The state of a scan for the end of a value.
#[derive(Default)]
struct Scan {
    at: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl<'a> Frames<'a> {
    pub(crate) fn new(source: Box<dyn Read + 'a>) -> Self {
        Self { source, buffer: Vec::new(), start: 0, ended: false, lines: 0, column: 0 }
    }

    /// The text of the next value, or `None` at the end. Text that is not JSON is cut somewhere.
    pub(crate) fn next_value(&mut self) -> io::Result<Option<&[u8]>> {
        if !self.skip_space()? {
            return Ok(None);
        }
        let mut scan = Scan::default();
        while !scan.finds_end(&self.buffer[self.start..]) {
            if !self.fill()? {
                break;
            }
        }
        Ok(Some(self.take(scan.at)))
    }

    /// The next line without its end, or `None` after the last.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..];
            if let Some(found) = rest[searched..].iter().position(|byte| *byte == b'\n') {
                let length = searched + found;
                return Ok(Some(&self.take(length + 1)[..length]));
            }
            searched = rest.len();
            if !self.fill()? {
                return Ok(if searched == 0 { None } else { Some(self.take(searched)) });
            }
        }
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> io::Result<&[u8]> {
        while self.fill()? {}
        let length = self.buffer.len() - self.start;
        Ok(self.take(length))
    }

    /// The number of the line that was read last, counting it if its end is known.
    pub(crate) fn line(&self) -> usize {
        self.lines + usize::from(self.column > 0 && self.buffer[self.start..].contains(&b'\n'))
    }

    /// Line and column of a position in the text that was returned last.
    pub(crate) fn place(&self, text: &[u8], at: usize) -> (usize, usize) {
        let lines = line_breaks(text);
        let before = &text[..at.min(text.len())];
        let breaks = line_breaks(before);
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
        let offset = if breaks == 0 { self.column.saturating_sub(text.len()) } else { 0 };
        (self.lines - lines.min(self.lines) + breaks + 1, column + offset)
    }

    fn skip_space(&mut self) -> io::Result<bool> {
        loop {
            let rest = &self.buffer[self.start..];
            let mark =
                if self.lines == 0 && self.column == 0 && rest.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            let spaces = rest[mark..].iter().take_while(|byte| is_space(**byte) || **byte == 0x1e).count();
            let found = mark + spaces < rest.len();
            self.take(mark + spaces);
            if found {
                return Ok(true);
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    fn take(&mut self, length: usize) -> &[u8] {
        let taken = &self.buffer[self.start..self.start + length];
        self.lines += line_breaks(taken);
        match taken.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => self.column = length - last - 1,
            None => self.column += length,
        }
        self.start += length;
        taken
    }

    /// Reads more. Returns whether there was more to read.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK.max(filled / 2), 0);
        let read = loop {
            match self.source.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(filled + count);
        self.ended = read? == 0;
        Ok(!self.ended)
    }
}

impl Scan {
    /// Continues from where it stopped. Returns whether the end of the value was found, at `self.at`.
    fn finds_end(&mut self, text: &[u8]) -> bool {
        while let Some(byte) = text.get(self.at).copied() {
            if self.in_string {
                self.at += 1;
                if self.escaped {
                    self.escaped = false;
                } else if byte == b'\\' {
                    self.escaped = true;
                } else if byte == b'"' {
                    self.in_string = false;
                    if self.depth == 0 {
                        return true;
                    }
                }
                continue;
            }
            // A top-level literal ends before any byte that cannot belong to it.
            if self.depth == 0 && self.at > 0 && ends_literal(byte) {
                // A separator at the top level is wrong, and makes the value before it wrong, too.
                self.at += usize::from(matches!(byte, b',' | b':'));
                return true;
            }
            self.at += 1;
            match byte {
                b'"' => self.in_string = true,
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return true;
                    }
                }
                b',' | b':' if self.depth == 0 => return true,
                _ => {}
            }
        }
        false
    }
}
