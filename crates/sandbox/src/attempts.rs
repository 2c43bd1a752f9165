//! Attempts: what a watched process tried to touch. Whether it succeeded is not known.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How many different attempts are kept.
const MOST: usize = 100_000;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    pub deed: Deed,
    pub target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    Read,
    Write,
    Create,
    Remove,
    Run,
    Connect,
    Listen,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A file, or a Unix socket with a path. Absolute and without links.
    Path(PathBuf),
    Address(SocketAddr),
    /// A Unix socket without a file.
    Abstract(Vec<u8>),
}

/// Different attempts, in order.
#[derive(Debug, Clone, Default)]
pub struct Attempts {
    seen: BTreeSet<Attempt>,
    /// How many were not kept, because there were too many.
    pub dropped: u64,
    /// How many could not be read from the process.
    pub unread: u64,
}

impl Attempts {
    pub fn add(&mut self, attempt: Attempt) {
        if self.seen.len() < MOST {
            self.seen.insert(attempt);
        } else if !self.seen.contains(&attempt) {
            self.dropped += 1;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Attempt> {
        self.seen.iter()
    }
}

impl FromIterator<Attempt> for Attempts {
    fn from_iter<I: IntoIterator<Item = Attempt>>(attempts: I) -> Self {
        let mut all = Self::default();
        attempts.into_iter().for_each(|attempt| all.add(attempt));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_bounded_and_the_rest_is_counted() {
        let read = |number: usize| Attempt {
            deed: Deed::Read,
            target: Target::Path(PathBuf::from(format!("/{number}"))),
        };
        let mut all: Attempts = (0..MOST + 7).map(read).collect();
        all.add(read(1));
        assert_eq!((all.iter().count(), all.dropped), (MOST, 7));
    }
}
