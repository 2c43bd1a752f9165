//! JSON parser with the liberties that jq takes: `nan`, and numbers like `+1`, `.5` and `007`.

use std::rc::Rc;

use crate::number::Number;
use crate::value::{Object, Value};

/// How deep arrays and objects may be nested.
pub(crate) const MAX_DEPTH: usize = 10_000;

/// What is wrong with a text, and after how many bytes it was noticed.
#[derive(Debug)]
pub(crate) struct Flaw {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

type Parsed<T> = Result<T, Flaw>;

/// Reads a text that holds one value and nothing else.
pub(crate) fn read(text: &[u8]) -> Parsed<Value> {
    let mut reader = Reader { text, at: 0, keys: Vec::new() };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() { reader.fail("Unexpected extra JSON values") } else { Ok(value) }
}

/// Reads all the values of a text.
pub(crate) fn read_all(text: &[u8]) -> Parsed<Vec<Value>> {
    let mut reader = Reader { text, at: 0, keys: Vec::new() };
    let mut values = Vec::new();
    loop {
        reader.skip_space();
        if reader.at == text.len() {
            return Ok(values);
        }
        values.push(reader.value(0)?);
    }
}

/// How many object keys are cached, so that the objects of a list share them.
const REMEMBERED_KEYS: usize = 64;

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    keys: Vec<Rc<str>>,
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a byte ends a literal such as a number or `true`.
pub(crate) fn ends_literal(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'[' | b']' | b'{' | b'}' | b',' | b':' | b'"')
}

impl Reader<'_> {
    fn fail<T>(&self, what: &'static str) -> Parsed<T> {
        Err(Flaw { what, at: self.at })
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).copied().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Parsed<u8> {
        match self.text.get(self.at) {
            Some(byte) => Ok(*byte),
            None => self.fail("Unfinished JSON term at EOF"),
        }
    }

    fn value(&mut self, depth: usize) -> Parsed<Value> {
        match self.peek()? {
            b'[' | b'{' if depth >= MAX_DEPTH => self.fail("Exceeds depth limit for parsing"),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            b'"' => self.string().map(Value::String),
            b']' | b'}' => self.fail("Unmatched closing bracket"),
            b',' | b':' => self.fail("Expected value before separator"),
            _ => self.literal(),
        }
    }

    fn array(&mut self, depth: usize) -> Parsed<Value> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(Value::array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => break,
                _ => return self.fail("Expected separator between values"),
            }
        }
        self.at += 1;
        Ok(Value::array(items))
    }

    fn object(&mut self, depth: usize) -> Parsed<Value> {
        self.at += 1;
        let mut members = Object::default();
        self.skip_space();
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(Value::Object(members.into()));
        }
        loop {
            self.skip_space();
            match self.peek()? {
                b'"' => {}
                b'[' | b']' | b'{' | b'}' | b',' | b':' => return self.fail("Object keys must be strings"),
                _ => {
                    self.literal()?;
                    return self.fail("Object keys must be strings");
                }
            }
            let key = self.key()?;
            self.skip_space();
            if self.peek()? != b':' {
                return self.fail("Objects must consist of key:value pairs");
            }
            self.at += 1;
            self.skip_space();
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            self.skip_space();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return self.fail("Expected separator between values"),
            }
        }
        self.at += 1;
        Ok(Value::Object(members.into()))
    }

    fn key(&mut self) -> Parsed<Rc<str>> {
        let rest = &self.text[self.at + 1..];
        let known = self.keys.iter().find(|key| {
            rest.get(key.len()) == Some(&b'"')
                && &rest[..key.len()] == key.as_bytes()
                && !key.contains(['"', '\\'])
        });
        if let Some(key) = known {
            self.at += key.len() + 2;
            return Ok(key.clone());
        }
        let key = self.string()?;
        if self.keys.len() < REMEMBERED_KEYS {
            self.keys.push(key.clone());
        }
        Ok(key)
    }

    fn literal(&mut self) -> Parsed<Value> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| !ends_literal(*byte)) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            b"null" => Ok(Value::Null),
            b"true" => Ok(Value::Bool(true)),
            b"false" => Ok(Value::Bool(false)),
            literal => match std::str::from_utf8(literal).ok().and_then(number) {
                Some(number) => Ok(Value::Number(number)),
                None if literal.first() == Some(&b'\'') => {
                    self.fail("Invalid string literal; expected \", but got '")
                }
                None => self.fail("Invalid numeric literal"),
            },
        }
    }

    fn string(&mut self) -> Parsed<Rc<str>> {
        self.at += 1;
        let start = self.at;
        let plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
        self.at += self.text[start..].iter().take_while(|byte| plain(byte)).count();
        if self.peek()? == b'"' {
            let text = String::from_utf8_lossy(&self.text[start..self.at]);
            self.at += 1;
            return Ok(text.into());
        }
        let mut bytes = self.text[start..self.at].to_vec();
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Ok(String::from_utf8_lossy(&bytes).into()),
                b'\\' => {
                    let char = self.escape()?;
                    bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                }
                0..0x20 => {
                    return self.fail(
                        "Invalid string: control characters from U+0000 through U+001F must be escaped",
                    );
                }
                other => bytes.push(other),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return self.fail("Invalid escape"),
        })
    }

    /// A character by its number. A lone second half of a pair is replaced like invalid bytes.
    fn unicode_escape(&mut self) -> Parsed<char> {
        let unit = self.hex()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let paired = self.text[self.at..].starts_with(b"\\u");
        self.at += if paired { 2 } else { 0 };
        let low = if paired { self.hex()? } else { 0 };
        if !(0xdc00..0xe000).contains(&low) {
            return self.fail("Invalid \\uXXXX\\uXXXX surrogate pair escape");
        }
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Parsed<u32> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits.and_then(|digits| std::str::from_utf8(digits).ok()) else {
            return self.fail("Invalid escape");
        };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or(0))
    }
}

/// Reads a number as jq does; `None` if jq would refuse it.
pub(crate) fn number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let negative = text.starts_with('-');
    if unsigned.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN.into());
    }
    if unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf") {
        return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY }.into());
    }
    let (mantissa, power) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, p)| (m, Some(p)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let power_fits = power.is_none_or(|power| {
        let power = power.strip_prefix(['-', '+']).unwrap_or(power);
        !power.is_empty() && digits(power)
    });
    let fits = digits(whole) && digits(fraction) && whole.len() + fraction.len() > 0 && power_fits;
    fits.then(|| Number::read(text))
}
