//! Truncation: for a text that is too long for one answer, a client receives its beginning and its end, and a link to
//! the rest.

use crate::handling::Work;
use crate::replies::Content;
use mcp_bash_wire::write;
use serde_json::json;

/// The content of a result with `text`, truncated if necessary.
pub(super) fn content_of(text: &str, work: &Work) -> Content {
    let limit = limit_for(text, work);
    if text.len() <= limit {
        return Content::of_text(text);
    }
    let uri = work.server().resources().kept().keep(text, "text/plain", work.caller());
    let (head, tail) = ends(text, limit);
    let left_out = text.len() - head.len() - tail.len();
    let whole =
        uri.as_deref().map_or_else(String::new, |uri| format!("; for ten minutes the whole text is {uri}"));
    let mut content =
        Content::of_text(&format!("{head}\n\n[{left_out} bytes are left out here{whole}]\n\n{tail}"));
    if let Some(uri) = uri {
        content.item(&link(&uri, text.len()), work.revision());
    }
    content
}

/// An upper bound for the size of the content of a result with `text`.
pub(super) fn size_of(text: &str, work: &Work) -> usize {
    let told = text.len().min(limit_for(text, work));
    // An upper bound for any text. If there is plenty of room, that is enough; reading every byte would take as long as
    // writing them.
    let most = LONGEST_ESCAPE * told;
    if told < text.len() || work.budget().has_room(2 * most).is_ok() { most } else { write::string_len(text) }
}

/// How much of `text` may be sent: as much as the settings allow, and no more than can be sent.
fn limit_for(text: &str, work: &Work) -> usize {
    let wanted = Some(work.server().settings().text_limit).filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let room = work.longest_answer().saturating_sub(ENVELOPE);
    let leaves = text.len() <= room / LONGEST_ESCAPE || write::string_len(text) <= room;
    if leaves { wanted } else { wanted.min(room / LONGEST_ESCAPE) }
}

/// An upper bound for what surrounds a text in an answer.
const ENVELOPE: usize = 64 * 1024;

/// The bytes of an escaped control character in JSON.
const LONGEST_ESCAPE: usize = 6;

/// A link to the whole text, for clients that follow links.
fn link(uri: &str, size: usize) -> String {
    let link = json!({
        "type": "resource_link",
        "uri": uri,
        "name": "whole-output",
        "title": "The whole output",
        "mimeType": "text/plain",
        "size": size,
    });
    link.to_string()
}

/// The beginning and the end of a text, `limit` bytes together, cut at line breaks if there are any nearby.
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
