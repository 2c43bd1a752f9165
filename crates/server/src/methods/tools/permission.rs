//! Permission to call a tool: the rights of the caller, the policy of the project, the consent of the user.

use super::failures;
use crate::callers::{Rights, rights, scopes};
use crate::handling::{Consent, Work, filled};
use crate::offered::{Policed, PolicyRefusal, Ruling, Snapshot};
use crate::replies::Answer;
use crate::requests::Subject;
use mcp_bash_audit::Reason;
use mcp_bash_policy::Redactions;
use mcp_bash_project::{Confirm, Paths, Tool};
use mcp_bash_scripts::{AllowedTool, ScriptError, ScriptRoots};
use mcp_bash_wire::RpcError;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Rejects a call that its caller may not make. The tool may have been loaded or changed since the request arrived.
pub(super) fn check_rights(work: &Work, name: &str, tool: Option<&Tool>) -> Result<(), RpcError> {
    check(work, work.principal().rights.as_ref(), name, tool)
}

fn check(work: &Work, rights: Option<&Arc<Rights>>, name: &str, tool: Option<&Tool>) -> Result<(), RpcError> {
    // A tool that does not exist is refused like one that writes, so the refusal does not reveal whether it exists.
    let is_read_only = tool.is_some_and(Tool::is_read_only);
    let why = rights.and_then(|rights| rights.hindrance(name, Some(is_read_only)));
    let Some(why) = why else { return Ok(()) };
    work.measure(|measured| measured.refused(Reason::Rights));
    Err(rights::refusal(work.caller().name(), name, &why))
}

/// Checks that the token of the caller has the scopes of the tool.
pub(super) fn check_scopes(work: &Work, tool: &Tool) -> Result<(), RpcError> {
    let checked = scopes::check(&work.principal().identity, tool);
    checked.inspect_err(|_| work.measure(|measured| measured.refused(Reason::Scopes)))
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

/// The outcome of policy and consent.
pub(super) struct Permission {
    /// The redactions for the result.
    pub(super) redactions: Redactions,
    /// Whether the client was asked meanwhile, so that earlier permissions may be outdated.
    pub(super) has_waited: bool,
}

/// Asks the policy of the project, and then the user, if the policy or the tool requires consent. Returns the response to the
/// call if it may not run. `has_waited` tells whether the client was asked before.
pub(super) async fn ask(
    work: &Work,
    snapshot: &Snapshot,
    tool: &Tool,
    arguments: &str,
    roots: &ScriptRoots,
    subject: Subject,
    has_waited: bool,
) -> Result<Permission, Box<Result<Answer, RpcError>>> {
    let ruling = work.rule_on(snapshot, &Policed::Tool { tool, arguments, roots });
    let Ruling { mut redactions, question, .. } = ruling.map_err(|refusal| Box::new(refused(refusal)))?;
    let mut asked = None;
    if question.is_some() || tool.needs_consent(snapshot.catalog.identity.confirm) {
        let consent = ask_for_consent(work, tool, arguments, question.clone(), subject).await;
        consent.map_err(|answer| Box::new(Ok(answer)))?;
        asked = Some(Asked { of_policy: question });
    }
    let has_waited = has_waited || asked.is_some();
    if has_waited {
        redactions.extend(allowed_still(work, tool, arguments, roots, asked.as_ref())?);
    }
    Ok(Permission { redactions, has_waited })
}

/// The consent of the user.
struct Asked {
    /// The question of the policy, if there was one.
    of_policy: Option<String>,
}

/// Checks again what may have changed while the client was asked: the rights of the caller, the tool and the policy. Returns
/// the current redactions of the policy.
fn allowed_still(
    work: &Work,
    tool: &Tool,
    arguments: &str,
    roots: &ScriptRoots,
    asked: Option<&Asked>,
) -> Result<Redactions, Box<Result<Answer, RpcError>>> {
    let rights = work.server().rights_now(work.principal());
    check(work, rights.as_ref(), &tool.name, Some(tool)).map_err(|error| Box::new(Err(error)))?;
    let snapshot = work.server().snapshot();
    let changed = || {
        work.measure(|measured| measured.refused(Reason::Changed));
        Box::new(Ok(failures::failure(&format!(
            "'{}' was not run: it or the policy changed while the user was asked; call it again",
            tool.name
        ))))
    };
    let Some((now, _)) =
        snapshot.tool(&tool.name).filter(|(now, _)| now.registry_text() == tool.registry_text())
    else {
        return Err(changed());
    };
    let ruling = work.rule_on(&snapshot, &Policed::Tool { tool: now, arguments, roots });
    let Ruling { redactions, question, .. } = ruling.map_err(|refusal| Box::new(refused(refusal)))?;
    // The user may have agreed to a different question, or to none.
    let is_agreed_to = match asked {
        Some(asked) => question.is_none() || question == asked.of_policy,
        None => question.is_none() && !now.needs_consent(snapshot.catalog.identity.confirm),
    };
    if is_agreed_to { Ok(redactions) } else { Err(changed()) }
}

/// The response to a call that the policy refuses. A model reads a result, and can try something else.
fn refused(refusal: PolicyRefusal) -> Result<Answer, RpcError> {
    if refusal.is_about_the_call() {
        return Ok(failures::failure(&refusal.to_string()));
    }
    Err(refusal.into())
}

/// Asks for the consent that the tool or the policy requires, with the question of the policy if it has one. Without consent,
/// returns the response to the call.
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
