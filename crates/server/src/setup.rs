//! What a server is set up with before there is a project to serve.

use crate::methods::tools::environment;
use crate::settings::{PROCESS_SETTING, Settings};
use mcp_bash_budget::Budget;
use mcp_bash_project::{Ask, Paths, Reading, excerpt};
use mcp_bash_runner::{Confinement, Input, Invocation, Outcome, Patience, ProcessEnding, Runner, StateDir};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// The settings, and where work is done.
pub struct Setup {
    pub(crate) settings: Arc<Settings>,
    pub(crate) runtime: Handle,
    pub(crate) runner: Arc<Runner>,
    pub(crate) state_dir: Arc<StateDir>,
    /// What is held in all.
    pub(crate) budget: Arc<Budget>,
}

impl Setup {
    pub fn new(settings: Settings, runtime: Handle, state_dir: Arc<StateDir>) -> Self {
        let runner = Arc::new(Runner::new(Arc::clone(&state_dir)));
        let budget = Budget::new(settings.max_process_bytes, PROCESS_SETTING);
        Self { settings: Arc::new(settings), runtime, runner, state_dir, budget }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn state_dir(&self) -> &StateDir {
        &self.state_dir
    }

    /// How the project in `paths` is read.
    pub fn reading(&self, paths: &Paths) -> Reading {
        let asker = Asker {
            settings: Arc::clone(&self.settings),
            runner: Arc::clone(&self.runner),
            paths: paths.clone(),
            budget: Arc::clone(&self.budget),
        };
        Reading {
            registration_limit: self.settings.registration_limit,
            registry_limit: self.settings.registry_limit,
            static_registry: self.settings.static_registry,
            hooks: self.settings.allow_hooks,
            strict_providers: self.settings.strict_providers,
            ask: Some(Arc::new(asker)),
            only: None,
        }
    }
}

/// Asks executables which tools they provide, within the bounds of a tool call.
struct Asker {
    settings: Arc<Settings>,
    runner: Arc<Runner>,
    paths: Paths,
    budget: Arc<Budget>,
}

impl std::fmt::Debug for Asker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Asker").finish_non_exhaustive()
    }
}

/// How long an executable may take to end when it is told to.
const GRACE: Duration = Duration::from_millis(500);

impl Ask for Asker {
    fn ask(&self, program: &Path, word: &str) -> Result<String, String> {
        let invocation = Invocation {
            program: program.to_owned(),
            arguments: vec![word.into()],
            directory: self.paths.root.clone(),
            environment: environment::base(&self.settings.environment_mode, None, &self.paths),
            input: Input::Bytes(&[]),
            patience: Patience::fixed(self.settings.provider_timeout),
            grace: GRACE,
            output_limit: self.settings.output_limit,
            budget: Arc::clone(&self.budget),
            error_tail: self.settings.stderr_tail,
            talk: None,
            confinement: Confinement::default(),
        };
        let outcome = self.runner.run(invocation, std::future::pending(), |_| {}, drop);
        // Whoever reads a project may block, and the runtime of the server need not be under way yet.
        let outcome =
            Builder::new_current_thread().enable_all().build().map(|runtime| runtime.block_on(outcome));
        match outcome {
            Ok(Ok(outcome)) => self.answer(&outcome),
            Ok(Err(error)) => Err(format!("could not be started: {error}")),
            Err(error) => Err(format!("could not be started: {error}")),
        }
    }
}

impl Asker {
    fn answer(&self, outcome: &Outcome) -> Result<String, String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = || excerpt(&(text(&outcome.stdout) + &text(&outcome.stderr)));
        match outcome.ending {
            ProcessEnding::Exited(0) => Ok(text(&outcome.stdout)),
            ProcessEnding::Exited(code) => Err(format!("failed (exit {code}) and printed: {}", said())),
            ProcessEnding::Signalled(signal) => {
                Err(format!("was ended by signal {signal} and printed: {}", said()))
            }
            ProcessEnding::TimedOut(_) => Err(format!(
                "did not end within {} s (MCPBASH_PROVIDER_TIMEOUT sets the limit) and printed: {}",
                self.settings.provider_timeout.as_secs(),
                said()
            )),
            ProcessEnding::OutputTooLarge => Err(format!(
                "printed more than {} bytes; MCPBASH_MAX_TOOL_OUTPUT_SIZE sets the limit",
                self.settings.output_limit
            )),
            ProcessEnding::NoRoom(why) => Err(format!("printed too much: {why}")),
            ProcessEnding::Cancelled => Err("was cancelled".to_owned()),
        }
    }
}
