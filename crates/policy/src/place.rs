//! Places in a file: where a part of an expression is, given where its YAML value begins.

use mcp_bash_cel::Position;
use mcp_bash_yaml::Node;

/// The line and column of a part of an expression. If YAML joined the lines of the value, it is where the value begins.
pub(crate) fn of(file: &str, node: &Node, part: Position) -> (usize, usize) {
    let begin = (node.line, node.column);
    let line = |number: usize| file.lines().nth(number.wrapping_sub(1)).unwrap_or_default();
    let header = line(node.line - 1).rsplit([' ', ':']).next().unwrap_or_default();
    if header.starts_with('|') {
        return (node.line + part.line - 1, node.column + part.column - 1);
    }
    let written: String = line(node.line).chars().skip(node.column - 1).collect();
    let quotes = usize::from(written.starts_with(['"', '\'']));
    if part.line > 1 || header.starts_with('>') || written.chars().count() + 1 < part.column + quotes {
        return begin;
    }
    (node.line, node.column + part.column - 1 + quotes)
}
