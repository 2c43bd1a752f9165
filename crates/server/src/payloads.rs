//! A record of every message, for those who debug a client: secrets removed, in a folder only they can read.

use mcp_bash_budget::tree_bytes;
use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub(crate) struct Payloads {
    file: Mutex<File>,
    path: PathBuf,
    /// Removed wherever it stands, whatever its key.
    secret: Option<String>,
}

/// A message that would take more memory than this to be cleaned of secrets is only counted.
const MOST_BYTES: usize = 32 * 1024 * 1024;

const REDACTED: &str = "[redacted]";

impl Payloads {
    pub(crate) fn create(state_dir: &StateDir, secret: Option<String>) -> io::Result<Self> {
        let path = state_dir.path()?.join("payloads.log");
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { file: Mutex::new(file), path, secret })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Notes a message; `direction` is `<` for what came in and `>` for what went out.
    pub(crate) fn record(&self, direction: char, message: &[u8]) {
        let text = std::str::from_utf8(message.trim_ascii()).ok();
        let shown =
            match text.filter(|text| tree_bytes(text) <= MOST_BYTES).map(serde_json::from_str::<Value>) {
                Some(Ok(mut value)) => {
                    self.redact(&mut value);
                    value.to_string()
                }
                // What cannot be read cannot be cleaned of secrets either.
                Some(Err(_)) => format!("[{} bytes that are not JSON]", message.len()),
                None => format!(
                    "[{} bytes, which are too many to be looked through or are no text]",
                    message.len()
                ),
            };
        let mut file = self.file.lock();
        // A full disk must not stop the server; the record is a convenience.
        let _ = writeln!(file, "{direction} {shown}");
    }

    fn redact(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    if is_sensitive(key) && !member.is_object() && !member.is_array() {
                        *member = REDACTED.into();
                    } else {
                        self.redact(member);
                    }
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.redact(element)),
            Value::String(text) if self.is_secret(text) => *text = REDACTED.into(),
            _ => {}
        }
    }

    fn is_secret(&self, text: &str) -> bool {
        self.secret.as_ref().is_some_and(|secret| text.contains(secret.as_str()))
            || text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "))
            || looks_like_jwt(text)
    }
}

/// Keys whose values are secrets, by the words they are made of: `api_key`, `accessToken`, `X-Auth-Token`.
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
    // A progress token is no secret, and without it the record would be hard to follow.
    plain != "progresstoken" && WORDS.iter().any(|word| plain.contains(word))
}

fn looks_like_jwt(text: &str) -> bool {
    let is_part = |part: &str| {
        part.len() > 4 && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    text.starts_with("ey") && text.split('.').count() == 3 && text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_removed_and_the_rest_stays() {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(temp.path().to_owned(), false);
        let payloads = Payloads::create(&state_dir, Some("the-remote-secret".into())).unwrap();
        payloads.record('<', br#"{"params":{"arguments":{"api_key":"k1","Password":1,"n":{"X-Auth-Token":"k2","plain":"v"}},"_meta":{"progressToken":7,"odd":"the-remote-secret"}},"h":["Bearer abc","eyJhbGci.eyJzdWIi.c2lnbmF0"]}"#);
        payloads.record('<', b"api_key=k3");
        let text = std::fs::read_to_string(payloads.path()).unwrap();
        for secret in ["k1", "k2", "k3", "the-remote-secret", "Bearer abc", "eyJ"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains(r#""plain":"v""#) && text.contains(r#""progressToken":7"#), "{text}");
    }
}
