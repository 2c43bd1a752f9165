//! Escapes: how a byte of a secret may be written in a text. Each notation reads a text unit by unit; a unit stands for some
//! bytes and has a length in the text.

/// The longest escape: `\ud83d\ude00`, or `&#1114111;` and a few zeros.
const LONGEST: usize = 12;

/// A notation with escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// `\"`, `\/`, `\u0041`, `\x41`, `\101`, and a backslash before any other character: JSON, shells and programming
    /// languages.
    Backslash,
    /// `%41`: URLs.
    Percent,
    /// `&amp;`, `&#65;`, `&#x41;`: XML and HTML.
    Entity,
}

/// What a unit stands for.
pub(super) struct Unit {
    bytes: [u8; 4],
    count: usize,
    /// Its length in the text.
    pub(super) length: usize,
}

impl Unit {
    fn byte(byte: u8, length: usize) -> Self {
        Self { bytes: [byte, 0, 0, 0], count: 1, length }
    }

    fn character(code: u32, length: usize) -> Self {
        let mut bytes = [0; 4];
        let count = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut bytes).len();
        Self { bytes, count, length }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

impl Notation {
    /// The unit at the beginning of a text that is not empty.
    #[inline]
    pub(super) fn unit(self, text: &[u8]) -> Unit {
        let escaped = match (self, text[0]) {
            (Self::Backslash, b'\\') => backslash(text),
            (Self::Percent, b'%') => number(text.get(1..3), 16).map(|code| Unit::byte(low_byte(code), 3)),
            (Self::Entity, b'&') => entity(text),
            _ => None,
        };
        escaped.unwrap_or_else(|| Unit::byte(text[0], 1))
    }

    /// The unit of a text that is written in this notation, and then with backslashes: XML in the string of a log line, say.
    pub(super) fn unit_within_backslashes(self, text: &[u8]) -> Unit {
        let first = Self::Backslash.unit(text);
        let begins = match self {
            Self::Backslash => b'\\',
            Self::Percent => b'%',
            Self::Entity => b'&',
        };
        if first.bytes() != [begins] {
            return first;
        }
        let (mut read, mut ends, mut count, mut at) = ([0; LONGEST], [0; LONGEST], 0, 0);
        while count < LONGEST && at < text.len() {
            let unit = Self::Backslash.unit(&text[at..]);
            // Escapes are ASCII.
            let [byte] = *unit.bytes() else { break };
            at += unit.length;
            (read[count], ends[count]) = (byte, at);
            count += 1;
        }
        let unit = self.unit(&read[..count]);
        Unit { length: ends[unit.length - 1], ..unit }
    }

    /// Whether a text may read differently in this notation. Line breaks are ignored in each, and one of them is enough.
    pub(super) fn occurs_in(self, text: &[u8]) -> bool {
        match self {
            Self::Backslash => memchr::memchr3(b'\\', b'\n', b'\r', text).is_some(),
            Self::Percent => memchr::memchr(b'%', text).is_some(),
            Self::Entity => memchr::memchr(b'&', text).is_some(),
        }
    }
}

fn backslash(text: &[u8]) -> Option<Unit> {
    let unit = match *text.get(1)? {
        b'n' => Unit::byte(b'\n', 2),
        b'r' => Unit::byte(b'\r', 2),
        b't' => Unit::byte(b'\t', 2),
        b'b' => Unit::byte(8, 2),
        b'f' => Unit::byte(12, 2),
        b'x' => Unit::byte(low_byte(number(text.get(2..4), 16)?), 4),
        b'u' => utf16(text)?,
        digit @ b'0'..=b'3' => match number(text.get(1..4), 8) {
            Some(code) => Unit::byte(low_byte(code), 4),
            None => Unit::byte(digit, 2),
        },
        other => Unit::byte(other, 2),
    };
    Some(unit)
}

/// `\u0041`, or two of them that make one character.
fn utf16(text: &[u8]) -> Option<Unit> {
    let unit_at = |at: usize| {
        let is_there = text.get(at..at + 2) == Some(b"\\u");
        is_there.then(|| number(text.get(at + 2..at + 6), 16)).flatten()
    };
    let first = unit_at(0)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some(Unit::character(first, 6));
    }
    match unit_at(6).filter(|second| (0xdc00..0xe000).contains(second)) {
        Some(second) => Some(Unit::character(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)),
        None => Some(Unit::character(first, 6)),
    }
}

fn entity(text: &[u8]) -> Option<Unit> {
    let end = text.iter().take(LONGEST).position(|byte| *byte == b';')?;
    let code = match &text[1..end] {
        b"amp" => u32::from(b'&'),
        b"lt" => u32::from(b'<'),
        b"gt" => u32::from(b'>'),
        b"quot" => u32::from(b'"'),
        b"apos" => u32::from(b'\''),
        [b'#', b'x' | b'X', digits @ ..] => number(Some(digits), 16)?,
        [b'#', digits @ ..] => number(Some(digits), 10)?,
        _ => return None,
    };
    Some(Unit::character(code, end + 1))
}

fn number(digits: Option<&[u8]>, radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits?).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, radix).ok()
}

fn low_byte(code: u32) -> u8 {
    code.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(notation: Notation, text: &str) -> String {
        read_by(|text| notation.unit(text), text)
    }

    fn read_by(unit_of: impl Fn(&[u8]) -> Unit, text: &str) -> String {
        let (mut rest, mut all) = (text.as_bytes(), Vec::new());
        while !rest.is_empty() {
            let unit = unit_of(rest);
            all.extend_from_slice(unit.bytes());
            rest = &rest[unit.length..];
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(
            read(Notation::Backslash, r#"a\"\\\/\u0041\u00e9\ud83d\ude00\x42\101\303\251\ \$"#),
            "a\"\\/Aé😀BAé $"
        );
        assert_eq!(read(Notation::Percent, "a%2Fb%2fc+%C3%A9"), "a/b/c+é");
        assert_eq!(read(Notation::Entity, "a&amp;&lt;&gt;&quot;&apos;&#65;&#x42;"), "a&<>\"'AB");
    }

    #[test]
    fn escapes_are_read_within_backslashes() {
        let read = |notation: Notation, text| read_by(|text| notation.unit_within_backslashes(text), text);
        for (notation, text, said) in [
            (Notation::Entity, r"a\\&lt;\u0026amp;&#6\u0035;&no", r"a\<&A&no"),
            (Notation::Percent, r"\/%2f%\u0032F\u0025zz", "///%zz"),
            (Notation::Backslash, r#"\\\"\\u0041\n\\"#, "\"A\n\\"),
        ] {
            assert_eq!(read(notation, text), said);
        }
    }

    #[test]
    fn what_is_no_escape_stands_for_itself() {
        for text in ["100%", "%", "%+1", "%zz", "a & b;", "&nothing;", "&#;", "&#x110000", "&"] {
            assert_eq!(read(Notation::Percent, text), text);
            assert_eq!(read(Notation::Entity, text), text);
        }
        assert_eq!(read(Notation::Backslash, "\\"), "\\");
        assert_eq!(read(Notation::Backslash, r"\u12"), r"\u12");
        assert_eq!(read(Notation::Backslash, r"\ud800x"), "\u{fffd}x");
    }
}
