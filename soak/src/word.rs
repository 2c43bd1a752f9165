//! Words that identify calls: each call carries one in its arguments, its script repeats it in all output,
//! and its processes carry it in their environment. So the test can tell which call anything belongs to.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

/// The prefix of the words of this run. Other runs on the same machine have another one.
static PREFIX: OnceLock<String> = OnceLock::new();

/// A call of a server. Call 0 is the server itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    pub(crate) server: u32,
    pub(crate) call: u32,
}

fn prefix() -> &'static str {
    PREFIX.get_or_init(|| format!("q{:x}.", std::process::id()))
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The final letter shows that nothing is cut off.
        write!(formatter, "{}{}.{}z", prefix(), self.server, self.call)
    }
}

impl Word {
    /// All words in a text.
    pub(crate) fn all_in(text: &[u8]) -> BTreeSet<Self> {
        let prefix = prefix().as_bytes();
        let starts = memchr::memmem::find_iter(text, prefix).map(|at| at + prefix.len());
        starts.filter_map(|start| Self::parse(&text[start..text.len().min(start + 24)])).collect()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().position(|byte| *byte == b'z')?;
        let (server, call) = std::str::from_utf8(&text[..end]).ok()?.split_once('.')?;
        Some(Self { server: server.parse().ok()?, call: call.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_and_halves_are_not() {
        let (one, other) = (Word { server: 3, call: 14 }, Word { server: 12, call: 1 });
        let text = format!("{{\"a\":\"{one}\"}} {other}{one} {}", &other.to_string()[..8]);
        assert_eq!(Word::all_in(text.as_bytes()), BTreeSet::from([one, other]));
        assert!(Word::all_in(&one.to_string().as_bytes()[1..]).is_empty());
    }
}
