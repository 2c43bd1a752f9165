//! Source offsets: finds the position of a piece of a program, for messages.

/// The position of a part of a text, if it is a part of it.
pub(crate) fn offset_in(text: &str, part: &str) -> Option<usize> {
    let at = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (at + part.len() <= text.len()).then_some(at)
}
