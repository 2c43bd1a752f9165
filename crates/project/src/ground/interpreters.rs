//! Interpreters: which program runs a script, by its first line and its mode.

use mcp_bash_files::look;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The interpreters that fail on a carriage return at the end of a line.
pub(crate) const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// The interpreter that a `#!` line names, without folders; after `env`, the program that `env` starts.
pub fn interpreter_name(line: &str) -> Option<&str> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let name = |word: &'_ str| word.rfind('/').map_or(0, |slash| slash + 1);
    let first = words.next()?;
    let first = &first[name(first)..];
    if first != "env" {
        return Some(first);
    }
    let program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    Some(&program[name(program)..])
}

pub(crate) fn has_shebang(path: &Path) -> bool {
    let mut start = [0; 2];
    mcp_bash_files::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

/// Whether a file has an executable bit.
pub(crate) fn is_executable(file: &Path) -> bool {
    look::metadata(file).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
