//! A rule of the specification.

pub(super) struct Rule {
    pub(super) id: &'static str,
    /// The revisions that have it: `all`, `handshake` (2024-11-05 to 2025-11-25), or by name.
    pub(super) revisions: &'static str,
    pub(super) level: &'static str,
    pub(super) words: &'static str,
}
