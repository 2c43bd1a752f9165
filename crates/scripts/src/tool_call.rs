//! A tool call as a value: what is called, by whom, and under which limits.

use crate::argv::{self, Mapped};
use crate::error::ScriptError;
use crate::fresh_process::{self, Rendered};
use crate::outcome::Outcome;
use crate::policy::{AllowedTool, Way};
use crate::process::{Limits, Process};
use crate::scripts::Scripts;
use crate::start_failure::StartFailure;
use crate::workers::{Request, WorkerCall};
use crate::{ScriptRoots, TraceVariables, patience};
use mcp_bash_budget::{Budget, Charge, NoRoom, SMALL};
use mcp_bash_project::{Paths, Tool, Worker, WorkingFolder};
use mcp_bash_runner::{Question, StartError, Talk};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a tool may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(1);

/// How a tool finds out where to tell of its progress and where to log.
const SIDE_CHANNEL: &[&str] = &["MCP_PROGRESS_STREAM", "MCP_LOG_STREAM"];

/// How a script finds out where to ask.
pub(crate) const QUESTIONS: [&str; 4] =
    ["MCP_ASK_SOCKET", "MCP_ASK_KEY", "MCP_ELICIT_REQUEST_FILE", "MCP_ELICIT_RESPONSE_FILE"];

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ToolCall<'a> {
    pub tool: AllowedTool<'a>,
    /// The text of a JSON object.
    pub arguments: &'a str,
    /// Who calls.
    pub caller: &'a str,
    /// What the caller says besides: the text of a JSON object.
    pub meta: &'a str,
    /// The trace that the call is a part of.
    pub trace: &'a TraceVariables,
    /// What progress is told under; empty where nobody wants to hear of it.
    pub progress_token: &'a str,
    pub roots: &'a ScriptRoots,
    /// Whether the client has roots of its own that it tells only when it is asked.
    pub has_unasked_roots: bool,
    /// Whether the caller can be asked anything.
    pub may_ask: bool,
    /// Whether its user can be asked.
    pub may_elicit: bool,
    /// Whether anybody wants to hear what the tool says while it runs.
    pub is_heard: bool,
    pub limits: Limits<'a>,
}

impl<'a> ToolCall<'a> {
    fn for_worker(&self, worker: &'a Worker) -> WorkerCall<'a> {
        let tool = self.tool.tool;
        WorkerCall {
            what: format!("Tool '{}'", tool.name),
            worker,
            script: &tool.script,
            variables: &tool.options.variables,
            paths: self.tool.paths,
            request: Request::Tool { name: &tool.name, arguments: self.arguments },
            caller: self.caller,
            meta: self.meta,
            trace: self.trace,
            roots: self.roots,
            has_unasked_roots: self.has_unasked_roots,
            wants_progress: !self.progress_token.is_empty(),
            may_ask: self.may_ask,
            may_elicit: self.may_elicit,
            limits: self.limits,
        }
    }
}

impl Scripts {
    /// The limits of a call whose caller lets it take so long.
    pub fn limits_of<'a>(&self, tool: &Tool, asked: Option<Duration>, budget: &'a Arc<Budget>) -> Limits<'a> {
        let settings = self.settings();
        Limits {
            patience: patience::of_tool(settings, &tool.options.timeouts, asked),
            output: settings.output_limit,
            error_tail: settings.stderr_tail,
            budget,
        }
    }

    /// Calls a tool. However it ends, that is an outcome. `on_line` gets what it says while it runs, and `on_question`
    /// what it asks.
    pub async fn call(
        &self,
        call: ToolCall<'_>,
        cancelled: impl Future<Output = ()>,
        on_line: impl FnMut(&[u8]),
        on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        let start = match &call.tool.way {
            Way::Process(start) => start.clone(),
            Way::Worker(worker) => {
                // Boxed, so that other calls are not as large.
                let call = call.for_worker(worker);
                return Box::pin(self.converse(call, cancelled, on_line, on_question)).await;
            }
        };
        let tool = call.tool.tool;
        let what = || format!("Tool '{}'", tool.name);
        let mapped = tool.execution.mapping().map(|mapping| argv::map(mapping, call.arguments));
        let unfit = |problems| ScriptError::unfit(&tool.name, problems);
        let mut mapped = mapped.transpose().map_err(unfit)?;
        let held = mapped.as_ref().map(|mapped| room_for(mapped, call.limits.budget)).transpose();
        let _held = held.map_err(|why| ScriptError::NoRoom { what: what(), why })?;
        let words = match &mut mapped {
            Some(mapped) => std::mem::take(&mut mapped.words),
            None => fresh_process::words(tool, call.arguments),
        };
        let common = self.environment_in_time(what, &call.limits, call.tool.paths).await?;
        let Rendered { mut variables, input, files } =
            fresh_process::render(self, &call, mapped.as_ref(), common)
                .map_err(|source| ScriptError::Arguments { what: what(), source })?;
        let logs = self.add_call_logs(tool, files.folder().path(), &mut variables);
        // Lines on it are signs of life, even where nobody wants to hear any of them.
        let is_heard = call.is_heard || call.limits.patience.most.is_some();
        let folder = working_folder(tool, call.tool.paths)?;
        let process = Process {
            start,
            words,
            directory: &folder,
            environment: variables,
            input,
            limits: call.limits,
            grace: GRACE,
            talk: Some(Talk {
                folder: files.folder(),
                side_channel: if is_heard { SIDE_CHANNEL } else { &[] },
                questions: call.may_ask.then_some(QUESTIONS),
            }),
        };
        let cancelled = async {
            cancelled.await;
            files.tell_of_cancellation();
        };
        let outcome = self.run(process, cancelled, on_line, on_question).await;
        let outcome = outcome.map_err(|error| match &mapped {
            Some(_) if is_too_long(&error) => unfit(vec![argv::too_long_in_all()]),
            _ => ScriptError::Start { what: what(), source: StartFailure::explain(&tool.script, error) },
        })?;
        Ok(outcome.with_files(files).with_last_command(logs.last_command()))
    }
}

/// Room for what a tool is given on standard input, where that is much.
fn room_for(mapped: &Mapped, budget: &Arc<Budget>) -> Result<Option<Charge>, NoRoom> {
    let bytes = mapped.input.as_ref().map_or(0, String::len);
    (bytes > SMALL).then(|| budget.charge(bytes)).transpose()
}

/// Whether the system refused a command line for its length.
fn is_too_long(error: &StartError) -> bool {
    matches!(error, StartError::Spawn { source, .. } if source.kind() == ErrorKind::ArgumentListTooLong)
}

/// The folder that a tool runs in. The project is there in any case; another folder may not be.
fn working_folder(tool: &Tool, paths: &Paths) -> Result<PathBuf, ScriptError> {
    let folder = tool.options.working_folder.path(&tool.script, paths);
    if tool.options.working_folder != WorkingFolder::Project && !folder.is_dir() {
        return Err(ScriptError::NoFolder { tool: tool.name.clone(), folder });
    }
    Ok(folder)
}
