//! Raw JSON: a piece of text that is known to be valid, and is passed on as it was written.

use std::borrow::Cow;

/// One JSON value as text: borrowed, validated, without surrounding white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

/// A [`Raw`] that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawBuf(Box<str>);

impl RawBuf {
    pub fn as_raw(&self) -> Raw<'_> {
        Raw(&self.0)
    }
}

impl From<Raw<'_>> for RawBuf {
    fn from(raw: Raw<'_>) -> Self {
        Self(raw.0.into())
    }
}

impl<'a> Raw<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self(text)
    }

    pub fn text(self) -> &'a str {
        self.0
    }

    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// An integer literal: digits with an optional sign, so that `1.0` and `1e2` are not integers here.
    pub fn is_integer(self) -> bool {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    }

    pub fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    /// The string, or `None` if the value is not a string or holds a lone surrogate.
    pub fn string(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str::<String>(self.0).ok().map(Cow::Owned)
    }

    /// The kind of this value in words: `a string`, `an object`, ...
    pub fn kind(self) -> &'static str {
        match self.0.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }
}
