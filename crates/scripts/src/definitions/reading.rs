//! Reading options: how a project is read, and what runs the processes for it.

use crate::definitions::readings::Readings;
use crate::running::error::system_error;
use crate::running::process::Limits;
use crate::running::processes::block_on;
use crate::running::server_script::ServerScript;
use mcp_bash_files::shortage::noted;
use mcp_bash_project::{Asked, Asks, Hook, HookError, Paths, Reading, Run, Said, Stamp};
use mcp_bash_runner::{ProcessEnding, TimeLimits};
use mcp_bash_secrets::Needs;
use std::fmt;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

impl Readings {
    /// How the project in `paths` is read.
    pub(crate) fn reading(self: &Arc<Self>, paths: &Paths) -> Reading {
        let settings = self.surroundings.settings();
        Reading {
            registration_limit: settings.registration_limit,
            registry_limit: settings.registry_limit,
            static_registry: settings.static_registry,
            hooks: settings.allow_hooks,
            asks: if settings.ask_all_executables { Asks::All } else { Asks::Signed },
            strict_providers: settings.strict_providers,
            run: Some(Arc::new(Reader { readings: Arc::clone(self), paths: paths.clone() })),
            only: None,
            is_followed: false,
        }
    }
}

/// Runs the processes that are needed to read one project.
struct Reader {
    readings: Arc<Readings>,
    paths: Paths,
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reader").field("project", &self.paths.root).finish_non_exhaustive()
    }
}

impl Run for Reader {
    fn definitions(&self, file: &Path, stamp: Stamp, asked: Asked<'_>) -> Said {
        self.readings.definitions(file, stamp, asked, &self.paths)
    }

    fn ask_again(&self) {
        self.readings.ask_again();
    }

    fn note_secrets(&self, needs: &[&Needs]) {
        self.readings.surroundings.note_secrets(needs);
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
                patience: TimeLimits::fixed(hook.timeout),
                output: limit,
                // One more byte shows that there was more.
                error_tail: limit.saturating_add(1),
                budget: self.readings.surroundings.budget(),
            },
        };
        let environment =
            block_on(self.readings.surroundings.server_environment(&self.paths)).map_err(HookError::Start)?;
        let environment = environment.map_err(|why| HookError::Failed(why.to_string()))?;
        let outcome =
            self.readings.surroundings.processes.run_blocking(script.process(&self.paths, environment));
        let outcome = outcome.map_err(|error| HookError::Start(noted(system_error(error))))?;
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
