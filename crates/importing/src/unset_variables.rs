//! Variables that a Makefile uses, told from functions, loop variables and what make sets by itself.

use mcp_bash_hazards::{Control, control};

/// Variables that make, the implicit rules or the environment set, besides those that decide what is run.
const KNOWN: [&str; 24] = [
    "AR",
    "ARFLAGS",
    "ARGV",
    "CFLAGS",
    "CPPFLAGS",
    "CURDIR",
    "CXXFLAGS",
    "DESTDIR",
    "HOME",
    "LDFLAGS",
    "LDLIBS",
    "LOGNAME",
    "MAKE",
    "MAKECMDGOALS",
    "MAKEFILE_LIST",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "MAKE_VERSION",
    "MAKE_COMMAND",
    "OS",
    "PWD",
    "RM",
    "SUFFIXES",
    "USER",
];

pub(crate) fn is_known_to_make(name: &str) -> bool {
    KNOWN.contains(&name) || control(name) == Control::Decides
}

/// The names in `$(NAME)` and `${NAME:.c=.o}`, also inside calls, but neither functions, loop variables, parameters,
/// automatic variables nor what a shell reads (`$$NAME`).
pub(crate) fn used(text: &str) -> Vec<&str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut names, mut loops) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(index) = rest.find('$') {
        rest = &rest[index + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let Some(inner) = rest.strip_prefix(['(', '{']) else { continue };
        let end = inner.find(|letter| !is_letter(letter)).unwrap_or(inner.len());
        let (name, after) = inner.split_at(end);
        if name == "foreach" {
            loops.extend(after.trim_start().split(',').next().map(str::trim));
        }
        let ends = after.starts_with([')', '}', ':']);
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if ends && is_name {
            names.push(name);
        }
    }
    names.retain(|name| !loops.contains(name));
    names
}
