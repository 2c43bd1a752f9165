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

/// Why a file has no functions although it looks as if it should, and the fix.
pub(super) fn problem_without_functions(text: &str) -> Option<(&'static str, &'static str)> {
    const MARK: &str = "write `@tool` above each function that is to be a tool, or let the name of the file begin with `_` \
                        if it helps others";
    if imports_marks(text) {
        let problem = "is not served: it imports marks of functions from mcp_bash, and no function has one";
        return Some((problem, MARK));
    }
    let has_public_function = || text.lines().any(is_public_function);
    (!imports(text) && has_public_function()).then_some((
        "is not served: none of its functions is a tool",
        "write `from mcp_bash import tool` and `@tool` above each function that is to be one, or let the name of the file \
         begin with `_` if it helps others",
    ))
}

/// Why a file with marked functions is not for us, and the fix.
pub(super) fn foreign(text: &str) -> Option<&'static str> {
    (imports_fastmcp(text) && text.lines().any(is_decorator)).then_some(
        "it is a server of FastMCP; import the same names from `mcp_bash.fastmcp`, or write `from mcp_bash import tool` and \
         `@tool` (docs/from-fastmcp.md has each construct of FastMCP with ours beside it)",
    )
}

/// `from fastmcp import FastMCP`, `from mcp.server.fastmcp import …`, `from mcp.server import MCPServer`, `import fastmcp`.
fn imports_fastmcp(text: &str) -> bool {
    const MODULES: [&str; 4] = ["fastmcp", "mcp.server.fastmcp", "mcp.server.mcpserver", "mcp.server"];
    text.lines().map(str::trim_end).any(|line| {
        let module = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "));
        let module = module.map(str::trim_start).unwrap_or_default();
        let module = &module[..module.find([' ', ',']).unwrap_or(module.len())];
        MODULES.contains(&module) || module.starts_with("fastmcp.")
    })
}

/// `def name(…`, at the left margin.
fn is_public_function(line: &str) -> bool {
    let name = line.strip_prefix("def ").or_else(|| line.strip_prefix("async def "));
    name.is_some_and(|name| name.trim_start().starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// `from mcp_bash import log, tool`.
fn imports_marks(text: &str) -> bool {
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
