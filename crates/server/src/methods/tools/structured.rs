//! Structured content beside images and files. Some clients show the model only the structured content, so the rest of such a
//! result would be lost. The value is sent as text instead, unless the tool declares it in an `outputSchema`.

use mcp_bash_wire::{Object, Raw, Scanner, write};

/// The structured content of a result, and facts about its other content.
#[derive(Clone, Copy)]
pub(super) struct Structured<'a> {
    pub(super) value: Raw<'a>,
    /// Whether a text item of the result has the same value.
    pub(super) is_in_text: bool,
    /// Whether the result contains images, audio, files or links.
    pub(super) is_beside_files: bool,
}

impl<'a> Structured<'a> {
    /// Structured content parsed from the text of the result.
    pub(super) fn of_text(value: Raw<'a>) -> Self {
        Self { value, is_in_text: true, is_beside_files: false }
    }

    /// The structured content of a result that a script wrote itself. `content` is an array.
    pub(super) fn of_result(value: Raw<'a>, content: Raw<'_>) -> Self {
        let mut structured = Self { value, is_in_text: false, is_beside_files: false };
        let _ = Scanner::again(content).elements(|item| {
            let Ok(members) = Object::read(item, "an item", &["type", "text"]) else { return };
            if members.get("type").and_then(Raw::string).is_none_or(|kind| kind != "text") {
                structured.is_beside_files = true;
            } else if let Some(text) = members.get("text").and_then(Raw::string) {
                structured.is_in_text |= write::compact(&text) == write::compact(value.text());
            }
        });
        structured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_wire::Limits;

    #[test]
    fn what_stands_beside_the_value_is_seen() {
        let raw = |text| Scanner::new(text, Limits::default()).whole_value().unwrap();
        let seen = |content| {
            let structured = Structured::of_result(raw(r#"{"a": 1}"#), raw(content));
            (structured.is_in_text, structured.is_beside_files)
        };
        assert_eq!(seen("[]"), (false, false));
        assert_eq!(seen(r#"[{"type":"text","text":"{\"a\":1}\n"}]"#), (true, false));
        assert_eq!(seen(r#"[{"type":"text","text":"one"},{"type":"image","data":""}]"#), (false, true));
        assert_eq!(seen(r#"[{"type":"resource_link","uri":"a:b"}]"#), (false, true));
    }
}
