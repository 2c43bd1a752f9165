//! Runs a script of the project that is no tool: it is trusted or not run, gets its input and its environment, and its
//! output is what it is asked for.

use crate::work::Work;
use mcp_bash_project::{Paths, excerpt, trust};
use mcp_bash_runner::{Confinement, Input, Invocation, Patience, ProcessEnding, Variables};
use mcp_bash_wire::RpcError;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a script may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(1);

pub(crate) struct Script<'a> {
    /// What it is to people, as in "Prompt 'x'".
    pub(crate) what: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) environment: Variables,
    /// What it reads on its standard input.
    pub(crate) input: &'a str,
    /// How long it may take: as the client says, and as its author says.
    pub(crate) asked: Option<Duration>,
    pub(crate) usual: Option<Duration>,
    /// How much it may print, in bytes.
    pub(crate) limit: usize,
    /// The setting that says so.
    pub(crate) limit_setting: &'static str,
}

impl Script<'_> {
    /// What it prints, or why that is nothing to go on with.
    pub(crate) async fn output(self, work: &Work, paths: &Paths) -> Result<String, RpcError> {
        let Self { what, program, .. } = self;
        let start = trust::may_run(program, &paths.root)
            .map_err(|distrust| RpcError::invalid_params(format!("{what} is not run: {distrust}")))?;
        let settings = work.server().settings();
        let usual = self.usual.unwrap_or(settings.default_timeout);
        // A client may ask for no more than the setting allows, or the author already does.
        let timeout = self.asked.map_or(usual, |asked| asked.min(settings.max_timeout.max(usual)));
        let invocation = Invocation {
            program: start.program,
            arguments: start.arguments,
            directory: paths.root.clone(),
            environment: self.environment,
            input: Input::Bytes(self.input.as_bytes()),
            patience: Patience::fixed(timeout),
            grace: GRACE,
            output_limit: self.limit,
            budget: Arc::clone(work.budget()),
            error_tail: settings.stderr_tail,
            talk: None,
            confinement: Confinement::default(),
        };
        let outcome = work.server().runner().run(invocation, work.cancelled(), |_| {}, drop).await;
        let outcome =
            outcome.map_err(|error| RpcError::internal(format!("{what} could not be started: {error}")))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = || {
            let (errors, output) = (text(&outcome.stderr), text(&outcome.stdout));
            excerpt(if errors.trim().is_empty() { &output } else { &errors })
        };
        let problem = match outcome.ending {
            ProcessEnding::Exited(0) => return Ok(text(&outcome.stdout)),
            ProcessEnding::Exited(code) => format!("failed (exit {code}) and printed: {}", said()),
            ProcessEnding::Signalled(signal) => {
                format!("was ended by signal {signal} and printed: {}", said())
            }
            ProcessEnding::TimedOut(_) => {
                let seconds = timeout.as_secs();
                format!(
                    "did not end within {seconds} s (`timeoutSecs` sets the limit) and printed: {}",
                    said()
                )
            }
            ProcessEnding::OutputTooLarge => {
                format!("printed more than {} bytes; {} sets the limit", self.limit, self.limit_setting)
            }
            ProcessEnding::NoRoom(why) => format!("printed too much: {why}"),
            ProcessEnding::Cancelled => "was cancelled".to_owned(),
        };
        Err(RpcError::internal(format!("{what} {problem}")))
    }
}
