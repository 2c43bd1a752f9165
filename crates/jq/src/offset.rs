//! Finds where in a program a piece of it stands, for messages.

/// Where a part of a text stands in it, if it is a part of it.
pub(crate) fn offset_in(text: &str, part: &str) -> Option<usize> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (at + part.len() <= text.len()).then_some(at)
}
