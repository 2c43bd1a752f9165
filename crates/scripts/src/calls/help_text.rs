//! Help text: runs a program in a sandbox for its help. It may be any program of the user, and nothing is known about it yet.

use crate::confining::confined::Confined;
use crate::running::outcome::Outcome;
use crate::running::process::{Limits, Process};
use crate::scripts::Scripts;
use mcp_bash_project::Paths;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Input, StartError, TimeLimits, Variables};
use mcp_bash_sandbox::{Declaration, Mode, Place};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The grace period of a program after `TERM`.
const GRACE: Duration = Duration::from_millis(200);

/// What `man` reads besides the programs of the system: some programs start it to print their help.
const MANUAL: [&str; 4] = ["/etc/man_db.conf", "/etc/manpath.config", "/usr/local/man", "/var/cache/man"];

/// A command line that prints a help text.
pub struct HelpRequest<'a> {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The folder that it runs in, and may read.
    pub folder: &'a Path,
    pub variables: Variables,
    pub timeout: Duration,
    /// The limit of its output, in bytes.
    pub limit: usize,
}

impl Scripts {
    /// Runs it with the default sandbox: it reads its folder, the system's programs and their manuals, writes to a temporary
    /// folder, and reaches no network.
    pub async fn help_text(&self, request: HelpRequest<'_>) -> Result<Outcome, StartError> {
        let program = request.program.clone();
        let process = Process {
            start: Start { program: request.program, arguments: request.arguments },
            words: Vec::new(),
            directory: request.folder,
            environment: request.variables,
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(request.timeout),
                output: request.limit,
                error_tail: request.limit,
                budget: self.budget(),
            },
            grace: GRACE,
            talk: None,
            sandbox: Some(Confined {
                declaration: Some(&declaration()),
                roots: &[],
                paths: &Paths::of(request.folder),
                script: &program,
            }),
        };
        self.surroundings.processes.run_without_talk(process, std::future::pending()).await
    }
}

/// The sandbox that it runs in.
fn declaration() -> Declaration {
    let mut declaration = Declaration::of(Mode::On);
    let manual = MANUAL.into_iter().map(PathBuf::from).filter(|path| path.exists()).map(Place::Absolute);
    declaration.read = Some(std::iter::once(Place::Project(PathBuf::new())).chain(manual).collect());
    declaration
}
