//! Permission to call a tool: rights of the caller, the policies of the project, the consent of a person.

use super::failures;
use crate::callers::rights;
use crate::handling::{Consent, Policed, PolicyRefusal, Ruling, Work, filled};
use crate::offered::Snapshot;
use crate::replies::Answer;
use crate::requests::Subject;
use mcp_bash_policy::Redactions;
use mcp_bash_project::{Confirm, Paths, Tool};
use mcp_bash_scripts::{AllowedTool, ScriptError, ScriptRoots};
use mcp_bash_wire::RpcError;
use std::time::Duration;
use tokio::time::timeout;

/// Refuses a call that its caller may not make. The tool may have been loaded or changed since the request arrived.
pub(super) fn check_rights(work: &Work, name: &str, tool: Option<&Tool>) -> Result<(), RpcError> {
    let rights = work.principal().rights.as_ref();
    // One that does not exist is refused like one that writes, which reveals nothing.
    let is_read_only = tool.is_some_and(Tool::is_read_only);
    let why = rights.and_then(|rights| rights.hindrance(name, Some(is_read_only)));
    let Some(why) = why else { return Ok(()) };
    work.measure(|measured| measured.refused("rights"));
    Err(rights::refusal(work.caller().name(), name, &why))
}

/// Asks whether the tool may run, within the time limit of the call.
pub(super) async fn allowed<'t>(
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

/// Asks the policy of the project, and then the person whose consent the policy or the tool wants. Returns what is redacted in
/// the result, or the answer to the call if it may not be made.
pub(super) async fn ask<'s>(
    work: &Work,
    snapshot: &'s Snapshot,
    tool: &Tool,
    arguments: &str,
    roots: &ScriptRoots,
    subject: Subject,
) -> Result<Redactions<'s>, Box<Result<Answer, RpcError>>> {
    let ruling = work.rule_on(snapshot, &Policed::Tool { tool, arguments, roots });
    let Ruling { redactions, question } = ruling.map_err(|refusal| Box::new(refused(refusal)))?;
    if question.is_some() || tool.needs_consent(snapshot.catalog.identity.confirm) {
        let consent = ask_for_consent(work, tool, arguments, question, subject).await;
        consent.map_err(|answer| Box::new(Ok(answer)))?;
    }
    Ok(redactions)
}

/// The answer to a call that the policy refuses. A model reads a result, and can try something else.
fn refused(refusal: PolicyRefusal) -> Result<Answer, RpcError> {
    if refusal.is_about_the_call() {
        return Ok(failures::failure(&refusal.to_string()));
    }
    Err(refusal.into())
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
