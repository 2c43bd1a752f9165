//! Truncation: of a text that is too long for a result, a client receives the beginning, the end, and the URI of the whole
//! text. The URI is in the text and in the `_meta` of its item. It is not a separate `resource_link`, since frameworks pass
//! that to a model as a file, and model APIs reject a file that they cannot fetch.

use crate::handling::Work;
use crate::replies::Content;
use mcp_bash_wire::write;
use serde_json::{Map, Value, json};

/// The content of a result with `text`, truncated if necessary.
pub(super) fn content_of(text: &str, work: &Work) -> Content {
    let mut content = Content::new();
    add_text(&mut content, text, work);
    content
}

/// Adds `text` to a result, truncated if necessary.
pub(super) fn add_text(content: &mut Content, text: &str, work: &Work) {
    match Cut::of(text, work) {
        None => content.text(text),
        Some(cut) => cut.add(content, Map::new(), work),
    }
}

/// Adds an item that a script wrote. A text that is too long is truncated; the other members of its item stay.
pub(super) fn add_item(content: &mut Content, item: &str, work: &Work) {
    if item.len() > limit_for(item, work)
        && let Ok(members) = serde_json::from_str::<Map<String, Value>>(item)
        && members.get("type").is_some_and(|kind| kind == "text")
        && let Some(text) = members.get("text").and_then(Value::as_str)
        && let Some(cut) = Cut::of(text, work)
    {
        cut.add(content, members, work);
        return;
    }
    content.item(item, work.revision());
}

/// Whether a value of this many bytes is too long for a model.
pub(super) fn is_long(bytes: usize, work: &Work) -> bool {
    let limit = work.server().settings().text_limit;
    limit > 0 && bytes > limit
}

/// The `_meta` key of the URI and the size of the whole text.
const WHOLE_TEXT: &str = "mcpbash/wholeText";

/// A truncated text.
struct Cut {
    /// The beginning, the end, and a note about the omitted part.
    text: String,
    /// The URI of the whole text, if it could be kept.
    uri: Option<String>,
    /// The bytes of the whole text.
    size: usize,
}

impl Cut {
    /// `None` if the text need not be truncated.
    fn of(text: &str, work: &Work) -> Option<Self> {
        let limit = limit_for(text, work);
        if text.len() <= limit {
            return None;
        }
        let uri = work.keep_text(text);
        let (head, tail) = ends(text, limit);
        let left_out = text.len() - head.len() - tail.len();
        let (lines, shown) = (line_count(text), line_count(head) + line_count(tail));
        let of_lines = match lines.saturating_sub(shown) {
            0 => String::new(),
            hidden => format!(", {hidden} of {lines} lines"),
        };
        let whole = uri
            .as_deref()
            .map_or_else(String::new, |uri| format!("; for ten minutes the whole text is {uri}"));
        let shown = format!("{head}\n\n[{left_out} bytes are left out here{of_lines}{whole}]\n\n{tail}");
        Some(Self { text: shown, uri, size: text.len() })
    }

    /// Adds an item with these other members.
    fn add(self, content: &mut Content, mut members: Map<String, Value>, work: &Work) {
        members.insert("type".to_owned(), "text".into());
        members.insert("text".to_owned(), self.text.into());
        if let Some(uri) = self.uri {
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert(WHOLE_TEXT.to_owned(), json!({ "uri": uri, "size": self.size }));
            }
        }
        content.item(&Value::Object(members).to_string(), work.revision());
    }
}

fn line_count(text: &str) -> usize {
    text.lines().count()
}

/// An upper bound for the size of the content of a result with `text`.
pub(super) fn size_of(text: &str, work: &Work) -> usize {
    let told = text.len().min(limit_for(text, work));
    // An upper bound for any text. If the budget has plenty of room, it is enough; measuring every byte would take as long as
    // writing them.
    let most = LONGEST_ESCAPE * told;
    if told < text.len() || work.budget().has_room(2 * most).is_ok() { most } else { write::string_len(text) }
}

/// How much of `text` may be sent: limited by the settings, and by the longest message.
fn limit_for(text: &str, work: &Work) -> usize {
    let wanted = Some(work.server().settings().text_limit).filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let room = work.longest_answer().saturating_sub(ENVELOPE);
    let leaves = text.len() <= room / LONGEST_ESCAPE || write::string_len(text) <= room;
    if leaves { wanted } else { wanted.min(room / LONGEST_ESCAPE) }
}

/// An upper bound for the rest of the response around a text.
const ENVELOPE: usize = 64 * 1024;

/// The bytes of an escaped control character in JSON.
const LONGEST_ESCAPE: usize = 6;

/// The beginning and the end of a text, together at most `limit` bytes, cut at nearby line breaks.
fn ends(text: &str, limit: usize) -> (&str, &str) {
    let half = limit / 2;
    let head = &text[..(0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)];
    let is_start = |at: &usize| text.is_char_boundary(*at);
    let tail = &text[(text.len() - half..=text.len()).find(is_start).unwrap_or(text.len())..];
    let head = head.rfind('\n').filter(|at| at * 2 > head.len()).map_or(head, |at| &head[..at]);
    let tail = tail.find('\n').filter(|at| at * 2 < tail.len()).map_or(tail, |at| &tail[at + 1..]);
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_lines_and_never_inside_a_character() {
        assert_eq!(ends("first\nsecond\nthird\nfourth\n", 16), ("first", "fourth\n"));
        let text = "é".repeat(100);
        let (head, tail) = ends(&text, 15);
        assert_eq!((head, tail), (&*"é".repeat(3), &*"é".repeat(3)));
    }
}
