//! A client's file as users have it, and the changes that the entry makes.

/// A client's file before and after.
pub(super) struct Case {
    pub(super) client: &'static str,
    /// More arguments for the command line.
    pub(super) scope: &'static [&'static str],
    pub(super) path: &'static str,
    pub(super) before: &'static str,
    /// A piece of the text, and the same piece with the entry.
    pub(super) change: (&'static str, &'static str),
}

pub(super) const USER: &[&str] = &[];
pub(super) const PROJECT: &[&str] = &["--scope", "project"];
pub(super) const LOCAL: &[&str] = &["--scope", "local"];
