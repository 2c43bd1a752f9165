//! JSON as people write it in files, made fit to be part of a line.

use serde_json::value::RawValue;

/// The text of a file as one line of JSON, numbers and the order of keys untouched.
pub(crate) fn one_line(text: &str) -> serde_json::Result<Box<RawValue>> {
    // Checked first: a line break inside a string is an error that must not be compacted away.
    let checked: &RawValue = serde_json::from_str(text)?;
    RawValue::from_string(mcp_bash_wire::write::compact(checked.get()))
}
