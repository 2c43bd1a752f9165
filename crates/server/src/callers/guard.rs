//! Shared secret: a gateway adds it to the `_meta` of requests, and the server compares it.

use super::caller::Caller;
use mcp_bash_settings::RemoteToken;
use mcp_bash_wire::{Object, Raw, RpcError, Scanner, write};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// The delay of the response to a wrong secret, once there were too many.
pub(crate) const SLOWED: Duration = Duration::from_secs(1);

pub(crate) struct Guard {
    /// Digests are compared, so that neither the time nor the length of a guess reveals anything.
    expected: [u8; 32],
    secret: String,
    key: String,
    fallback_key: String,
    /// Callers that lately sent a wrong secret. Without this reference a caller that owns nothing else would be removed, and
    /// its counter with it.
    denied: Mutex<VecDeque<(Instant, Arc<Caller>)>>,
}

/// How long a caller with a wrong secret is remembered.
const REMEMBERED: Duration = Duration::from_secs(60);

/// The most callers that are remembered for a wrong secret.
const MOST_REMEMBERED: usize = 1000;

/// A request without the right secret.
#[derive(Debug)]
pub(crate) struct Denied {
    /// Whether there were too many lately: then the response is delayed, and no further event is logged.
    pub(crate) throttled: bool,
}

impl From<&Denied> for RpcError {
    fn from(denied: &Denied) -> Self {
        let suffix = if denied.throttled { " (throttled)" } else { "" };
        Self::invalid_params(format!("Remote token missing or invalid{suffix}"))
    }
}

impl Guard {
    pub(crate) fn new(token: &RemoteToken) -> Self {
        Self {
            expected: Sha256::digest(&token.secret).into(),
            secret: token.secret.clone(),
            key: token.key.clone(),
            fallback_key: token.fallback_key.clone(),
            denied: Mutex::default(),
        }
    }

    /// Checks the secret in the `_meta` of a caller's request.
    pub(crate) fn check(&self, meta: Option<Raw<'_>>, caller: &Arc<Caller>) -> Result<(), Denied> {
        let shown = meta.and_then(|meta| self.shown(meta)).unwrap_or_default();
        let digest: [u8; 32] = Sha256::digest(shown.as_bytes()).into();
        if digest.ct_eq(&self.expected).into() {
            return Ok(());
        }
        self.remember(caller);
        Err(Denied { throttled: !caller.may_be_denied_at_once() })
    }

    fn remember(&self, caller: &Arc<Caller>) {
        let now = Instant::now();
        let mut denied = self.denied.lock();
        while denied.front().is_some_and(|(since, _)| now - *since >= REMEMBERED) {
            denied.pop_front();
        }
        if denied.iter().any(|(_, known)| Arc::ptr_eq(known, caller)) {
            return;
        }
        if denied.len() >= MOST_REMEMBERED {
            denied.pop_front();
        }
        denied.push_back((now, Arc::clone(caller)));
    }

    /// The `_meta` of a request for scripts: without the members for the secret, and without any other member whose text
    /// contains it.
    pub(crate) fn without_secret(&self, meta: Raw<'_>) -> String {
        let mut left = String::from("{");
        let is_secret = |key: Raw<'_>, value: Raw<'_>| {
            let is_known = key.string().is_some_and(|key| *key == *self.key || *key == *self.fallback_key);
            is_known || self.is_in(key.text()) || self.is_in(value.text())
        };
        // Scanned before, so this cannot fail.
        let _ = Scanner::again(meta).members(|key, value| {
            if is_secret(key, value) {
                return;
            }
            if left.len() > 1 {
                left.push(',');
            }
            for part in [key.text(), ":", value.text()] {
                left.push_str(part);
            }
        });
        left.push('}');
        left
    }

    /// Whether the secret is in JSON text, however that is escaped.
    fn is_in(&self, json: &str) -> bool {
        let escaped = write::string(&self.secret);
        let escaped = &escaped[1..escaped.len() - 1];
        let plain =
            json.contains('\\').then(|| serde_json::from_str::<serde_json::Value>(json).ok()).flatten();
        json.contains(escaped) || plain.is_some_and(|value| value.to_string().contains(escaped))
    }

    fn shown(&self, meta: Raw<'_>) -> Option<String> {
        let names = [self.key.as_str(), self.fallback_key.as_str()];
        let members = Object::read(meta, "_meta", &names).ok()?;
        let found = |name: &str| if name.is_empty() { None } else { members.get(name)?.string() };
        found(&self.key).or_else(|| found(&self.fallback_key)).map(std::borrow::Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use crate::test_kit::raw;
    use mcp_bash_settings::RemoteToken;

    #[test]
    fn no_member_with_the_secret_reaches_scripts_however_it_is_escaped() {
        let secret = r#"0123456789"abcdef\0123456789abcdef"#.to_owned();
        let token = RemoteToken {
            secret,
            key: "token".to_owned(),
            fallback_key: "old".to_owned(),
            max_failures_per_minute: 10,
        };
        let guard = Guard::new(&token);
        let meta = r#"{"token":1,"old":2,"kept":"\u00e9 0123456789",
            "plain":"0123456789\"abcdef\\0123456789abcdef","deep":[{"x":"\u003012345678\u0039\u0022abcdef\u005c0123456789abcdef"}],
            "a 0123456789\"abcdef\\0123456789abcdef":1}"#;
        let left = guard.without_secret(raw(meta));
        assert_eq!(left, r#"{"kept":"\u00e9 0123456789"}"#);
    }
}
