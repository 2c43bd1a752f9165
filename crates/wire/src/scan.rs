//! JSON scanner: validates a text in one pass, limits its depth and the length of its numbers, and reports the
//! positions of an object's members. It builds nothing and does not recurse.

use crate::Raw;
use thiserror::Error;

/// The limits of a message.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest line, in bytes.
    pub message_bytes: usize,
    /// How deep objects and arrays may be nested.
    pub depth: usize,
    /// The longest number literal, in characters.
    pub number_length: usize,
}

impl Limits {
    pub const NONE: Self = Self { message_bytes: usize::MAX, depth: usize::MAX, number_length: usize::MAX };
}

impl Default for Limits {
    fn default() -> Self {
        Self { message_bytes: 32 * 1024 * 1024, depth: 100, number_length: 1000 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ScanError {
    #[error("unexpected character at byte {0}")]
    Syntax(usize),
    #[error("the text ends too early")]
    End,
    #[error("nesting exceeds {0} levels")]
    TooDeep(usize),
    #[error("a number exceeds {0} characters")]
    NumberTooLong(usize),
}

impl ScanError {
    /// Whether the text is JSON as far as it was read, and only exceeds a limit.
    pub fn is_limit(self) -> bool {
        matches!(self, Self::TooDeep(_) | Self::NumberTooLong(_))
    }
}

/// A position in a JSON text.
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    limits: Limits,
    /// The closing brackets that are still owed, innermost last.
    open: Vec<u8>,
    /// The text is known to be JSON, so that its strings need not be searched for invalid characters.
    is_known: bool,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, limits: Limits) -> Self {
        Self { text, at: 0, limits, open: Vec::new(), is_known: false }
    }

    /// Scans a value again, to find its members or elements.
    pub fn again(value: Raw<'a>) -> Self {
        Self { is_known: true, ..Self::new(value.text(), Limits::NONE) }
    }

    /// The one value of the text, with only white space around it.
    pub fn whole_value(mut self) -> Result<Raw<'a>, ScanError> {
        self.blanks();
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    /// Only white space may follow.
    pub fn end(&mut self) -> Result<(), ScanError> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { Err(ScanError::Syntax(self.at)) }
    }

    /// Calls `visit` with each member of the object that starts here, key first, as they are written.
    pub fn members(&mut self, mut visit: impl FnMut(Raw<'a>, Raw<'a>)) -> Result<(), ScanError> {
        self.blanks();
        self.expect(b'{')?;
        self.deepen(b'}')?;
        self.blanks();
        if self.take(b'}') {
            self.open.pop();
            return Ok(());
        }
        loop {
            self.blanks();
            let key = self.string()?;
            self.blanks();
            self.expect(b':')?;
            self.blanks();
            let value = self.value()?;
            self.blanks();
            let last = self.take(b'}');
            if !last {
                self.expect(b',')?;
            }
            // Only now is it certain that the value was not truncated: a number has no end marker of its own.
            visit(key, value);
            if last {
                self.open.pop();
                return Ok(());
            }
        }
    }

