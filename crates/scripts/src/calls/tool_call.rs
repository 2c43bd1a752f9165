//! Tool call as a value: the tool, its caller, and the limits.

use crate::calls::policy::AllowedTool;
use crate::running::process::Limits;
use crate::surroundings::called_by::CalledBy;
use crate::surroundings::script_roots::ScriptRoots;
use crate::surroundings::trace_variables::TraceVariables;
use crate::workers::{Request, WorkerCall};
use mcp_bash_project::Worker;
use std::path::PathBuf;

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ToolCall<'a> {
    pub tool: AllowedTool<'a>,
    /// The text of a JSON object.
    pub arguments: &'a str,
    /// The caller.
    pub caller: CalledBy<'a>,
    /// The caller's `_meta`: the text of a JSON object.
    pub meta: &'a str,
    /// The state of the caller's session, the text of a JSON object; `None` without a session.
    pub session_state: Option<&'a str>,
    /// The trace that the call is part of.
    pub trace: &'a TraceVariables,
    /// The token for progress notifications; empty if the client wants none.
    pub progress_token: &'a str,
    pub roots: &'a ScriptRoots,
    /// The folders that `roots` in a sandbox stands for.
    pub opened_roots: &'a [PathBuf],
    /// Whether the client has roots of its own that it was not asked for yet.
    pub has_unasked_roots: bool,
    /// Whether the caller can be asked anything.
    pub may_ask: bool,
    /// Whether its user can be asked.
    pub may_elicit: bool,
    /// Whether a client receives the tool's messages while it runs.
    pub is_heard: bool,
    pub limits: Limits<'a>,
}

impl<'a> ToolCall<'a> {
    pub(crate) fn for_worker(&self, worker: &'a Worker) -> WorkerCall<'a> {
        let tool = self.tool.tool;
        WorkerCall {
            what: format!("Tool '{}'", tool.name),
            worker,
            script: &tool.script,
            variables: &tool.options.variables,
            sandbox: tool.options.sandbox.as_ref(),
            secrets: &tool.options.secrets,
            paths: self.tool.paths,
            request: Request::Tool { name: &tool.name, arguments: self.arguments },
            caller: self.caller,
            meta: self.meta,
            session_state: self.session_state,
            trace: self.trace,
            roots: self.roots,
            opened_roots: self.opened_roots,
            has_unasked_roots: self.has_unasked_roots,
            wants_progress: !self.progress_token.is_empty(),
            may_ask: self.may_ask,
            may_elicit: self.may_elicit,
            limits: self.limits,
        }
    }
}
