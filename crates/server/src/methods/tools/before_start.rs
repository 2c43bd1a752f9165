//! Before the start of a tool: the client's roots, the policy, and the user's consent. The client may take long to answer, so
//! all permissions are checked again after it was asked.

use super::permission::{self, Permission};
use crate::handling::{Resumable, Work};
use crate::methods::questions;
use crate::offered::Snapshot;
use crate::replies::Answer;
use mcp_bash_policy::Redactions;
use mcp_bash_project::{ClientCapability, Tool};
use mcp_bash_scripts::{AllowedTool, ScriptError, ScriptRoots};
use mcp_bash_wire::RpcError;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// A call with valid arguments.
pub(super) struct Prepared<'a> {
    pub(super) work: &'a Work,
    pub(super) snapshot: &'a Snapshot,
    pub(super) tool: &'a Tool,
    /// The arguments as the tool receives them.
    pub(super) arguments: &'a str,
    pub(super) resumable: Resumable,
    /// The time limit of the call.
    pub(super) limit: Duration,
}

/// A call that may start.
pub(super) struct Permitted<'a> {
    pub(super) tool: AllowedTool<'a>,
    pub(super) roots: Arc<ScriptRoots>,
    pub(super) redactions: Redactions,
}

/// Why a call does not start.
pub(super) enum Stopped {
    Answered(Box<Result<Answer, RpcError>>),
    NotRun(ScriptError),
}

impl<'a> Prepared<'a> {
    /// Gets everything that the tool needs to start. `allowed` is from the time when the call arrived.
    pub(super) async fn permit(&self, allowed: AllowedTool<'a>) -> Result<Permitted<'a>, Stopped> {
        let Self { work, snapshot, tool, arguments, resumable, limit } = *self;
        let mut has_waited = work.has_unasked_roots() && needs_roots_to_start(work, snapshot, tool);
        if has_waited {
            let asked = questions::ask_roots(work, resumable).await;
            asked.map_err(|error| Stopped::Answered(Box::new(Err(error))))?;
        }
        let (roots, were_awaited) = awaited(work.roots()).await;
        has_waited |= were_awaited;
        let permission =
            permission::ask(work, snapshot, tool, arguments, &roots, resumable.subject, has_waited).await;
        let Permission { redactions, has_waited } = permission.map_err(Stopped::Answered)?;
        if !has_waited {
            return Ok(Permitted { tool: allowed, roots, redactions });
        }
        let again = permission::allowed(work, tool, &snapshot.catalog.paths, limit).await;
        Ok(Permitted { tool: again.map_err(Stopped::NotRun)?, roots, redactions })
    }
}

/// The output of a future, and whether it had to wait.
async fn awaited<T>(future: impl Future<Output = T>) -> (T, bool) {
    let mut future = pin!(future);
    let at_once = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    match at_once {
        Poll::Ready(value) => (value, false),
        Poll::Pending => (future.await, true),
    }
}

/// Whether the client's roots must be known before the tool starts: the tool requires them, the policy checks them, or the
/// sandbox opens them. The sandbox opens no roots of callers other than the local user.
fn needs_roots_to_start(work: &Work, snapshot: &Snapshot, tool: &Tool) -> bool {
    let (options, scripts) = (&tool.options, work.server().scripts());
    let has_asked = || work.server().has_asked_for_roots(&tool.name) && scripts.opens_roots(tool);
    let seems_to = || snapshot.facts(tool).is_some_and(|facts| facts.uses_roots_in_sandbox(tool, scripts));
    options.needs_roots
        || snapshot.polices_roots()
        || options.required_capabilities.contains(&ClientCapability::Roots)
        || (work.principal().is_local() && (seems_to() || has_asked()))
}
