//! Cursors: the position of a client in a list, as an opaque word.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// A position in one list, at one state of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub collection: &'static str,
    pub offset: usize,
    /// The hash of the list that was cut into pages.
    pub hash: String,
    pub timestamp: String,
}

impl Cursor {
    pub fn encode(&self) -> String {
        let Self { collection, offset, hash, timestamp } = self;
        let payload = json!({ "ver": 1, "collection": collection, "offset": offset, "hash": hash, "timestamp": timestamp });
        URL_SAFE_NO_PAD.encode(payload.to_string())
    }

    /// The offset of a cursor into `collection` while its hash is `hash`. `None` for a cursor that is stale, of another
    /// list, or not written by us.
    pub fn decode(word: &str, collection: &'static str, hash: &str) -> Option<usize> {
        let bytes = URL_SAFE_NO_PAD.decode(word).ok()?;
        let payload: Value = serde_json::from_slice(&bytes).ok()?;
        let cursor = Self {
            collection,
            offset: usize::try_from(payload["offset"].as_u64()?).ok()?,
            hash: hash.to_owned(),
            timestamp: payload["timestamp"].as_str()?.to_owned(),
        };
        // Encoded again it must be the same word: then every part of it is as we wrote it.
        (cursor.encode() == word).then_some(cursor.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_words_are_understood() {
        let cursor = Cursor { collection: "tools", offset: 7, hash: "abc".into(), timestamp: "now".into() };
        let word = cursor.encode();
        assert_eq!(Cursor::decode(&word, "tools", "abc"), Some(7));
        assert_eq!(Cursor::decode(&word, "prompts", "abc"), None, "foreign");
        assert_eq!(Cursor::decode(&word, "tools", "abd"), None, "stale");
        for forged in ["", "!", "e30", &word[1..], &format!("{word}A")] {
            assert_eq!(Cursor::decode(forged, "tools", "abc"), None, "{forged}");
        }
        let other = URL_SAFE_NO_PAD
            .encode(r#"{"ver":2,"collection":"tools","offset":7,"hash":"abc","timestamp":"now"}"#);
        assert_eq!(Cursor::decode(&other, "tools", "abc"), None);
    }
}
