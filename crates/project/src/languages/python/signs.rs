//! Signs of functions in the text of a Python file.

use super::super::language::MARKS;

pub(super) fn has_functions(text: &str) -> bool {
    imports(text) && text.lines().any(is_decorator)
}

/// `from mcp_bash import tool`, `import mcp_bash`, `import os, mcp_bash as m`.
fn imports(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let module = line.strip_prefix("from ").is_some_and(is_our_module);
        let modules = line.strip_prefix("import ");
        module || modules.is_some_and(|modules| modules.split(',').any(is_our_module))
    })
}

fn is_our_module(words: &str) -> bool {
    let rest = words.trim_start().strip_prefix("mcp_bash");
    rest.is_some_and(|rest| !rest.starts_with(is_of_word))
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `from mcp_bash import log, tool`.
pub(super) fn imports_marks(text: &str) -> bool {
    text.lines().any(|line| {
        let names = line.trim_start().strip_prefix("from ").filter(|line| is_our_module(line));
        let names = names.and_then(|line| line.split_once(" import ")).map(|(_, names)| names);
        names.is_some_and(|names| names.split(|letter| !is_of_word(letter)).any(|name| MARKS.contains(&name)))
    })
}

/// `@tool`, `@tool(…)`, `@mcp_bash.tool`.
fn is_decorator(line: &str) -> bool {
    let Some(decorator) = line.trim_start().strip_prefix('@') else { return false };
    let end = decorator.find(|next: char| !(is_of_word(next) || next == '.'));
    let name = &decorator[..end.unwrap_or(decorator.len())];
    MARKS.contains(&name.rsplit('.').next().unwrap_or(name))
}
