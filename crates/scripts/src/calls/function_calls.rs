//! Function calls: prompts and resources that functions return.

use crate::ScriptRoots;
use crate::TraceVariables;
use crate::calls::prompt::PromptCall;
use crate::calls::resource_provider::as_json;
use crate::running::error::{Bounds, Failed, ScriptError};
use crate::running::outcome::AnswerKind;
use crate::running::outcome::Outcome;
use crate::running::process::Limits;
use crate::running::time_limits;
use crate::scripts::Scripts;
use crate::surroundings::called_by::CalledBy;
use crate::workers::{Request, WorkerCall};
use mcp_bash_budget::Budget;
use mcp_bash_project::{Paths, ServedBy};
use mcp_bash_runner::{Question, TimeLimits};
use mcp_bash_uri::Values;
use serde_json::Value;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A request to read a URI that a function serves.
pub struct FunctionRead<'a> {
    pub function: &'a ServedBy,
    /// The name of the resource, or of the template that matched the URI.
    pub name: &'a str,
    pub uri: &'a str,
    /// The variables of the template.
    pub variables: &'a Values,
    pub paths: &'a Paths,
    /// The caller.
    pub caller: CalledBy<'a>,
    /// The timeout that the client asks for, as in `ResourceRead`.
    pub asked: Option<Duration>,
    /// The budget that its answer is charged to.
    pub budget: &'a Arc<Budget>,
}

impl Scripts {
    /// The function's answer for a URI: the text of a `ReadResourceResult`. Dropping the future cancels it. Boxed, to keep
    /// the futures of other reads small.
    pub fn read_by_function<'a>(
        &'a self,
        read: FunctionRead<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Outcome, ScriptError>> + Send + 'a>> {
        Box::pin(self.ask_for_resource(read))
    }

    async fn ask_for_resource(&self, read: FunctionRead<'_>) -> Result<Outcome, ScriptError> {
        let settings = self.settings();
        let bounds = Bounds {
            time: time_limits::of_resource(settings, read.asked),
            time_setting: "MCPBASH_DEFAULT_TOOL_TIMEOUT",
            output: settings.resources.max_bytes,
            output_setting: "MCPBASH_MAX_RESOURCE_BYTES",
        };
        let variables = Value::from(as_json(read.variables)).to_string();
        let call = Asked {
            what: format!("Resource '{}'", read.name),
            function: read.function,
            paths: read.paths,
            request: Request::Resource { uri: read.uri, name: read.name, variables: &variables },
            caller: read.caller,
            trace: &TraceVariables::default(),
            // No roots: the text is kept for all readers, and compared for subscribers.
            roots: &ScriptRoots::new(&[]),
            opened_roots: &[],
            asks: Asks::default(),
            patience: TimeLimits::fixed(bounds.time),
            bounds,
            budget: read.budget,
        };
        call.put(self, std::future::pending(), drop).await
    }

    /// The function's answer for a prompt: the text of a `GetPromptResult`. `on_question` receives its questions.
    pub(crate) async fn prompt_by_function(
        &self,
        call: PromptCall<'_>,
        function: &ServedBy,
        cancelled: impl Future<Output = ()>,
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        let settings = self.settings();
        let bounds = Bounds {
            time: time_limits::limit(settings, call.prompt.timeout, call.asked),
            time_setting: "`timeoutSecs` in the request or of its function, or MCPBASH_DEFAULT_TOOL_TIMEOUT,",
            output: settings.prompt_limit,
            output_setting: "MCPBASH_MAX_PROMPT_BYTES",
        };
        let asked = Asked {
            what: format!("Prompt '{}'", call.prompt.name),
            function,
            paths: call.paths,
            request: Request::Prompt { name: &call.prompt.name, arguments: call.arguments },
            caller: call.caller,
            trace: call.trace,
            roots: call.roots,
            opened_roots: call.opened_roots,
            asks: Asks { anything: call.may_ask, its_user: call.may_elicit },
            // The user may take as long to answer as the longest call may take.
            patience: TimeLimits { pause: settings.max_timeout, ..TimeLimits::fixed(bounds.time) },
            bounds,
            budget: call.budget,
        };
        asked.put(self, cancelled, on_question).await
    }
}

/// Which questions a function may ask.
#[derive(Default)]
struct Asks {
    anything: bool,
    its_user: bool,
}

/// A request to a function that is not a tool call.
struct Asked<'a> {
    what: String,
    function: &'a ServedBy,
    paths: &'a Paths,
    request: Request<'a>,
    caller: CalledBy<'a>,
    trace: &'a TraceVariables,
    roots: &'a ScriptRoots,
    opened_roots: &'a [PathBuf],
    asks: Asks,
    patience: TimeLimits,
    bounds: Bounds,
    budget: &'a Arc<Budget>,
}

impl Asked<'_> {
    /// Sends the request, and returns the result.
    async fn put(
        self,
        scripts: &Scripts,
        cancelled: impl Future<Output = ()>,
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        let worker = &self.function.worker;
        let call = WorkerCall {
            what: self.what.clone(),
            worker,
            script: &self.function.file,
            variables: &worker.options.env,
            sandbox: self.function.sandbox.as_ref(),
            secrets: &self.function.secrets,
            paths: self.paths,
            request: self.request,
            caller: self.caller,
            meta: "{}",
            session_state: None,
            trace: self.trace,
            roots: self.roots,
            opened_roots: self.opened_roots,
            has_unasked_roots: false,
            wants_progress: false,
            may_ask: self.asks.anything,
            may_elicit: self.asks.its_user,
            limits: Limits {
                patience: self.patience,
                output: self.bounds.output,
                error_tail: scripts.settings().stderr_tail,
                budget: self.budget,
            },
        };
        let outcome = scripts.workers.converse(call, cancelled, |_| {}, on_question).await?;
        let failed = Failed::from_ending(outcome.ending, &self.bounds, || outcome.said());
        failed.map_err(|how| ScriptError::Failed { what: self.what.clone(), how })?;
        if outcome.worker_answer == Some(AnswerKind::Error) {
            return Err(ScriptError::answered(&self.what, &outcome.text()));
        }
        if outcome.stdout.len() > self.bounds.output {
            let (limit, setting) = (self.bounds.output, self.bounds.output_setting);
            let how = Failed::OutputTooLarge { limit, setting };
            return Err(ScriptError::Failed { what: self.what, how });
        }
        Ok(outcome)
    }
}
