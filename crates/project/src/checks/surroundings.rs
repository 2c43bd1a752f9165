//! Surroundings of a script: how it is started, and the programs it finds.

use crate::ground::interpreters::is_executable;
use std::ffi::OsStr;

/// Where scripts find their programs.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The `PATH` that scripts get.
    pub search_path: &'a OsStr,
}

impl Surroundings<'_> {
    /// Whether scripts find a program of that name.
    pub(super) fn has(&self, program: &str) -> bool {
        std::env::split_paths(self.search_path).any(|folder| is_executable(&folder.join(program)))
    }
}

/// How a script is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptUse {
    /// As a program: executable, or by the interpreter that its first line names.
    Started,
    /// Read by a shell that runs already.
    Sourced,
}
