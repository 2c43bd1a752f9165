//! Substitution check: whether a client would substitute a part of an entry. A path or a value with a substitution
//! would reach the server changed, so it is escaped or refused.

use crate::client::Client;
use crate::entry::Entry;
use crate::remote::Remote;
use crate::replaces::{Field, Form};
use thiserror::Error;

/// A text that a client would substitute, and that cannot be escaped.
#[derive(Debug, Error)]
#[error("{place} contains {}, which {client} may replace, and {client} has no escape for it; {advice}", .form.sign())]
pub struct Replaced {
    client: &'static str,
    form: Form,
    place: String,
    advice: &'static str,
}

const RENAME: &str = "give the folder another name";
const BY_HAND: &str = "leave it out, and add it to the entry yourself if it is meant to be replaced";
const ENCODE: &str = "write it with percent signs (`%24` for `$`, `%7B` for `{`)";
const ANOTHER: &str = "use another token";

impl Client {
    /// Whether a server would receive the command, its arguments and its variables unchanged.
    pub fn check_entry(&self, entry: &Entry) -> Result<(), Replaced> {
        let words = [(Field::Command, &entry.command)].into_iter();
        let words = words.chain(entry.args.iter().map(|word| (Field::Args, word)));
        for (field, word) in words {
            self.check(field, word, || format!("`{word}`"), RENAME)?;
        }
        // The value may be a secret: only its name is shown.
        entry.env.iter().try_for_each(|(name, value)| {
            self.check(Field::Env, value, || format!("the value of {name}"), BY_HAND)
        })
    }

    /// The same for an address, and for a token that the entry holds itself.
    pub fn check_remote(&self, remote: &Remote) -> Result<(), Replaced> {
        let url = || format!("`{}`", remote.url);
        // No escape: beside an address there may be a reference, which has to stay one.
        if let Some(form) = self.replaces.found(Field::Url, &remote.url) {
            return Err(Replaced { client: self.title, form, place: url(), advice: ENCODE });
        }
        let token = remote.token.as_ref().filter(|_| self.wants_token_itself() && !self.asks_for_token());
        token.map_or(Ok(()), |token| {
            self.check(Field::Headers, &token.value, || "the token".to_owned(), ANOTHER)
        })
    }

    fn check(
        &self,
        field: Field,
        text: &str,
        place: impl FnOnce() -> String,
        advice: &'static str,
    ) -> Result<(), Replaced> {
        match self.replaces.found(field, text) {
            Some(form) if !self.replaces.is_escaped => {
                Err(Replaced { client: self.title, form, place: place(), advice })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::client;

    #[test]
    fn a_text_that_a_client_would_replace_is_refused() {
        let refused = |name: &str, word: &str| {
            let entry = Entry { args: vec![word.to_owned()], ..Entry::default() };
            client(name).unwrap().check_entry(&entry).is_err()
        };
        for (word, refusing) in [
            ("/a/$x", &["gemini", "qwen", "copilot"][..]),
            (
                "/a/${x}",
                &["gemini", "qwen", "copilot", "claude-code", "vscode", "cursor", "roo-code", "librechat"],
            ),
            ("/a/${{ secrets.x }}", &["gemini", "qwen", "copilot", "continue", "claude-code", "librechat"]),
            ("/a/{{x}}", &["librechat"]),
            ("/a/5$", &[]),
            ("/a$/b", &[]),
            ("/a/{env:x}", &[]),
            ("/a/%HOME%", &[]),
            ("~/a", &[]),
        ] {
            for known in [
                "gemini",
                "qwen",
                "copilot",
                "claude-code",
                "continue",
                "librechat",
                "opencode",
                "codex",
                "goose",
            ] {
                assert_eq!(refused(known, word), refusing.contains(&known), "{known}: {word}");
            }
            for named in refusing {
                assert!(refused(named, word), "{named}: {word}");
            }
        }
    }

    #[test]
    fn a_value_is_not_shown_and_an_address_is() {
        let entry = Entry { env: vec![("TOKEN".into(), "s3cret${x}".into())], ..Entry::default() };
        let told = client("claude-code").unwrap().check_entry(&entry).unwrap_err().to_string();
        assert!(
            told.starts_with("the value of TOKEN contains `${…}`, which Claude Code may replace"),
            "{told}"
        );
        assert!(!told.contains("s3cret"), "{told}");
        let remote = Remote { name: "x".into(), url: "https://h/${x}".into(), token: None };
        let told = client("opencode").unwrap().check_remote(&remote);
        assert!(told.is_ok());
        let remote = Remote { url: "https://h/{env:x}".into(), ..remote };
        let told = client("opencode").unwrap().check_remote(&remote).unwrap_err().to_string();
        assert!(told.starts_with("`https://h/{env:x}` contains `{env:…}`"), "{told}");
    }
}
