//! Server scripts: scripts of `server.d` that bash reads from its standard input, after a prelude with the functions that they
//! use. Bash runs the text of the file that was checked, even if the file is replaced a moment later.

use crate::running::process::{Limits, Process};
use mcp_bash_project::Paths;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Input, Variables};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

pub(crate) struct ServerScript<'a> {
    /// The name of bash in its own messages (`$0`).
    pub(crate) name: &'static str,
    /// The code that bash runs. It reads the script from its standard input.
    pub(crate) prelude: &'static str,
    /// The arguments of the prelude and the script.
    pub(crate) words: Vec<OsString>,
    pub(crate) text: &'a [u8],
    /// Variables that name further folders, besides the project itself.
    pub(crate) folders: &'a [(&'static str, &'a Path)],
    pub(crate) limits: Limits<'a>,
}

impl<'a> ServerScript<'a> {
    pub(crate) fn process(self, paths: &'a Paths, mut environment: Variables) -> Process<'a> {
        environment.extend(self.folders.iter().copied());
        let arguments = ["-c", self.prelude, self.name].map(Into::into).into();
        Process {
            start: Start { program: "bash".into(), arguments },
            words: self.words,
            directory: &paths.root,
            environment,
            input: Input::Bytes(self.text),
            limits: self.limits,
            grace: Duration::ZERO,
            talk: None,
            sandbox: None,
        }
    }
}
