//! JSON lists: adds an item to a list of the root object, or removes one.

use super::scan::{Node, NodeKind};
use super::write::{Layout, Style, written};
use super::{own_line_indent, position, put, root, take};
use crate::client::Dialect;
use crate::edit::EditError;
use crate::edit::splice::{Splice, line_end};
use serde_json::{Value, json};

/// The edits that add an item to the list `key`, or make the list.
pub(crate) fn append(
    text: &str,
    dialect: Dialect,
    key: &str,
    item: &Value,
) -> Result<Vec<Splice>, EditError> {
    let items = list(text, dialect, key)?;
    let Some(last) = items.last() else { return put(text, dialect, &[key], &json!([item]), &[]) };
    let style = |layout| Style { line_end: line_end(text), unit: "  ", layout, escaped: &[] };
    let added = match own_line_indent(text, last.span.start) {
        Some(indent) => {
            format!(",{}{indent}{}", line_end(text), written(item, style(Layout::Lines), indent))
        }
        None => format!(", {}", written(item, style(Layout::Spaced), "")),
    };
    Ok(vec![Splice::insert(last.span.end, added)])
}

/// The edits that remove an item of the list `key`, and an empty list with it.
pub(crate) fn remove(
    text: &str,
    dialect: Dialect,
    key: &str,
    index: usize,
) -> Result<Vec<Splice>, EditError> {
    let items = list(text, dialect, key)?;
    let before = index.checked_sub(1).and_then(|before| items.get(before));
    Ok(match (items.get(index), before, items.get(index + 1)) {
        (Some(item), Some(before), _) => vec![Splice::delete(before.span.end..item.span.end)],
        (Some(item), None, Some(after)) => vec![Splice::delete(item.span.start..after.span.start)],
        _ => take(text, dialect, &[key])?,
    })
}

fn list(text: &str, dialect: Dialect, key: &str) -> Result<Vec<Node>, EditError> {
    let Some(Node { kind: NodeKind::Object(mut members), .. }) = root(text, dialect)? else {
        return Err(EditError::NotAnObject);
    };
    match position(&members, key)?.map(|index| members.swap_remove(index).value.kind) {
        None => Ok(Vec::new()),
        Some(NodeKind::Array(items)) => Ok(items),
        Some(_) => Err(EditError::NotAnObject),
    }
}
