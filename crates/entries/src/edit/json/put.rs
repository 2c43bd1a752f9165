//! JSON insertion: adds a member to an object, in the style of its neighbours.

use super::scan::{Member, Node, NodeKind, comment_end};
use super::write::{Layout, Style, member, written};
use super::{own_line_indent, position, root};
use crate::client::Dialect;
use crate::edit::EditError;
use crate::edit::splice::{Splice, line_end, line_start};
use serde_json::{Map, Value};

/// The edits that put the value at `path`.
pub(in crate::edit) fn put(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    value: &Value,
    escaped: &[&str],
) -> Result<Vec<Splice>, EditError> {
    let Some(root) = root(text, dialect)? else { return Ok(vec![new_document(text, path, value, escaped)]) };
    let is_one_line = !text[root.span.clone()].contains('\n');
    let document = Document { text, unit: unit(text, &root), is_one_line, escaped };
    document.put(&root, path, value)
}

/// The whole document, after the white space and comments that are there.
fn new_document(text: &str, path: &[&str], value: &Value, escaped: &[&str]) -> Splice {
    let end = line_end(text);
    let style = Style { line_end: end, unit: "  ", layout: Layout::Lines, escaped };
    let separator = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    Splice::insert(text.len(), format!("{separator}{}{end}", written(&nested(path, value), style, "")))
}

/// The value inside objects with one member each.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |value, key| Value::Object(Map::from_iter([((*key).to_owned(), value)])))
}

/// One step of indentation, taken from the first member of the whole document.
fn unit<'t>(text: &'t str, root: &Node) -> &'t str {
    let NodeKind::Object(members) = &root.kind else { return "  " };
    let indent = members.first().and_then(|first| own_line_indent(text, first.key_start));
    indent.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}

struct Document<'t> {
    text: &'t str,
    unit: &'t str,
    is_one_line: bool,
    escaped: &'t [&'t str],
}

impl<'t> Document<'t> {
    fn put(&self, node: &Node, path: &[&str], value: &Value) -> Result<Vec<Splice>, EditError> {
        let (NodeKind::Object(members), Some((key, rest))) = (&node.kind, path.split_first()) else {
            return Err(EditError::NotAnObject);
        };
        match position(members, key)?.map(|index| &members[index]) {
            Some(found) if rest.is_empty() => Ok(vec![self.replaced(found, value)]),
            Some(found) => self.put(&found.value, rest, value),
            None => {
                let value = nested(rest, value);
                Ok(match members.last() {
                    Some(last) => self.after(&members[0], last, key, &value),
                    None => vec![self.within_braces(node, key, &value)],
                })
            }
        }
    }

    fn style(&self, layout: Layout) -> Style<'t> {
        Style { line_end: line_end(self.text), unit: self.unit, layout, escaped: self.escaped }
    }

    fn replaced(&self, found: &Member, value: &Value) -> Splice {
        let layout = match own_line_indent(self.text, found.key_start) {
            Some(_) => Layout::Lines,
            None => self.one_line_layout(found),
        };
        let written = written(value, self.style(layout), self.line_indent(found.key_start));
        Splice::replace(found.value.span.clone(), written)
    }

    /// After the last member of a non-empty object.
    fn after(&self, first: &Member, last: &Member, key: &str, value: &Value) -> Vec<Splice> {
        let Some(indent) = own_line_indent(self.text, first.key_start) else {
            let layout = self.one_line_layout(first);
            let space = if layout == Layout::Dense { "" } else { " " };
            let member = member(key, value, self.style(layout), "");
            return vec![match last.comma {
                Some(comma) => Splice::insert(comma + 1, format!("{space}{member},")),
                None => Splice::insert(last.value.span.end, format!(",{space}{member}")),
            }];
        };
        let member = member(key, value, self.style(Layout::Lines), indent);
        let line = format!("{}{indent}{member}", line_end(self.text));
        if let Some(comma) = last.comma {
            return vec![Splice::insert(self.end_of_comments(comma + 1), format!("{line},"))];
        }
        let end = last.value.span.end;
        vec![Splice::insert(end, ","), Splice::insert(self.end_of_comments(end), line)]
    }

    /// Between the braces of an empty object.
    fn within_braces(&self, node: &Node, key: &str, value: &Value) -> Splice {
        let inside = node.span.start + 1..node.span.end - 1;
        let is_dense = self.is_one_line && self.text.trim().len() > node.span.len();
        if is_dense {
            return Splice::insert(inside.start, member(key, value, self.style(Layout::Dense), ""));
        }
        let own = self.line_indent(node.span.start);
        let indent = format!("{own}{}", self.unit);
        let (end, member) = (line_end(self.text), member(key, value, self.style(Layout::Lines), &indent));
        let comments = self.text[inside.clone()].trim_end();
        if comments.is_empty() {
            return Splice::replace(inside, format!("{end}{indent}{member}{end}{own}"));
        }
        Splice::insert(inside.start + comments.len(), format!("{end}{indent}{member}"))
    }

    /// The end of the comments after `at` on the same line; else `at` itself.
    fn end_of_comments(&self, at: usize) -> usize {
        let (mut end, mut next) = (at, at);
        loop {
            next += self.text[next..].len() - self.text[next..].trim_start_matches([' ', '\t']).len();
            match comment_end(self.text, next) {
                Some(comment) if !self.text[next..comment].contains('\n') => (end, next) = (comment, comment),
                _ => return end,
            }
        }
    }

    /// The white space at the beginning of the line of a position.
    fn line_indent(&self, at: usize) -> &'t str {
        let line = &self.text[line_start(self.text, at)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The layout of members on the line of this one.
    fn one_line_layout(&self, member: &Member) -> Layout {
        let value = member.value.span.start;
        let has_space = self.text[..value].ends_with([' ', '\t', '\n']);
        if has_space { Layout::Spaced } else { Layout::Dense }
    }
}
