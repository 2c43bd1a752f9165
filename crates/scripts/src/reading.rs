//! How a project is read: with somebody who runs what has to be run for it.

use crate::error::{Bounds, Failed, system_error};
use crate::process::{Limits, Process};
use crate::scripts::{Scripts, block_on};
use crate::server_script::ServerScript;
use crate::start_failure::StartFailure;
use mcp_bash_project::trust::Start;
use mcp_bash_project::{Asks, Hook, HookError, Paths, Reading, Run, Worker, excerpt};
use mcp_bash_runner::{Input, Patience, ProcessEnding};
use mcp_bash_wire::{Limits as ScanLimits, Object, Scanner};
use std::fmt;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

/// How long an executable may take to end when it is told to.
const GRACE: Duration = Duration::from_millis(500);

impl Scripts {
    /// How the project in `paths` is read.
    pub fn reading(self: &Arc<Self>, paths: &Paths) -> Reading {
        let settings = self.settings();
        Reading {
            registration_limit: settings.registration_limit,
            registry_limit: settings.registry_limit,
            static_registry: settings.static_registry,
            hooks: settings.allow_hooks,
            asks: if settings.ask_all_executables { Asks::All } else { Asks::Signed },
            strict_providers: settings.strict_providers,
            run: Some(Arc::new(Reader { scripts: Arc::clone(self), paths: paths.clone() })),
            only: None,
        }
    }
}

/// Runs what reading one project takes.
struct Reader {
    scripts: Arc<Scripts>,
    paths: Paths,
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reader").field("project", &self.paths.root).finish_non_exhaustive()
    }
}

impl Run for Reader {
    fn ask(&self, program: &Path, word: &str) -> Result<String, String> {
        let settings = self.scripts.settings();
        let bounds = Bounds {
            time: settings.provider_timeout,
            time_setting: "MCPBASH_PROVIDER_TIMEOUT",
            output: settings.output_limit,
            output_setting: "MCPBASH_MAX_TOOL_OUTPUT_SIZE",
        };
        let environment = block_on(self.scripts.common_environment(&self.paths));
        let environment = environment.map_err(|error| format!("could not be started: {error}"))?;
        let process = Process {
            start: Start { program: program.to_owned(), arguments: Vec::new() },
            words: vec![word.into()],
            directory: &self.paths.root,
            environment: environment.map_err(|why| format!("was not started: {why}"))?,
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: Patience::fixed(bounds.time),
                output: bounds.output,
                error_tail: settings.stderr_tail,
                budget: self.scripts.budget(),
            },
            grace: GRACE,
            talk: None,
        };
        let outcome = self.scripts.run_blocking(process);
        let explained = |error| format!("could not be started: {}", StartFailure::explain(program, error));
        let outcome = outcome.map_err(explained)?;
        let said = || excerpt(&format!("{}{}", outcome.text(), outcome.errors()));
        Failed::from_ending(outcome.ending, &bounds, said).map_err(|how| how.to_string())?;
        Ok(outcome.into_text())
    }

    fn definitions(&self, file: &Path, worker: &Worker) -> Result<String, String> {
        let frame = self
            .scripts
            .failed_loads
            .unless_too_often(file, || self.scripts.definitions_of(file, worker, &self.paths))?;
        let no_definitions = || "its worker did not say which functions there are".to_owned();
        let whole = Scanner::new(&frame, ScanLimits::NONE).whole_value().map_err(|_| no_definitions())?;
        let ready = Object::read(whole, "the frame", &["ready"]).ok().and_then(|frame| frame.get("ready"));
        ready.map(|ready| ready.text().to_owned()).ok_or_else(no_definitions)
    }

    fn run_hook(&self, hook: &Hook<'_>) -> Result<Output, HookError> {
        let limit = usize::try_from(hook.limit).unwrap_or(usize::MAX);
        let script = ServerScript {
            name: "register.sh",
            prelude: hook.prelude,
            words: Vec::new(),
            text: hook.text,
            folders: &[("MCPBASH_TOOLS_DIR", &self.paths.tools), ("MCPBASH_SERVER_DIR", &self.paths.server)],
            limits: Limits {
                patience: Patience::fixed(hook.timeout),
                output: limit,
                // One byte more tells that there was more.
                error_tail: limit.saturating_add(1),
                budget: self.scripts.budget(),
            },
        };
        let environment = block_on(self.scripts.server_environment(&self.paths)).map_err(HookError::Start)?;
        let environment = environment.map_err(|why| HookError::Failed(why.to_string()))?;
        let outcome = self.scripts.run_blocking(script.process(&self.paths, environment));
        let outcome = outcome.map_err(|error| HookError::Start(system_error(error)))?;
        if outcome.stderr.len() > limit || outcome.ending == ProcessEnding::OutputTooLarge {
            return Err(HookError::TooLarge(hook.limit));
        }
        if let Some(status) = outcome.exit_status() {
            return Ok(Output { status, stdout: outcome.stdout, stderr: outcome.stderr });
        }
        Err(match outcome.ending {
            ProcessEnding::NoRoom(why) => HookError::Failed(why.to_string()),
            _ => HookError::TimedOut,
        })
    }
}