    /// Calls `visit` with each element of the array that starts here.
    pub fn elements(&mut self, mut visit: impl FnMut(Raw<'a>)) -> Result<(), ScanError> {
        self.blanks();
        self.expect(b'[')?;
        self.deepen(b']')?;
        self.blanks();
        if self.take(b']') {
            self.open.pop();
            return Ok(());
        }
        loop {
            self.blanks();
            visit(self.value()?);
            self.blanks();
            if self.take(b']') {
                self.open.pop();
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// The value that starts here, whatever it holds.
    pub fn value(&mut self) -> Result<Raw<'a>, ScanError> {
        let start = self.at;
        let floor = self.open.len();
        loop {
            self.start_of_value()?;
            if self.owed(floor).is_none() || !self.close_and_continue(floor)? {
                return Ok(self.raw(start));
            }
        }
    }

    /// Reads the start of a value. A non-empty container is opened, up to the start of its first value.
    fn start_of_value(&mut self) -> Result<(), ScanError> {
        loop {
            match self.peek()? {
                b'"' => self.string().map(drop)?,
                b'{' => {
                    self.at += 1;
                    self.deepen(b'}')?;
                    self.blanks();
                    if self.take(b'}') {
                        self.open.pop();
                    } else {
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    self.deepen(b']')?;
                    self.blanks();
                    if self.take(b']') {
                        self.open.pop();
                    } else {
                        continue;
                    }
                }
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return Err(ScanError::Syntax(self.at)),
            }
            return Ok(());
        }
    }

    /// After a value: closes the containers that end here. True when another value of an open container follows.
    fn close_and_continue(&mut self, floor: usize) -> Result<bool, ScanError> {
        while let Some(closing) = self.owed(floor) {
            self.blanks();
            if self.take(closing) {
                self.open.pop();
                continue;
            }
            self.expect(b',')?;
            self.blanks();
            if closing == b'}' {
                self.key()?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    fn owed(&self, floor: usize) -> Option<u8> {
        if self.open.len() > floor { self.open.last().copied() } else { None }
    }

    fn key(&mut self) -> Result<(), ScanError> {
        self.string()?;
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        Ok(())
    }

    fn deepen(&mut self, closing: u8) -> Result<(), ScanError> {
        if self.open.len() >= self.limits.depth {
            return Err(ScanError::TooDeep(self.limits.depth));
        }
        self.open.push(closing);
        Ok(())
    }

    fn string(&mut self) -> Result<Raw<'a>, ScanError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.expect(b'"')?;
        loop {
            let rest = &bytes[self.at..];
            let Some(plain) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(self.control_in(rest).unwrap_or(ScanError::End));
            };
            if !self.is_known
                && let Some(error) = self.control_in(&rest[..plain])
            {
                return Err(error);
            }
            self.at += plain + 1;
            if rest[plain] == b'"' {
                return Ok(self.raw(start));
            }
            self.escape()?;
        }
    }

    /// The first control character of `bytes`, which starts at the current position, as an error.
    fn control_in(&self, bytes: &[u8]) -> Option<ScanError> {
        // The smallest byte is found without an early exit, which is vectorised; the common case has no such byte.
        if bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte)) >= 0x20 {
            return None;
        }
        bytes.iter().position(|byte| *byte < 0x20).map(|offset| ScanError::Syntax(self.at + offset))
    }

    fn escape(&mut self) -> Result<(), ScanError> {
        let kind = self.peek()?;
        self.at += 1;
        match kind {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    if !self.peek()?.is_ascii_hexdigit() {
                        return Err(ScanError::Syntax(self.at));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(ScanError::Syntax(self.at - 1)),
        }
    }

    fn number(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        if self.at - start > self.limits.number_length {
            return Err(ScanError::NumberTooLong(self.limits.number_length));
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ScanError> {
        if !self.peek()?.is_ascii_digit() {
            return Err(ScanError::Syntax(self.at));
        }
        while self.text.as_bytes().get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Result<(), ScanError> {
        for expected in word.bytes() {
            self.expect(expected)?;
        }
        Ok(())
    }

    fn raw(&self, start: usize) -> Raw<'a> {
        Raw::new(&self.text[start..self.at])
    }

    fn blanks(&mut self) {
        while matches!(self.text.as_bytes().get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, ScanError> {
        self.text.as_bytes().get(self.at).copied().ok_or(ScanError::End)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), ScanError> {
        if self.peek()? == byte {
            self.at += 1;
            Ok(())
        } else {
            Err(ScanError::Syntax(self.at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan(text: &str) -> Result<Raw<'_>, ScanError> {
        Scanner::new(text, Limits::NONE).whole_value()
    }

    /// Texts near JSON: its own tokens in any order, which find more than arbitrary characters do.
    fn near_json() -> impl Strategy<Value = String> {
        let token = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("\"a\""),
            Just("\"\\u00e9\""),
            Just("\"\\x\""),
            Just("\"\u{1}\""),
            Just("\""),
            Just("0"),
            Just("-1.5e+3"),
            Just("01"),
            Just("1."),
            Just("-"),
            Just("true"),
            Just("nul"),
            Just("null"),
            Just(" "),
            Just("\r"),
            Just("é"),
        ];
        proptest::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
                proptest::collection::vec((any::<String>(), inner), 0..8)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_serde_json_on_what_json_is(text in near_json()) {
            let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text);
            prop_assert_eq!(scan(&text).is_ok(), theirs.is_ok(), "{:?}: {:?}", text, theirs);
        }

        #[test]
        fn accepts_every_serialised_value_whole(value in any_json()) {
            let text = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(scan(&text).map(Raw::text), Ok(text.as_str()));
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(scan(&pretty).map(Raw::text), Ok(pretty.as_str()));
        }

        #[test]
        fn members_are_those_serde_json_finds(members in proptest::collection::btree_map("[a-z]{1,4}", any_json(), 0..6)) {
            let text = serde_json::to_string(&members).unwrap();
            let expected: Vec<_> =
                members.iter().map(|(key, value)| (key.clone(), serde_json::to_string(value).unwrap())).collect();
            let mut found = Vec::new();
            Scanner::new(&text, Limits::NONE)
                .members(|key, value| found.push((key.string().unwrap().into_owned(), value.text().to_owned())))
                .unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let limits = Limits { depth: 5, ..Limits::NONE };
        assert!(scan(&deep).is_ok());
        assert_eq!(Scanner::new(&deep, limits).whole_value(), Err(ScanError::TooDeep(5)));
        assert!(Scanner::new("[[[[[]]]]]", limits).whole_value().is_ok());
        assert!(Scanner::new("[[[[[[]]]]]]", limits).whole_value().is_err());
    }

    #[test]
    fn numbers_are_bounded() {
        let limits = Limits { number_length: 4, ..Limits::NONE };
        assert!(Scanner::new("[1234]", limits).whole_value().is_ok());
        assert_eq!(Scanner::new("[12345]", limits).whole_value(), Err(ScanError::NumberTooLong(4)));
    }
}
