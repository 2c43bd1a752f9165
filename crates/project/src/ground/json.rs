//! JSON files as people write them, compacted to one line.

use crate::ground::json_place::Position;
use mcp_bash_wire::{Limits, ScanError, Scanner, surrogates};
use serde_json::value::RawValue;
use thiserror::Error;

/// The largest JSON or YAML file that is read, in bytes, unless a setting says otherwise.
pub(crate) const LONGEST: u64 = 4 * 1024 * 1024;

/// Why a JSON text cannot be used.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum JsonError {
    #[error("{problem}{position}; fix the JSON")]
    Syntax { problem: String, position: Position },
    #[error(transparent)]
    Limit(#[from] ScanError),
    #[error("it must hold an object; put `{{` and `}}` around it")]
    NotAnObject,
    /// A member of the object has a value of the wrong type.
    #[error("`{key}` {problem}{position}; {remedy}")]
    Member { key: String, problem: String, position: Position, remedy: String },
}

impl JsonError {
    /// The same error with another position, for a text that is a part or a translation of the author's file.
    pub(crate) fn moved(mut self, place: impl FnOnce((u64, u64)) -> Option<(u64, u64)>) -> Self {
        if let Self::Syntax { position, .. } | Self::Member { position, .. } = &mut self {
            position.0 = position.0.and_then(place);
        }
        self
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        // Usually the cause is a trailing comma, which the parser does not mention.
        let problem = without_position(&error)
            .replace("key must be a string", "expected a quoted key, or the comma before it is one too many");
        let place = (error.line() as u64, error.column() as u64);
        Self::Syntax { problem, position: Position((place.0 > 0).then_some(place)) }
    }
}

/// The words of the JSON parser without the position.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let words = error.to_string();
    words.split(" at line ").next().unwrap_or(&words).to_owned()
}

/// The text of a file as one line of JSON. Numbers and the order of keys stay the same.
pub(crate) fn one_line(text: &str) -> Result<Box<RawValue>, JsonError> {
    let text = &*surrogates::repaired(text);
    // Checked first: a line break inside a string is an error that must not be compacted away.
    let checked: &RawValue = serde_json::from_str(text)?;
    require_shallow(checked.get())?;
    Ok(RawValue::from_string(mcp_bash_wire::write::compact(checked.get()))?)
}

/// How deeply objects and arrays may be nested: as deeply as in a message, of which they become a part.
pub(crate) fn deepest() -> usize {
    Limits::default().depth
}

pub(crate) fn too_deep() -> ScanError {
    ScanError::TooDeep(deepest())
}

/// Refuses a JSON text that is nested deeper than clients can read. The text is known to be JSON.
pub(crate) fn require_shallow(text: &str) -> Result<(), ScanError> {
    // A text with few opening brackets cannot be deep, and counting them is much faster than matching them. The two opening
    // brackets differ in one bit. They are counted in single bytes, so that the processor counts many at once.
    let opened_in = |part: &[u8]| part.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    let opened: usize = text.as_bytes().chunks(u8::MAX.into()).map(|part| usize::from(opened_in(part))).sum();
    if opened <= deepest() {
        return Ok(());
    }
    let limits = Limits { depth: deepest(), ..Limits::NONE };
    Scanner::new(text, limits).whole_value().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_bounded_and_breadth_is_not() {
        let nested = |depth: usize| format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
        assert_eq!(require_shallow(&nested(deepest() / 2)), Ok(()));
        assert_eq!(require_shallow(&nested(deepest() / 2 + 1)), Err(too_deep()));
        assert_eq!(require_shallow(&nested(100_000)), Err(too_deep()));
        assert_eq!(require_shallow(&format!("[{}1]", "[{}],".repeat(100_000))), Ok(()));
        assert_eq!(require_shallow(&format!("[\"{}\"]", "[".repeat(100_000))), Ok(()));
    }
}
