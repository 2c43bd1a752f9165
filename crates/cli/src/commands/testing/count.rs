//! Counts of things, for messages.

/// A count and its noun: `1 case`, `2 cases`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
