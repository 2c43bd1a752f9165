//! Request ids: echoed exactly as they came, compared by value.

use crate::Raw;
use std::hash::{Hash, Hasher};

/// The id of a request: a string or an integer of any size.
///
/// The text is kept as the client wrote it, because the answer must repeat it exactly. Two ids are equal when they are
/// the same value: `"A"` and `"\u0041"` are, `1` and `"1"` are not.
#[derive(Debug, Clone)]
pub struct Id {
    text: Box<str>,
    /// The plain spelling, if the text is not it already.
    plain: Option<Box<str>>,
}

impl Id {
    /// The longest id, in bytes. It is kept in several places for as long as its request is worked on.
    pub const LONGEST: usize = 64 * 1024;

    /// `None` for a value that cannot be an id: `null`, a fraction, a boolean, an object, an array, broken Unicode, or
    /// one that is too long.
    pub fn read(raw: Raw<'_>) -> Option<Self> {
        let text = raw.text();
        if text.len() > Self::LONGEST {
            return None;
        }
        if raw.is_integer() {
            let plain = (text == "-0").then(|| "0".into());
            return Some(Self { text: text.into(), plain });
        }
        let string = raw.string()?;
        let plain = text.contains('\\').then(|| format!("\"{string}\"").into());
        Some(Self { text: text.into(), plain })
    }

    /// The id as JSON, as the client wrote it.
    pub fn as_json(&self) -> &str {
        &self.text
    }

    fn plain(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.text)
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.plain() == other.plain()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plain().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<Id> {
        Id::read(Raw::new(text))
    }

    #[test]
    fn keeps_the_text_and_compares_the_value() {
        assert_eq!(id("9007199254740993").unwrap().as_json(), "9007199254740993");
        assert_eq!(id(r#""\u0041""#).unwrap().as_json(), r#""\u0041""#);
        assert_eq!(id(r#""\u0041""#), id(r#""A""#));
        assert_ne!(id(r#""1""#), id("1"));
        assert_eq!(id("-0"), id("0"));
        assert_eq!(id(r#""""#).unwrap().as_json(), r#""""#);
    }

    #[test]
    fn refuses_invalid_ids() {
        for text in ["null", "1.0", "1e3", "true", "{}", "[1]", r#""\ud800""#] {
            assert!(id(text).is_none(), "{text}");
        }
        let long = |length| format!("\"{}\"", "x".repeat(length - 2));
        assert!(id(&long(Id::LONGEST)).is_some() && id(&long(Id::LONGEST + 1)).is_none());
    }
}
