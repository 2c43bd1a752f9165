//! Request secret: every request must carry it.

use crate::reader::Reader;
use crate::table;
use std::fmt;

/// The secret that every request must carry in its `_meta`.
#[derive(Clone)]
pub struct RemoteToken {
    pub secret: String,
    pub key: String,
    pub fallback_key: String,
    pub max_failures_per_minute: u32,
}

impl RemoteToken {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Option<Self> {
        let secret = reader.value(&table::REMOTE_TOKEN);
        let key = reader.value(&table::REMOTE_TOKEN_KEY);
        let fallback_key = reader.value(&table::REMOTE_TOKEN_FALLBACK_KEY);
        let max_failures_per_minute = reader.value(&table::REMOTE_TOKEN_MAX_FAILURES);
        Some(Self { secret: secret?, key, fallback_key, max_failures_per_minute })
    }
}

impl fmt::Debug for RemoteToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RemoteToken").field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn read(given: &[(&str, &str)]) -> (Option<RemoteToken>, bool) {
        let lookup =
            |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        let mut reader = Reader::new(&lookup);
        let token = RemoteToken::from_rows(&mut reader);
        (token, reader.problems.iter().any(|problem| problem.fatal))
    }

    #[test]
    fn there_is_a_token_where_there_is_a_secret() {
        assert!(read(&[("MCPBASH_REMOTE_TOKEN_KEY", "k"), ("MCPBASH_REMOTE_TOKEN", " ")]).0.is_none());
        let secret = ("MCPBASH_REMOTE_TOKEN", "0123456789abcdef0123456789abcdef");
        let (token, fatal) = read(&[secret, ("MCPBASH_REMOTE_TOKEN_FALLBACK_KEY", "")]);
        let token = token.unwrap();
        assert_eq!((token.key.as_str(), token.fallback_key.as_str()), ("mcpbash/remoteToken", ""));
        assert!(!fatal && !format!("{token:?}").contains(secret.1));
    }

    #[test]
    fn a_weak_secret_is_fatal_and_guards_all_the_same() {
        let (token, fatal) = read(&[("MCPBASH_REMOTE_TOKEN", "hunter2")]);
        assert!(fatal && token.is_some_and(|token| token.secret == "hunter2"));
    }
}
