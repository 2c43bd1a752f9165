//! `tools/call`: validates a call, runs its process and returns the result.

use super::before_start::{Permitted, Prepared, Stopped};
use super::record::Record;
use super::{denied_roots, failures, not_run, output, permission, unknown};
use crate::handling::{Resumable, Work};
use crate::logging::{Facts, Measured};
use crate::methods::asked_timeout::asked_timeout;
use crate::methods::{questions, required};
use crate::offered::{Schemas, Snapshot, Unfit};
use crate::replies::{Answer, result_redaction};
use crate::requests::Subject;
use mcp_bash_audit::Reason;
use mcp_bash_budget::SMALL;
use mcp_bash_policy::Redactions;
use mcp_bash_project::Tool;
use mcp_bash_scripts::{Outcome, ToolCall};
use mcp_bash_wire::{LogLevel, Object, Raw, RpcError};
use std::sync::Arc;
use std::time::Duration;

/// The params of a call.
struct CallParams<'a> {
    name: String,
    /// A JSON object.
    arguments: &'a str,
    timeout: Option<Duration>,
    /// Answers to questions that were not asked yet.
    responses: Option<Raw<'a>>,
}

impl<'a> CallParams<'a> {
    const MEMBERS: [&'static str; 4] = ["name", "arguments", "timeoutSecs", "inputResponses"];

    fn read(params: Option<Raw<'a>>) -> Result<Self, RpcError> {
        let missing = || RpcError::invalid_params("Invalid params: `name` is missing");
        let params = Object::read(params.ok_or_else(missing)?, "params", &Self::MEMBERS)?;
        Ok(Self {
            name: params.string("name")?.into_owned(),
            arguments: params.optional_object("arguments")?.map_or("{}", Raw::text),
            timeout: asked_timeout(&params)?,
            responses: params.get("inputResponses").filter(|responses| responses.is_object()),
        })
    }
}

pub(crate) async fn call(work: &Arc<Work>, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let params = CallParams::read(params)?;
    // A missing tool may be in a file that has just changed or is being loaded, and an existing tool may be about to change.
    let snapshot = work
        .snapshot_with(|snapshot, in_progress| {
            snapshot
                .tool(&params.name)
                .is_some_and(|(tool, _)| in_progress.iter().all(|asked| asked.file != tool.script))
        })
        .await;
    let paths = &snapshot.catalog.paths;
    snapshot.check_served()?;
    let in_progress = || work.server().served().files_in_progress();
    let no_such_tool = || {
        work.measure(|measured| measured.refused(Reason::UnknownTool));
        unknown::refusal(&snapshot.catalog, &params.name, &in_progress())
    };
    let found = snapshot.tool(&params.name);
    permission::check_rights(work, &params.name, found.map(|(tool, _)| tool))?;
    let (tool, schemas) = found.ok_or_else(no_such_tool)?;
    permission::check_scopes(work, tool)?;
    required::check(work, &tool.options.required_capabilities)?;
    if work.is_replay() && !tool.options.may_run_again {
        return Err(work.unresumable());
    }
    if let Some(responses) = params.responses {
        work.take_answers(responses);
    }
    let scripts = work.server().scripts();
    let limits = scripts.limits_of(tool, params.timeout, work.budget());
    let allowed = match permission::allowed(work, tool, paths, limits.patience.limit).await {
        Ok(allowed) => allowed,
        Err(error) => return not_run::answer(work, tool, params.arguments, error),
    };
    let cost = Schemas::cost_of(params.arguments);
    let checking = (cost > SMALL).then(|| work.budget().charge(cost)).transpose();
    let checking = checking.map_err(|why| RpcError::internal(format!("Server busy: {why}")))?;
    let arguments = match schemas.check_input(tool, params.arguments) {
        Ok(arguments) => arguments,
        Err(Unfit::Arguments(problems)) => return Ok(unfit(work, &problems)),
        Err(Unfit::Tool(error)) => return Err(error),
    };
    drop(checking);
    warn_of_unread_arguments(work, tool, &arguments);

    let subject = Subject::new("tools/call", &params.name, params.arguments);
    let resumable = Resumable { subject, may_run_again: tool.options.may_run_again };
    note_sandbox(work, &snapshot, tool);
    let limit = limits.patience.limit;
    let prepared = Prepared { work, snapshot: &snapshot, tool, arguments: &arguments, resumable, limit };
    let Permitted { tool: allowed, roots, redactions } = match prepared.permit(allowed).await {
        Ok(permitted) => permitted,
        Err(Stopped::Answered(answer)) => return *answer,
        Err(Stopped::NotRun(error)) => return not_run::answer(work, tool, params.arguments, error),
    };
    let (session_state, span) = (work.session_state(), work.script_span(&tool.script));
    let call = ToolCall {
        tool: allowed,
        arguments: &arguments,
        caller: work.identity().for_scripts(),
        meta: &work.meta(),
        session_state: session_state.as_deref(),
        trace: span.trace(),
        progress_token: &work.progress_token_text(),
        roots: &roots,
        opened_roots: work.opened_roots(&roots),
        has_unasked_roots: work.has_unasked_roots(),
        may_ask: work.can_be_asked(),
        may_elicit: work.capabilities().can_elicit(),
        is_heard: work.wants_notifications(),
        limits,
    };
    let outcome = scripts
        .call(
            call,
            work.cancelled(),
            |line| work.relay_redacted(line, &redactions),
            |question| questions::attend(work, question, resumable),
        )
        .await;
    span.end_script(&outcome);
    let mut outcome = match outcome {
        Ok(outcome) => redacted(outcome, &redactions),
        Err(error) => return not_run::answer(work, tool, params.arguments, error),
    };
    denied_roots::learn(work, tool, &roots, &mut outcome).await;
    let (outcome, arguments) = (&outcome, &*arguments);
    let answer = output::Finished {
        work,
        tool,
        schemas,
        outcome,
        patience: limits.patience,
        roots: &roots,
        arguments,
        redactions: &redactions,
    }
    .answer();
    Record { work, tool, outcome, arguments, roots: &roots }.keep(answer)
}

/// Applies the redactions of the policy to the output.
fn redacted(mut outcome: Outcome, redactions: &Redactions) -> Outcome {
    if !redactions.is_empty() {
        outcome.stdout = result_redaction::output(&outcome.text(), redactions).into_bytes();
        outcome.stderr = redactions.patterns(&outcome.errors()).into_owned().into_bytes();
        if let Some(denial) = &mut outcome.denial {
            denial.told = redactions.patterns(&denial.told).into_owned();
        }
    }
    outcome
}

/// The result for a call whose arguments break the schema of the tool.
fn unfit(work: &Work, problems: &str) -> Answer {
    work.measure(Measured::had_wrong_arguments);
    failures::failure(problems)
}

/// Adds the sandbox and the launcher of the tool to the audit record.
fn note_sandbox(work: &Work, snapshot: &Snapshot, tool: &Tool) {
    let scripts = work.server().scripts();
    work.measure(|measured| {
        measured.note("sandbox", || Some(snapshot.facts(tool)?.sandbox(tool, scripts)));
        measured
            .note("launcher", || scripts.launcher_of(tool).ok().flatten().map(|launcher| launcher.words()));
    });
}

/// Logs, once per tool, that it receives arguments which its metadata does not declare.
fn warn_of_unread_arguments(work: &Work, tool: &Tool, arguments: &str) {
    let is_unread = !tool.declares_arguments() && arguments.contains('"');
    if is_unread && work.server().is_first_unread(&tool.name) {
        let message = "arguments reach a tool that declares none; describe them in `inputSchema`, and in `argv` if the \
                       script takes them on its command line";
        work.server().log().request_event(LogLevel::Warning, "mcp.tools", message, Facts::of_tool(tool));
    }
}
