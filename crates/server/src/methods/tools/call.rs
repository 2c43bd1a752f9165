//! `tools/call`: turns the client's params into a finished process.

use super::record::Record;
use super::{failures, output, unknown};
use crate::callers::{rights, scopes};
use crate::handling::{Consent, Policed, PolicyRefusal, Resumable, Ruling, Work, filled};
use crate::logging::{Facts, Measured};
use crate::methods::asked_timeout::asked_timeout;
use crate::methods::{questions, required};
use crate::offered::{Schemas, Unfit};
use crate::replies::script_errors::told;
use crate::replies::{Answer, result_redaction};
use crate::requests::Subject;
use crate::requests::request_state::unknown_state;
use mcp_bash_budget::SMALL;
use mcp_bash_policy::Redactions;
use mcp_bash_project::{ClientCapability, Confirm, Paths, Tool};
use mcp_bash_scripts::{AllowedTool, Outcome, ScriptError, ScriptRoots, ToolCall};
use mcp_bash_wire::{LogLevel, Object, Raw, RpcError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The params of a call.
struct CallParams<'a> {
    name: String,
    /// The text of a JSON object.
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
    // A missing tool may be in a file that changed a moment ago or is being loaded; and an existing tool may be about
    // to change.
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
        work.measure(|measured| measured.refused("unknown_tool"));
        unknown::refusal(&snapshot.catalog, &params.name, &in_progress())
    };
    let found = snapshot.tool(&params.name);
    check_rights(work, &params.name, found.map(|(tool, _)| tool))?;
    let (tool, schemas) = found.ok_or_else(no_such_tool)?;
    scopes::check(&work.principal().identity, tool)?;
    required::check(work, &tool.options.required_capabilities)?;
    if work.is_replay() && !tool.options.may_run_again {
        return Err(unknown_state());
    }
    if let Some(responses) = params.responses {
        work.take_answers(responses);
    }
    let scripts = work.server().scripts();
    let limits = scripts.limits_of(tool, params.timeout, work.budget());
    let allowed = match allowed(work, tool, paths, limits.patience.limit).await {
        Ok(allowed) => allowed,
        Err(error) => return not_run(work, tool, params.arguments, error),
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

    let subject = || Subject::new("tools/call", &params.name, params.arguments);
    let resumable = || Resumable { subject: subject(), may_run_again: tool.options.may_run_again };
    let roots = roots_for(work, tool, resumable).await;
    note_sandbox(work, tool);
    let policed = Policed::Tool { tool, arguments: &arguments, roots: &roots };
    let Ruling { redactions, question } = match work.rule_on(&snapshot, &policed) {
        Ok(ruling) => ruling,
        Err(refusal) => return refused(refusal),
    };
    let needs_consent = question.is_some() || tool.needs_consent(snapshot.catalog.identity.confirm);
    if needs_consent && let Err(refused) = ask_for_consent(work, tool, &arguments, question, subject()).await
    {
        return Ok(refused);
    }
    let session_state = work.session_state();
    let call = ToolCall {
        tool: allowed,
        arguments: &arguments,
        caller: work.identity().for_scripts(),
        meta: &work.meta(),
        session_state: session_state.as_deref(),
        trace: &work.trace(),
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
            |line| work.relay(line),
            |question| questions::attend(work, question, resumable()),
        )
        .await;
    let outcome = match outcome {
        Ok(outcome) => redacted(outcome, &redactions),
        Err(error) => return not_run(work, tool, params.arguments, error),
    };
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

/// Asks whether the tool may run, within the time limit of the call.
async fn allowed<'t>(
    work: &Work,
    tool: &'t Tool,
    paths: &'t Paths,
    limit: Duration,
) -> Result<AllowedTool<'t>, ScriptError> {
    let (scripts, caller) = (work.server().scripts(), work.identity().for_scripts());
    let asked = scripts.allow(tool, paths, caller, work.budget(), work.cancelled());
    let late = || ScriptError::NotStarted { what: format!("Tool '{}'", tool.name), limit };
    timeout(limit, asked).await.unwrap_or_else(|_| Err(late()))
}

/// The answer to a call that the policy refuses. A model reads a result, and can try something else.
fn refused(refusal: PolicyRefusal) -> Result<Answer, RpcError> {
    if refusal.is_about_the_call() {
        return Ok(failures::failure(&refusal.to_string()));
    }
    Err(refusal.into())
}

