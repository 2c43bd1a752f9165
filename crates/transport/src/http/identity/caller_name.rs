//! Caller names from certificates, issuers and proxies. Each begins with its source and a space, as those from addresses do:
//! `certificate alice`, `https://login.example.com alice`. Neither names in the token file nor sources contain a space, so
//! callers of two sources never have the same name.

use std::sync::Arc;

/// The longest name, in bytes.
const MOST_BYTES: usize = 256;

/// At most this many groups are kept.
const MOST_GROUPS: usize = 256;

/// The name of a caller. `None` if it is empty, too long or contains control characters, which could forge lines.
pub(super) fn caller_name(source: &str, name: &str) -> Option<Arc<str>> {
    is_plain(name).then(|| format!("{source} {name}").into())
}

/// The groups that can be passed to scripts, one per line.
pub(super) fn groups<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Box<str>> {
    names.into_iter().filter(|name| is_plain(name)).take(MOST_GROUPS).map(Into::into).collect()
}

fn is_plain(name: &str) -> bool {
    (1..=MOST_BYTES).contains(&name.len()) && name.trim() == name && !name.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_forge_lines_are_refused() {
        assert_eq!(caller_name("proxy", "alice").as_deref(), Some("proxy alice"));
        assert!(caller_name("proxy", "Ärzte & Söhne").is_some());
        for name in ["", " ", " a", "a ", "a\nb", "a\0", "\u{85}", &"a".repeat(257)] {
            assert_eq!(caller_name("proxy", name), None, "{name:?}");
        }
        assert_eq!(groups(["a", "", "b\nadmin", "c d"]), ["a".into(), "c d".into()]);
    }
}
