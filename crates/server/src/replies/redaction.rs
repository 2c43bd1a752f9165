//! Redaction for logs: shows a message without its secrets.

use mcp_bash_budget::tree_bytes;
use serde_json::Value;
use std::fmt;

/// Removes secrets from messages: values whose keys name a secret, and strings that look like one.
#[derive(Clone, Default)]
pub struct Redaction {
    /// A string that contains it is removed, under any key.
    secret: Option<String>,
}

/// Why a message cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unshowable {
    /// A message that cannot be parsed cannot be redacted.
    NoJson(usize),
    TooLarge(usize),
}

impl fmt::Display for Unshowable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson(bytes) => write!(f, "[{bytes} bytes that are not JSON]"),
            Self::TooLarge(bytes) => {
                write!(f, "[{bytes} bytes, which are too many to be looked through or are no text]")
            }
        }
    }
}

/// The most memory that redaction may take. Of a larger message, only the size is shown.
const MOST_BYTES: usize = 32 * 1024 * 1024;

const REDACTED: &str = "[redacted]";

impl Redaction {
    /// Strings that contain `secret` are removed.
    pub fn new(secret: Option<String>) -> Self {
        Self { secret }
    }

    /// The message without its secrets.
    pub fn read(&self, message: &[u8]) -> Result<Value, Unshowable> {
        let text = std::str::from_utf8(message.trim_ascii()).ok();
        match text.filter(|text| tree_bytes(text) <= MOST_BYTES).map(serde_json::from_str::<Value>) {
            Some(Ok(mut value)) => {
                self.redact(&mut value);
                Ok(value)
            }
            Some(Err(_)) => Err(Unshowable::NoJson(message.len())),
            None => Err(Unshowable::TooLarge(message.len())),
        }
    }

    fn redact(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    if is_sensitive(key) {
                        self.hide(member);
                    } else {
                        self.redact(member);
                    }
                }
                if members.keys().any(|key| self.is_secret(key)) {
                    let named = std::mem::take(members).into_iter();
                    let name = |key: String| if self.is_secret(&key) { REDACTED.to_owned() } else { key };
                    *members = named.map(|(key, member)| (name(key), member)).collect();
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.redact(element)),
            Value::String(text) if self.is_secret(text) => *text = REDACTED.into(),
            _ => {}
        }
    }

    /// Removes a value whose key names a secret. An object may be a schema, so only its own keys decide.
    fn hide(&self, value: &mut Value) {
        match value {
            Value::Object(_) => self.redact(value),
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.hide(element)),
            other => *other = REDACTED.into(),
        }
    }

    fn is_secret(&self, text: &str) -> bool {
        self.secret.as_ref().is_some_and(|secret| text.contains(secret.as_str()))
            || text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "))
            || looks_like_jwt(text)
    }
}

/// Whether a key names a secret, by the words it contains: `api_key`, `accessToken`, `X-Auth-Token`.
fn is_sensitive(key: &str) -> bool {
    const WORDS: [&str; 12] = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "authorization",
        "cookie",
        "bearer",
        "credential",
        "apikey",
        "privatekey",
        "session",
    ];
    let plain: String =
        key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    // A progress token is no secret, and records are hard to follow without it.
    plain != "progresstoken" && WORDS.iter().any(|word| plain.contains(word))
}

fn looks_like_jwt(text: &str) -> bool {
    let is_part = |part: &str| {
        part.len() > 4 && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    text.starts_with("ey") && text.split('.').count() == 3 && text.split('.').all(is_part)
}
