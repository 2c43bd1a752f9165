//! Text settings, and secrets.

use super::{Kind, Refusal};
use std::borrow::Cow;

/// Any text but an empty one.
pub(crate) struct Text;

impl Kind for Text {
    type Value = String;

    fn description(&self) -> Cow<'static, str> {
        "text".into()
    }

    fn parse(&self, text: &str) -> Result<String, Refusal<String>> {
        Ok(text.to_owned())
    }
}

/// Any text, including an intentionally empty one.
pub(crate) struct TextOrNothing;

impl Kind for TextOrNothing {
    type Value = String;

    const EMPTY_COUNTS: bool = true;

    fn description(&self) -> Cow<'static, str> {
        "text, may be empty".into()
    }

    fn parse(&self, text: &str) -> Result<String, Refusal<String>> {
        Ok(text.to_owned())
    }
}

/// Shown in place of a secret.
const NOT_SHOWN: &str = "(not shown)";

/// A text that is never shown, not even when it is refused.
pub(crate) struct Secret {
    pub(crate) least_characters: usize,
}

impl Kind for Secret {
    type Value = String;

    fn description(&self) -> Cow<'static, str> {
        format!("secret, at least {} characters", self.least_characters).into()
    }

    fn parse(&self, text: &str) -> Result<String, Refusal<String>> {
        if text.chars().count() >= self.least_characters {
            return Ok(text.to_owned());
        }
        let least = self.least_characters;
        let problem =
            format!("must have at least {least} characters; the server does not start with a weak one");
        // A server that starts in spite of it is guarded by a weak secret rather than by none.
        Err(Refusal { problem, instead: Some((text.to_owned(), NOT_SHOWN)), fatal: true })
    }

    fn shown(&self, _: &str) -> String {
        NOT_SHOWN.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn given<K: Kind>(kind: &K, text: &str) -> Option<K::Value> {
        kind.parse_variable(OsStr::new(text))
            .map(|value| value.unwrap_or_else(|refusal| refusal.instead.unwrap().0))
    }

    #[test]
    fn only_one_of_the_texts_may_be_empty() {
        assert_eq!(given(&Text, " a b "), Some("a b".to_owned()));
        assert_eq!(given(&Text, " \t\n"), None);
        assert_eq!(given(&TextOrNothing, " "), Some(String::new()));
    }

    #[test]
    fn a_secret_is_counted_in_characters_and_never_shown() {
        let secret = Secret { least_characters: 4 };
        assert_eq!(secret.parse("äöüß"), Ok("äöüß".to_owned()));
        let refusal = secret.parse("xyz").unwrap_err();
        assert!(refusal.fatal && !refusal.problem.contains("xyz"), "{refusal:?}");
        assert_eq!(refusal.instead, Some(("xyz".to_owned(), NOT_SHOWN)));
        assert!(!secret.shown("äöüß").contains('ä'));
        assert_eq!(given(&secret, "  "), None);
    }
}
