//! Value descriptions in messages.

use crate::value::Value;

impl Value {
    /// The value as messages show it: its kind, and as much of its text as fits on a line.
    pub(crate) fn described(&self) -> String {
        format!("{} ({})", self.kind(), excerpt(&self.to_json()))
    }
}

/// How many bytes of a value a message shows.
const EXCERPT: usize = 29;

/// As much of a text as fits, with the quote or bracket that ends it.
fn excerpt(json: &str) -> String {
    if json.len() <= EXCERPT {
        return json.to_owned();
    }
    let end = match json.as_bytes()[0] {
        b'"' => "...\"",
        b'[' => "...]",
        b'{' => "...}",
        _ => "...",
    };
    let cut = (0..=EXCERPT - end.len()).rev().find(|cut| json.is_char_boundary(*cut)).unwrap_or(0);
    format!("{}{end}", &json[..cut])
}
