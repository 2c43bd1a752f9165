//! Sandbox checks: what is in force for a script, and probes that test it.

use crate::confining::confined::Confined;
use crate::confining::script_sandbox::ScriptSandbox;
use crate::running::outcome::Outcome;
use crate::running::process::{Limits, Process};
use crate::scripts::Scripts;
use mcp_bash_project::trust::Start;
use mcp_bash_project::{Paths, Tool};
use mcp_bash_runner::{Input, TimeLimits, Variables};
use mcp_bash_sandbox::Declaration;
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The timeout of a probe. One of them uses a second of CPU time.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How much of a probe's output is read, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// A probe: this program, run as the script of a project to test a restriction.
pub struct Probe<'a> {
    /// The folder of the project.
    pub folder: &'a Path,
    pub declaration: &'a Declaration,
    pub words: Vec<OsString>,
}

impl Scripts {
    /// The sandbox of a script with this declaration, and its source; or why the script is not run.
    pub fn sandbox_of(&self, own: Option<&Declaration>) -> Result<ScriptSandbox, String> {
        self.surroundings.processes.sandboxes.sandbox_of(own).map_err(|why| why.to_string())
    }

    /// Whether the process of a tool runs in a sandbox that allows the roots of the client, so that they must be known before
    /// it starts.
    pub fn opens_roots(&self, tool: &Tool) -> bool {
        let is_here = matches!(self.launcher_of(tool), Ok(None));
        is_here && self.surroundings.processes.sandboxes.opens_roots(tool.options.sandbox.as_ref())
    }

    /// The sandbox of a script for clients, as the text of a JSON object. `None` if it has none.
    pub fn sandbox_summary(&self, own: Option<&Declaration>) -> Option<String> {
        match self.sandbox_of(own) {
            Ok(sandbox) => sandbox.summary().map(|summary| summary.to_string()),
            Err(why) => Some(json!({ "refused": why }).to_string()),
        }
    }

    /// The sandbox of a script for the audit log, in a few words: its mode, and what this machine does not enforce.
    pub fn sandbox_words(&self, own: Option<&Declaration>) -> String {
        let Ok(sandbox) = self.sandbox_of(own) else { return "refused".to_owned() };
        let mode = sandbox.mode().name();
        match sandbox.enforcement() {
            None => mode.to_owned(),
            Some(Err(_)) => "refused".to_owned(),
            Some(Ok(in_force)) => {
                let missing: Vec<&str> = in_force.shortfalls().map(|(aspect, _)| aspect.name()).collect();
                if missing.is_empty() {
                    mode.to_owned()
                } else {
                    format!("{mode}, without {}", missing.join(", "))
                }
            }
        }
    }

    /// Runs a probe in the same way as a tool, and blocks until it has exited.
    pub fn run_probe(&self, probe: Probe<'_>) -> Result<Outcome, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let paths = Paths::of(probe.folder);
        let mut environment = Variables::default();
        environment.set("PATH", "/usr/bin:/bin");
        environment.set("TMPDIR", probe.folder);
        let process = Process {
            start: Start { program: program.clone(), arguments: Vec::new() },
            words: probe.words,
            directory: probe.folder,
            environment,
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(TIMEOUT),
                output: LONGEST_ANSWER,
                error_tail: LONGEST_ANSWER,
                budget: self.budget(),
            },
            grace: Duration::ZERO,
            talk: None,
            sandbox: Some(Confined {
                declaration: Some(probe.declaration),
                roots: &[],
                paths: &paths,
                script: &program,
            }),
        };
        self.surroundings.processes.run_blocking(process).map_err(|error| error.to_string())
    }
}
