//! A file of a client as people have it, and what the entry changes in it.

/// A file of a client, and what it becomes.
pub(super) struct Case {
    pub(super) client: &'static str,
    /// More words for the command line.
    pub(super) scope: &'static [&'static str],
    pub(super) path: &'static str,
    pub(super) before: &'static str,
    /// A piece of the text, and the same piece with the entry.
    pub(super) change: (&'static str, &'static str),
}

pub(super) const USER: &[&str] = &[];
pub(super) const PROJECT: &[&str] = &["--scope", "project"];
pub(super) const LOCAL: &[&str] = &["--scope", "local"];
