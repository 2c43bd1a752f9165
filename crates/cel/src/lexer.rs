//! Lexer: a text becomes tokens with positions.

use crate::error::{CompileError, Mistake, Position};
use crate::literal;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Name(String),
    /// A field in backquotes, which need not be a name.
    Quoted(String),
    /// The sign before a number is an operator of its own.
    Int(u64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")",
    "[", "]", "{", "}",
];

/// The tokens of a text; the last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Position)>, CompileError> {
    let mut lexer = Lexer { rest: text, at: Position { line: 1, column: 1 } };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space();
        let at = lexer.at;
        let token = lexer.token().map_err(|mistake| CompileError { at, mistake })?;
        let is_end = token == Token::End;
        tokens.push((token, at));
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    at: Position,
}

impl<'t> Lexer<'t> {
    /// Takes some bytes, which end at a character.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        for letter in taken.chars() {
            if letter == '\n' {
                self.at = Position { line: self.at.line + 1, column: 1 };
            } else {
                self.at.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) {
        loop {
            let space =
                self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']).len();
            self.take(space);
            if !self.rest.starts_with("//") {
                return;
            }
            let line = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(line);
        }
    }

    fn token(&mut self) -> Result<Token, Mistake> {
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        let bytes = self.rest.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        if first.is_ascii_digit() || first == '.' && is_digit(1) {
            return self.number();
        }
        if let Some(quoted) = self.quoted()? {
            return Ok(quoted);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            return Ok(Token::Name(self.take(end.unwrap_or(self.rest.len())).to_owned()));
        }
        if first == '`' {
            let end = self.rest[1..].find('`').ok_or(Mistake::OpenString)?;
            let field = self.take(end + 2);
            return Ok(Token::Quoted(field[1..=end].to_owned()));
        }
        let Some(sign) = SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) else {
            return Err(match first {
                '=' => Mistake::Assignment,
                '&' => Mistake::HalfOperator('&', "&&"),
                '|' => Mistake::HalfOperator('|', "||"),
                other => Mistake::Character(other),
            });
        };
        self.take(sign.len());
        Ok(Token::Sign(sign))
    }

    fn number(&mut self) -> Result<Token, Mistake> {
        let is_hex = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        if is_hex {
            let digits = self.rest[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
            let text = self.take(2 + digits);
            let value = u64::from_str_radix(&text[2..], 16).map_err(|_| Mistake::Number(text.to_owned()))?;
            return Ok(self.unsigned_or(value));
        }
        let bytes = self.rest.as_bytes();
        let digits =
            |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        let mut is_double = false;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            is_double = true;
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                is_double = true;
                end += 1 + sign + exponent;
            }
        }
        let text = self.take(end);
        let out_of_range = || Mistake::Number(text.to_owned());
        if is_double {
            return Ok(Token::Double(text.parse().map_err(|_| out_of_range())?));
        }
        let value = text.parse().map_err(|_| out_of_range())?;
        Ok(self.unsigned_or(value))
    }

    fn unsigned_or(&mut self, value: u64) -> Token {
        if self.rest.starts_with(['u', 'U']) {
            self.take(1);
            return Token::Uint(value);
        }
        Token::Int(value)
    }

    /// A string or bytes, if one begins here: a prefix of `r` and `b`, and one or three quotes.
    fn quoted(&mut self) -> Result<Option<Token>, Mistake> {
        let prefix = self.rest.bytes().take(3).take_while(|byte| b"rRbB".contains(byte)).count();
        let quote = match self.rest.as_bytes().get(prefix) {
            Some(b'"') => "\"\"\"",
            Some(b'\'') => "'''",
            _ => return Ok(None),
        };
        let letters = self.rest[..prefix].to_ascii_lowercase();
        if !["", "r", "b", "rb", "br"].contains(&&*letters) {
            return Ok(None);
        }
        let (is_raw, is_bytes) = (letters.contains('r'), letters.contains('b'));
        let body = &self.rest[prefix..];
        let quote = if body.starts_with(quote) { quote } else { &quote[..1] };
        let inside = &body[quote.len()..];
        let end = end_of_string(inside, quote, is_raw).ok_or(Mistake::OpenString)?;
        let content = &inside[..end];
        let token = match (is_raw, is_bytes) {
            (true, false) => Token::String(content.to_owned()),
            (true, true) => Token::Bytes(content.as_bytes().to_owned()),
            (false, false) => Token::String(literal::unescape(content)?),
            (false, true) => Token::Bytes(literal::unescape_bytes(content)?),
        };
        self.take(prefix + 2 * quote.len() + end);
        Ok(Some(token))
    }
}

/// Where the closing quote of a string is.
fn end_of_string(inside: &str, quote: &str, is_raw: bool) -> Option<usize> {
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        if inside[at..].starts_with(quote) {
            return Some(at);
        }
        match letter {
            '\\' if !is_raw => drop(letters.next()),
            '\n' | '\r' if quote.len() == 1 => return None,
            _ => {}
        }
    }
    None
}
