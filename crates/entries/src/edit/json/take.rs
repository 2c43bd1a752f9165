//! JSON removal: removes a member from an object, with the comma that is not needed any more.

use super::scan::{Node, NodeKind, comment_end};
use super::{own_line_indent, position, root};
use crate::client::Dialect;
use crate::edit::EditError;
use crate::edit::splice::{Splice, line_start};

/// The edits that remove the value at `path`.
pub(in crate::edit) fn take(text: &str, dialect: Dialect, path: &[&str]) -> Result<Vec<Splice>, EditError> {
    match root(text, dialect)? {
        Some(root) => take_below(text, &root, path),
        None => Ok(Vec::new()),
    }
}

fn take_below(text: &str, node: &Node, path: &[&str]) -> Result<Vec<Splice>, EditError> {
    let (NodeKind::Object(members), Some((key, rest))) = (&node.kind, path.split_first()) else {
        return Err(EditError::NotAnObject);
    };
    let Some(index) = position(members, key)? else { return Ok(Vec::new()) };
    let member = &members[index];
    if !rest.is_empty() {
        return take_below(text, &member.value, rest);
    }
    let end = member.comma.map_or(member.value.span.end, |comma| comma + 1);
    let previous_comma = index.checked_sub(1).and_then(|previous| members[previous].comma);
    let token_before = previous_comma.unwrap_or(node.span.start) + 1;
    // Text that follows on the same line must not end up behind `//`.
    let line_before = end_of_previous_line(text, member.key_start);
    let may_join = !has_line_comment(text, token_before, line_before) || ends_line(text, end);
    let begins_line = own_line_indent(text, member.key_start).is_some() && may_join;
    let start = if begins_line { line_before } else { member.key_start };
    Ok(match (member.comma, previous_comma) {
        // Others follow, or a comma may stay.
        (Some(_), _) if begins_line => vec![Splice::delete(start..end)],
        (Some(_), Some(comma)) if is_spaces(&text[comma + 1..start]) => vec![Splice::delete(comma + 1..end)],
        (Some(_), _) => vec![Splice::delete(start..after_spaces(text, end))],
        (None, Some(comma)) if text[comma + 1..start].trim().is_empty() => vec![Splice::delete(comma..end)],
        (None, Some(comma)) => vec![Splice::delete(comma..comma + 1), Splice::delete(start..end)],
        (None, None) => {
            let inside = node.span.start + 1..node.span.end - 1;
            let is_alone =
                text[inside.start..start].trim().is_empty() && text[end..inside.end].trim().is_empty();
            vec![Splice::delete(if is_alone { inside } else { start..end })]
        }
    })
}

/// Whether a comment that begins with `//` ends at `end`, in white space and comments from `start` on.
fn has_line_comment(text: &str, start: usize, end: usize) -> bool {
    let mut at = start;
    while at < end {
        match comment_end(text, at) {
            Some(comment) if comment == end && text[at..].starts_with("//") => return true,
            Some(comment) => at = comment,
            None => at += 1,
        }
    }
    false
}

fn end_of_previous_line(text: &str, at: usize) -> usize {
    let line = line_start(text, at);
    let before = text[..line].strip_suffix('\n').unwrap_or(&text[..line]);
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// Whether only a line comment follows.
fn ends_line(text: &str, at: usize) -> bool {
    let rest = &text[after_spaces(text, at)..];
    rest.is_empty() || ["\n", "\r", "//"].iter().any(|start| rest.starts_with(start))
}

fn is_spaces(text: &str) -> bool {
    text.chars().all(|c| c == ' ' || c == '\t')
}

fn after_spaces(text: &str, at: usize) -> usize {
    at + text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len()
}
