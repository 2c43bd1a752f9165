//! Tool execution: runs a call in a process of its own, or in a worker.

use crate::calls::argv::{self, Mapped};
use crate::calls::fresh_process::{self, Rendered};
use crate::calls::launching::{self, Launch};
use crate::calls::policy::Way;
use crate::calls::tool_call::ToolCall;
use crate::confining::confined::Confined;
use crate::running::error::{Failed, ScriptError};
use crate::running::outcome::Outcome;
use crate::running::process::{Limits, Process};
use crate::running::start_failure::StartFailure;
use crate::running::time_limits;
use crate::scripts::Scripts;
use mcp_bash_budget::{Budget, Charge, NoRoom, SMALL};
use mcp_bash_project::{Paths, Tool, WorkingFolder};
use mcp_bash_runner::{Question, StartError, Talk};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// The grace period of a tool after `TERM`.
const GRACE: Duration = Duration::from_secs(1);

/// The variables that name the side channel, for progress and for log messages.
const SIDE_CHANNEL: &[&str] = &["MCP_PROGRESS_STREAM", "MCP_LOG_STREAM"];

/// The variables that tell a script how to ask questions.
pub(crate) const QUESTIONS: [&str; 4] =
    ["MCP_ASK_SOCKET", "MCP_ASK_KEY", "MCP_ELICIT_REQUEST_FILE", "MCP_ELICIT_RESPONSE_FILE"];

impl Scripts {
    /// The limits of a call with this timeout from its caller.
    pub fn limits_of<'a>(&self, tool: &Tool, asked: Option<Duration>, budget: &'a Arc<Budget>) -> Limits<'a> {
        let settings = self.settings();
        Limits {
            patience: time_limits::of_tool(settings, &tool.options.timeouts, asked),
            output: settings.output_limit,
            error_tail: settings.stderr_tail,
            budget,
        }
    }

    /// Calls a tool. Any ending is an outcome. `on_line` receives the messages of the tool while it runs, and `on_question` its
    /// questions.
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
                // Boxed, to keep the futures of other calls small.
                let call = call.for_worker(worker);
                return Box::pin(self.workers.converse(call, cancelled, on_line, on_question)).await;
            }
        };
        let tool = call.tool.tool;
        let what = || format!("Tool '{}'", tool.name);
        // Boxed, to keep the futures of other calls small.
        let launcher = self.launcher_of(tool)?.map(Box::new);
        let mapped = tool.execution.mapping().map(|mapping| argv::map(mapping, call.arguments));
        let unfit = |problems| ScriptError::unfit(&tool.name, problems);
        let mut mapped = mapped.transpose().map_err(unfit)?;
        let held = mapped.as_ref().map(|mapped| room_for(mapped, call.limits.budget)).transpose();
        let _held = held.map_err(|why| ScriptError::NoRoom { what: what(), why })?;
        let words = match &mut mapped {
            Some(mapped) => std::mem::take(&mut mapped.words),
            None => fresh_process::words(tool, call.arguments),
        };
        let common = self.surroundings.environment_in_time(what, &call.limits, call.tool.paths).await?;
        let Rendered { mut variables, input, files } =
            fresh_process::render(self, &call, mapped.as_ref(), common)
                .map_err(|source| ScriptError::Arguments { what: what(), source })?;
        let mut cancelled = pin!(cancelled);
        let given =
            self.surroundings.give_secrets(what, &tool.options.secrets, call.tool.paths, &mut variables);
        tokio::select! {
            biased;
            given = given => given?,
            // Dropping the future kills the command of a secret that is running.
            () = &mut cancelled => {
                return Err(ScriptError::Failed { what: what(), how: Failed::Cancelled });
            }
        }
        let logs = self.surroundings.add_call_logs(tool, files.folder().path(), &mut variables);
        // Its lines extend its timeout, even if no client receives them.
        let is_heard = call.is_heard || call.limits.patience.most.is_some();
        let folder = working_folder(tool, call.tool.paths)?;
        let (start, words) = match &launcher {
            None => (start, words),
            Some(launcher) => {
                let own_variables = own_variables(mapped.as_ref());
                let call_folder = files.folder().path();
                let (start, words, folder) = (&start, &*words, &*folder);
                let launch = Launch { launcher, start, words, folder, call_folder, own_variables };
                (launch.bridge(&call, &mut variables)?, Vec::new())
            }
        };
        let sandbox = Confined {
            declaration: tool.options.sandbox.as_ref(),
            roots: call.opened_roots,
            paths: call.tool.paths,
            script: &tool.script,
        };
        let process = Process {
            start,
            words,
            directory: &folder,
            environment: variables,
            input,
            limits: call.limits,
            grace: if launcher.is_some() { launching::GRACE } else { GRACE },
            talk: Some(Talk {
                folder: files.folder(),
                side_channel: if is_heard { SIDE_CHANNEL } else { &[] },
                questions: call.may_ask.then_some(QUESTIONS),
            }),
            // The bridge is our own program.
            sandbox: launcher.is_none().then_some(sandbox),
        };
        let cancelled = async {
            cancelled.as_mut().await;
            files.signal_cancellation();
        };
        let outcome = self.surroundings.processes.run(process, cancelled, on_line, on_question).await;
        let outcome = outcome.map_err(|error| match &mapped {
            Some(_) if is_too_long(&error) => unfit(vec![argv::too_long_in_all()]),
            _ => ScriptError::Start { what: what(), source: StartFailure::explain(&tool.script, error) },
        })?;
        let outcome = match &launcher {
            Some(launcher) => launching::judged(outcome, launcher, tool, files.folder().path())?,
            None => outcome,
        };
        Ok(outcome.with_files(files).with_last_command(logs.last_command()))
    }
}

/// The variables in which a tool receives some of its arguments.
fn own_variables(mapped: Option<&Mapped>) -> Vec<String> {
    let variables = mapped.into_iter().flat_map(|mapped| &mapped.variables);
    variables.map(|(name, _)| name.clone()).collect()
}

/// Reserves memory for a tool's standard input, if that is large.
fn room_for(mapped: &Mapped, budget: &Arc<Budget>) -> Result<Option<Charge>, NoRoom> {
    let bytes = mapped.input.as_ref().map_or(0, String::len);
    (bytes > SMALL).then(|| budget.charge(bytes)).transpose()
}

/// Whether the system refused a command line because of its length.
fn is_too_long(error: &StartError) -> bool {
    matches!(error, StartError::Spawn { source, .. } if source.kind() == ErrorKind::ArgumentListTooLong)
}

/// The working directory of a tool. The project always exists; another folder may not.
fn working_folder(tool: &Tool, paths: &Paths) -> Result<PathBuf, ScriptError> {
    let folder = tool.options.working_folder.path(&tool.script, paths);
    if tool.options.working_folder != WorkingFolder::Project && !folder.is_dir() {
        return Err(ScriptError::NoFolder { tool: tool.name.clone(), folder });
    }
    Ok(folder)
}
