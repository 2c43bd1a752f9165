//! Limits of a policy file.

/// The longest file, in bytes.
pub const LONGEST_FILE: u64 = 256 * 1024;

/// The most rules.
pub(crate) const MOST_RULES: usize = 500;

/// The most entries of one `redact`.
pub(crate) const MOST_REDACTIONS: usize = 50;

/// The longest message, in characters.
pub(crate) const LONGEST_MESSAGE: usize = 2000;
