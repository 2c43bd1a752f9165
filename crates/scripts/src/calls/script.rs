//! Script run: runs a script of the project that is not a tool. The script must be trusted, receives its input and its
//! environment, and answers on its standard output.

use crate::calls::call_tool::QUESTIONS;
use crate::confining::confined::Confined;
use crate::running::error::{Bounds, Failed, ScriptError};
use crate::running::outcome::Outcome;
use crate::running::process::{Limits, Process};
use crate::running::start_failure::{StartFailure, interpreter_problem};
use crate::running::time_limits;
use crate::scripts::Scripts;
use mcp_bash_budget::Budget;
use mcp_bash_project::{Paths, trust};
use mcp_bash_runner::{CallFolder, Input, Question, Talk, TimeLimits, Variables};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The grace period of a script after `TERM`.
const GRACE: Duration = Duration::from_secs(1);

pub(crate) struct Script<'a> {
    /// Its name for people, as in "Prompt 'x'".
    pub(crate) what: String,
    pub(crate) program: &'a Path,
    pub(crate) paths: &'a Paths,
    pub(crate) environment: Variables,
    /// Its standard input.
    pub(crate) input: &'a str,
    /// The timeouts of its caller and of its author.
    pub(crate) asked: Option<Duration>,
    pub(crate) author: Option<Duration>,
    /// The limit of its output, in bytes.
    pub(crate) limit: usize,
    /// The setting for that limit.
    pub(crate) limit_setting: &'static str,
    /// The budget that its output is charged to.
    pub(crate) budget: &'a Arc<Budget>,
    /// The folder of its call, if it may ask questions.
    pub(crate) asks_in: Option<&'a CallFolder>,
    /// Its own sandbox, if it declares one.
    pub(crate) sandbox: Option<&'a Declaration>,
    /// The folders that `roots` in its sandbox stands for.
    pub(crate) opened_roots: &'a [PathBuf],
    /// The secrets that it needs.
    pub(crate) secrets: &'a Needs,
}

impl Script<'_> {
    /// Runs the script, and returns its outcome if it succeeded.
    pub(crate) async fn run(
        self,
        scripts: &Scripts,
        cancelled: impl Future<Output = ()>,
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        let what = self.what;
        let start = match trust::may_run(self.program, &self.paths.root) {
            Ok(start) => start,
            Err(source) => return Err(ScriptError::Distrusted { what, source }),
        };
        let settings = scripts.settings();
        let bounds = Bounds {
            time: time_limits::limit(settings, self.author, self.asked),
            time_setting: "`timeoutSecs` in the request or in its metadata, or MCPBASH_DEFAULT_TOOL_TIMEOUT,",
            output: self.limit,
            output_setting: self.limit_setting,
        };
        let mut environment = self.environment;
        let surroundings = &scripts.surroundings;
        surroundings.give_secrets(|| what.clone(), self.secrets, self.paths, &mut environment).await?;
        let process = Process {
            start,
            words: Vec::new(),
            directory: &self.paths.root,
            environment,
            input: Input::Bytes(self.input.as_bytes()),
            limits: Limits {
                // The user may take as long to answer as the longest call may take.
                patience: TimeLimits { pause: settings.max_timeout, ..TimeLimits::fixed(bounds.time) },
                output: bounds.output,
                error_tail: settings.stderr_tail,
                budget: self.budget,
            },
            grace: GRACE,
            talk: self.asks_in.map(|folder| Talk { folder, side_channel: &[], questions: Some(QUESTIONS) }),
            sandbox: Some(Confined {
                declaration: self.sandbox,
                roots: self.opened_roots,
                paths: self.paths,
                script: self.program,
            }),
        };
        let outcome = match scripts.surroundings.processes.run(process, cancelled, |_| {}, on_question).await
        {
            Ok(outcome) => outcome,
            Err(error) => {
                let source = StartFailure::explain(self.program, error);
                return Err(ScriptError::Start { what, source });
            }
        };
        match Failed::from_ending(outcome.ending, &bounds, || outcome.said()) {
            Ok(()) => Ok(outcome),
            Err(how) => {
                let problem = outcome.exit_code().and_then(|code| interpreter_problem(self.program, code));
                Err(match problem {
                    Some(source) => ScriptError::Start { what, source },
                    None => ScriptError::Failed { what, how },
                })
            }
        }
    }
}