/// The outcome without what the policy of the project redacts.
fn redacted(mut outcome: Outcome, redactions: &Redactions<'_>) -> Outcome {
    if !redactions.is_empty() {
        outcome.stdout = result_redaction::output(&outcome.text(), redactions).into_bytes();
        outcome.stderr = redactions.patterns(&outcome.errors()).into_owned().into_bytes();
    }
    outcome
}

/// Refuses a call that its caller may not make. The tool may have been loaded or changed since the request arrived.
fn check_rights(work: &Work, name: &str, tool: Option<&Tool>) -> Result<(), RpcError> {
    let rights = work.principal().rights.as_ref();
    let Some(why) = rights.and_then(|rights| rights.hindrance(name, tool)) else { return Ok(()) };
    work.measure(|measured| measured.refused("rights"));
    Err(rights::refusal(work.caller().name(), name, &why))
}

/// The answer to a call whose arguments break the schema of the tool.
fn unfit(work: &Work, problems: &str) -> Answer {
    work.measure(Measured::had_wrong_arguments);
    failures::failure(problems)
}

/// The folders that the script may work in. A client without a session is asked for them if the tool needs to know them.
async fn roots_for(work: &Work, tool: &Tool, call: impl Fn() -> Resumable) -> Arc<ScriptRoots> {
    let reads_roots =
        tool.options.needs_roots || tool.options.required_capabilities.contains(&ClientCapability::Roots);
    if reads_roots && work.has_unasked_roots() {
        questions::ask_roots(work, call()).await;
    }
    work.roots().await
}

/// Notes for the audit log in which sandbox the tool runs.
fn note_sandbox(work: &Work, tool: &Tool) {
    let scripts = work.server().scripts();
    work.measure(|measured| {
        measured.note("sandbox", || Some(scripts.sandbox_words(tool.options.sandbox.as_ref())));
    });
}

/// Asks for the consent that a tool or the policy wants, with the question of the policy if it has one. Without consent, the
/// call is answered.
async fn ask_for_consent(
    work: &Work,
    tool: &Tool,
    arguments: &str,
    of_policy: Option<String>,
    subject: Subject,
) -> Result<(), Answer> {
    let of_tool = || match &tool.options.confirm {
        Some(Confirm::Question(question)) => Some(filled(&question.template, arguments)),
        _ => None,
    };
    let question = of_policy.or_else(of_tool);
    let consent = Consent { tool, arguments, question: question.as_deref(), subject };
    match work.confirm(&consent).await {
        Ok(_) => Ok(()),
        Err(why) => {
            work.server().note_refusal();
            Err(failures::not_confirmed(tool, &why, work.revision()))
        }
    }
}

/// The answer to a call for which nothing was run. A model sees a result, and can try something else.
fn not_run(work: &Work, tool: &Tool, arguments: &str, error: ScriptError) -> Result<Answer, RpcError> {
    if let ScriptError::NotStarted { limit, .. } = error {
        work.measure(Measured::timed_out);
        output::report_failure(work, Facts::of_tool(tool).is("timedOut"));
        return Ok(failures::not_started(&error.to_string(), limit, work.revision()));
    }
    let facts = Facts::of_tool(tool).script_error(&error);
    let problem = match error {
        ScriptError::Start { .. }
        | ScriptError::NoProgram { .. }
        | ScriptError::NoFolder { .. }
        | ScriptError::NoInterpreter { .. }
        | ScriptError::Worker { .. }
        | ScriptError::Unfit { .. } => error.to_string(),
        error => {
            if error.is_refusal() {
                work.server().note_refusal();
                work.measure(|measured| measured.refused("policy"));
            }
            let error = told(error);
            report_refusal(work, facts.number("code", error.code));
            return Err(error);
        }
    };
    output::report_failure(work, facts);
    Ok(failures::failure(&work.server().short_paths().text_but(&problem, arguments)))
}

/// Logs a call that was refused, for the operator.
fn report_refusal(work: &Work, facts: Facts) {
    work.server().log().request_event(LogLevel::Warning, "mcp.tools", "a call was refused", facts);
}

/// Logs, once for each tool, that it receives arguments which its metadata does not declare.
fn warn_of_unread_arguments(work: &Work, tool: &Tool, arguments: &str) {
    let is_unread = !tool.declares_arguments() && arguments.contains('"');
    if is_unread && work.server().is_first_unread(&tool.name) {
        let message = "arguments reach a tool that declares none; describe them in `inputSchema`, and in `argv` if the \
                       script takes them on its command line";
        work.server().log().request_event(LogLevel::Warning, "mcp.tools", message, Facts::of_tool(tool));
    }
}
