//! JSON editing, with and without comments: one member is added, changed or removed, and everything else stays.
//!
//! Not `jsonc-parser`: it is ten times this code, and a splice between known positions leaves every other byte of the user's
//! file as it is without a tree of all of it.

pub(crate) mod inputs_edit;
mod put;
mod scan;
mod take;
mod write;

use super::EditError;
use super::splice::{line_and_column, line_start};
use crate::client::Dialect;
pub(super) use put::put;
use scan::{Member, Node, scan};
use serde_json::Value;
pub(super) use take::take;
pub(crate) use write::{Layout, Style, escaped, written};

/// Parses a text; `None` if it holds only white space and comments.
pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Option<Value>, EditError> {
    Ok(root(text, dialect)?.map(|root| root.value()))
}

fn root(text: &str, dialect: Dialect) -> Result<Option<Node>, EditError> {
    scan(text, dialect).map_err(|fault| {
        let (line, column) = line_and_column(text, fault.at);
        EditError::Broken(format!("line {line}, column {column}: {}", fault.problem))
    })
}

/// The index of the member of a name. Two members of one name are a mistake that is not ours to fix.
fn position(members: &[Member], key: &str) -> Result<Option<usize>, EditError> {
    let mut found = members.iter().enumerate().filter(|(_, member)| member.key == key);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(EditError::Twice(key.to_owned())),
        (first, _) => Ok(first.map(|(index, _)| index)),
    }
}

/// The white space before a member that begins its line.
fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let before = &text[line_start(text, at)..at];
    (line_start(text, at) > 0 && before.chars().all(|c| c == ' ' || c == '\t')).then_some(before)
}

#[cfg(test)]
mod tests;
