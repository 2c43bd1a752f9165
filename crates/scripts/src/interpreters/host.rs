//! Host of a language: looks up the programs that scripts of the project find, and runs those that install packages.

use crate::running::error::{Bounds, Failed};
use crate::running::process::{Limits, Process};
use crate::surroundings::Surroundings;
use crate::surroundings::program::NotFound;
use mcp_bash_project::trust::Start;
use mcp_bash_project::{LanguageHost, Paths, Waiting, excerpt};
use mcp_bash_runner::{Input, TimeLimits, Variables};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The grace period of an installer after `TERM`.
const GRACE: Duration = Duration::from_secs(1);

pub(crate) struct ProjectHost<'s> {
    pub(crate) surroundings: &'s Surroundings,
    pub(crate) paths: &'s Paths,
}

impl LanguageHost for ProjectHost<'_> {
    fn first_found<'a>(&'a self, names: &'a [&'a str]) -> Waiting<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move {
            for name in names {
                match self.surroundings.wait_for_program(name, self.paths).await {
                    Ok(start) => return Ok(Some(start.program)),
                    Err(NotFound::NoEnvironment(why)) => return Err(why.to_string()),
                    Err(NotFound::Missing | NotFound::Distrusted(_)) => {}
                }
            }
            Ok(None)
        })
    }

    fn run<'a>(
        &'a self,
        program: &'a Path,
        words: &'a [&'a OsStr],
        inherits: fn(&OsStr) -> bool,
    ) -> Waiting<'a, Result<String, String>> {
        Box::pin(self.run_installer(program, words, inherits))
    }
}

impl ProjectHost<'_> {
    async fn run_installer(
        &self,
        program: &Path,
        words: &[&OsStr],
        inherits: fn(&OsStr) -> bool,
    ) -> Result<String, String> {
        let settings = self.surroundings.settings();
        let bounds = Bounds {
            time: settings.workers.start,
            time_setting: "MCPBASH_WORKER_START_SECS",
            output: settings.output_limit,
            output_setting: "MCPBASH_MAX_TOOL_OUTPUT_SIZE",
        };
        let process = Process {
            start: Start { program: program.to_owned(), arguments: Vec::new() },
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            directory: &self.paths.root,
            environment: self.environment(inherits).await?,
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(bounds.time),
                output: bounds.output,
                error_tail: settings.stderr_tail,
                budget: self.surroundings.budget(),
            },
            grace: GRACE,
            talk: None,
            sandbox: None,
        };
        let outcome = self.surroundings.processes.run_without_talk(process, std::future::pending()).await;
        let name = program.file_name().unwrap_or(program.as_os_str()).display();
        let outcome = outcome.map_err(|error| format!("`{name}` could not be started: {error}"))?;
        let said = || excerpt(&outcome.errors());
        Failed::from_ending(outcome.ending, &bounds, said).map_err(|how| format!("`{name}` {how}"))?;
        Ok(outcome.into_text())
    }

    /// The environment of scripts, with the variables that an installer needs to download packages.
    async fn environment(&self, inherits: fn(&OsStr) -> bool) -> Result<Variables, String> {
        let common = self.surroundings.common_environment(self.paths).await;
        let mut all = common.map_err(|why| why.to_string())?;
        for (name, value) in std::env::vars_os().filter(|(name, _)| inherits(name)) {
            if all.get(&name).is_none() {
                all.set(name, value);
            }
        }
        Ok(all)
    }
}
