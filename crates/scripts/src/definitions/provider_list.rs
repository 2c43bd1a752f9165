//! Provider list: runs an executable with `list` for its tools, and then with `instructions`.

use crate::confining::confined::Confined;
use crate::running::error::{Bounds, Failed, NoEnvironment};
use crate::running::process::{Limits, Process};
use crate::running::start_failure::StartFailure;
use crate::running::unanswered::start_passes;
use crate::surroundings::Surroundings;
use mcp_bash_project::trust::Start;
use mcp_bash_project::{Definitions, Paths, Unanswered, excerpt};
use mcp_bash_runner::{Input, TimeLimits};
use std::future::pending;
use std::path::Path;
use std::time::Duration;

/// The grace period of an executable after `TERM`.
const GRACE: Duration = Duration::from_millis(500);

impl Surroundings {
    pub(crate) async fn ask_provider(
        &self,
        program: &Path,
        paths: &Paths,
    ) -> Result<Definitions, Unanswered> {
        let text = self.print_of(program, "list", paths).await?;
        // Instructions are optional.
        let instructions = self.print_of(program, "instructions", paths).await.ok();
        Ok(Definitions { text, instructions })
    }

    /// Runs an executable with one word as its argument, within the limits of a provider, and returns its output, or why that
    /// is not an answer.
    async fn print_of(&self, program: &Path, word: &str, paths: &Paths) -> Result<String, Unanswered> {
        let settings = self.settings();
        let bounds = Bounds {
            time: settings.provider_timeout,
            time_setting: "MCPBASH_PROVIDER_TIMEOUT",
            output: settings.output_limit,
            output_setting: "MCPBASH_MAX_TOOL_OUTPUT_SIZE",
        };
        let environment = self.common_environment(paths).await;
        let process = Process {
            start: Start { program: program.to_owned(), arguments: Vec::new() },
            words: vec![word.into()],
            directory: &paths.root,
            environment: environment.map_err(|why| not_started(&why))?,
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(bounds.time),
                output: bounds.output,
                error_tail: settings.stderr_tail,
                budget: self.budget(),
            },
            grace: GRACE,
            talk: None,
            sandbox: Some(Confined { declaration: None, roots: &[], paths, script: program }),
        };
        let outcome = self.processes.run_without_talk(process, pending()).await;
        let explained = |error| {
            let passes = start_passes(&error);
            let why = format!("could not be started: {}", StartFailure::explain(program, error));
            Unanswered { why, passes }
        };
        let outcome = outcome.map_err(explained)?;
        let said = || excerpt(&format!("{}{}", outcome.text(), outcome.errors()));
        Failed::from_ending(outcome.ending, &bounds, said).map_err(Failed::into_unanswered)?;
        Ok(outcome.into_text())
    }
}

fn not_started(why: &NoEnvironment) -> Unanswered {
    let passes = matches!(why, NoEnvironment::Sdk(_));
    Unanswered { why: format!("was not started: {why}"), passes }
}
