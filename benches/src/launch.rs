//! Launch: how to start a server: program, arguments and directory.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;

/// The recipe for one server. The same recipe starts a fresh process as often as a measure needs one.
#[derive(Debug, Clone)]
pub struct Launch {
    name: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    settings: Vec<(OsString, OsString)>,
    directory: PathBuf,
}

impl Launch {
    /// A recipe for `program`, run in `directory`. The program's path becomes absolute, because it would
    /// otherwise be looked up from `directory`.
    pub fn new(name: &str, program: &Path, directory: &Path) -> Result<Self, Failure> {
        // A link is not resolved: an interpreter finds its packages by the path of the link.
        let found = program.metadata().and_then(|_| path::absolute(program));
        let program = found.map_err(|error| {
            Failure::new(name, format!("there is no program at {}: {error}", program.display()))
        })?;
        let (name, directory) = (name.to_owned(), directory.to_owned());
        Ok(Self { name, program, arguments: Vec::new(), settings: Vec::new(), directory })
    }

    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets a variable in the server's environment.
    #[must_use]
    pub fn setting(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The size of the program's file in bytes.
    pub fn program_size(&self) -> Result<u64, Failure> {
        let metadata = self.program.metadata();
        let metadata = metadata.map_err(|error| Failure::new(&self.name, format!("its file: {error}")))?;
        Ok(metadata.len())
    }

    /// The command for one process, with its standard error going to `stderr`.
    ///
    /// Settings of the caller's environment must not leak into the server under test, so every variable that
    /// configures mcp-bash is removed. Those of the recipe are added afterwards.
    pub(crate) fn command(&self, stderr: File) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.directory);
        for (name, _) in env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"MCPBASH_") {
                command.env_remove(name);
            }
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        command
    }
}
