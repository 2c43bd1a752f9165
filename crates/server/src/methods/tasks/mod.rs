//! `tasks/…`: calls that outlive their requests. In the stateless era they are an extension that each request declares; in the
//! handshake era they are part of one revision.

mod list;
mod result;

pub(super) use list::list;
pub(super) use result::result;

use crate::deferred::{Deferred, View};
use crate::handling::Aside;
use crate::replies::{Answer, Members};
use crate::requests::is_answer;
use mcp_bash_runner::on_own_thread;
use mcp_bash_tasks::{Note, Status, StoreError};
use mcp_bash_wire::{Object, Raw, RpcError, Scanner, keys};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long to wait until the process that runs a task has recorded its cancellation.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// The interval between checks of tasks in other processes.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The tasks of the server, if it offers them and the request may use them.
fn offered(request: &Aside, method: &str) -> Result<Arc<Deferred>, RpcError> {
    let revision = request.context.revision;
    let is_known = revision.has_task_extension() || revision.has_requested_tasks();
    let deferred = request.server().tasks_offered().filter(|_| is_known);
    let deferred = deferred.ok_or_else(|| RpcError::method_not_found(method))?;
    if revision.has_task_extension() && !request.context.capabilities.tasks {
        return Err(undeclared());
    }
    Ok(Arc::clone(deferred))
}

/// The error for a request whose client does not declare tasks.
pub(crate) fn undeclared() -> RpcError {
    let capabilities = json!({ "extensions": { keys::TASKS_EXTENSION: {} } });
    let message =
        "This needs a client that declares the extension io.modelcontextprotocol/tasks in its request";
    RpcError { message: message.into(), ..RpcError::missing_client_capability(&capabilities) }
}

/// The task in the params. Tasks of other callers are reported as unknown.
async fn named(request: &Aside, deferred: &Arc<Deferred>) -> Result<View, RpcError> {
    let missing = || RpcError::invalid_params("Invalid params: `taskId` is missing");
    let params = request.params().ok_or_else(missing)?;
    let id = Object::read(params, "params", &["taskId"])?.string("taskId")?.into_owned();
    find(request, deferred, id).await
}

async fn find(request: &Aside, deferred: &Arc<Deferred>, id: String) -> Result<View, RpcError> {
    let (deferred, principal) = (Arc::clone(deferred), Arc::clone(&request.context.principal));
    let found = on_own_thread(move || deferred.find(&id, &principal)).await.unwrap_or(Ok(None));
    let found = found.map_err(|_| {
        RpcError::internal(
            "The task cannot be looked up now, since the task store does not answer; try again later",
        )
    })?;
    found.ok_or_else(|| {
        RpcError::invalid_params("Invalid params: there is no task with this `taskId`, or it has expired")
    })
}

/// Posts notes to the process that runs a task.
async fn post(deferred: &Arc<Deferred>, view: &View, notes: Vec<Note>) -> Result<(), RpcError> {
    let (deferred, id) = (Arc::clone(deferred), view.record.id.clone());
    let posted = on_own_thread(move || deferred.post(&id, &notes)).await;
    posted.unwrap_or(Ok(())).map_err(|error| match error {
        error @ StoreError::TooManyNotes { .. } => RpcError::internal(error.to_string()),
        _ => RpcError::internal("The task store cannot be written; the server's log may say why"),
    })
}

/// Waits for a change of any task of this process, or until the next check.
async fn next_change(changes: &mut tokio::sync::watch::Receiver<u64>) {
    let _ = timeout(CHECK_INTERVAL, changes.changed()).await;
}

/// `tasks/get`: the state of a task.
pub(super) async fn get(request: Aside) -> Result<Answer, RpcError> {
    let deferred = offered(&request, "tasks/get")?;
    let view = named(&request, &deferred).await?;
    let revision = request.context.revision;
    if !revision.has_task_extension() {
        return Ok(Answer::members(view.members(revision).into_text()));
    }
    let unreadable = || RpcError::internal("The result of the task cannot be read");
    on_own_thread(move || {
        let result = deferred.result(&view).map_err(|_| unreadable())?;
        Ok(Answer::members(view.detailed(revision, result.as_deref()).into_text()))
    })
    .await
    .unwrap_or_else(|| Err(unreadable()))
}

/// `tasks/update`: answers questions of a task. Answers to questions that it does not ask are ignored.
pub(super) async fn update(request: Aside) -> Result<Answer, RpcError> {
    let deferred = offered(&request, "tasks/update")?;
    let view = named(&request, &deferred).await?;
    let params =
        request.params().map(|params| Object::read(params, "params", &["inputResponses"])).transpose()?;
    let responses = params.map(|params| params.optional_object("inputResponses")).transpose()?.flatten();
    let missing = || RpcError::invalid_params("Invalid params: `inputResponses` is missing");
    let responses = responses.ok_or_else(missing)?;
    let mut notes: Vec<Note> = Vec::new();
    // Scanned before, so this cannot fail.
    let _ = Scanner::again(responses).members(|key, answer| {
        let Some(key) = key.string() else { return };
        let is_new = |note: &Note| !matches!(note, Note::Answer { key: known, .. } if **known == *key);
        let question = view.record.questions.iter().find(|question| question.key == key);
        if question.is_some_and(|question| is_answer(&question.method, answer)) && notes.iter().all(is_new) {
            notes.push(Note::Answer { key: key.into_owned(), answer: answer.text().to_owned() });
        }
    });
    if !notes.is_empty() {
        post(&deferred, &view, notes).await?;
    }
    Ok(Answer::default())
}

/// `tasks/cancel`: cancels a task, whichever process runs it.
pub(super) async fn cancel(request: Aside) -> Result<Answer, RpcError> {
    let deferred = offered(&request, "tasks/cancel")?;
    let revision = request.context.revision;
    let mut changes = deferred.changes();
    let mut view = named(&request, &deferred).await?;
    if view.record.status.is_final() {
        if revision.has_task_extension() {
            return Ok(Answer::default());
        }
        let status = view.record.status.word();
        let message = format!("Invalid params: the task cannot be cancelled, since it is {status}");
        return Err(RpcError::invalid_params(message));
    }
    post(&deferred, &view, vec![Note::Cancel]).await?;
    if revision.has_task_extension() {
        return Ok(Answer::default());
    }
    let waited = timeout(CANCEL_TIMEOUT, async {
        while !view.record.status.is_final() {
            next_change(&mut changes).await;
            view = find(&request, &deferred, view.record.id.to_string()).await?;
        }
        Ok(())
    });
    waited.await.unwrap_or_else(|_| Err(RpcError::internal("The task was not cancelled in time")))?;
    if view.record.status != Status::Cancelled {
        let status = view.record.status.word();
        return Err(RpcError::invalid_params(format!("Invalid params: the task is {status} by now")));
    }
    Ok(Answer::members(view.members(revision).into_text()))
}

/// The members of an object, with the related task in `_meta`.
fn with_related_task(object: Raw<'_>, id: &str) -> Members {
    let meta = Object::read(object, "object", &["_meta"]).ok().and_then(|object| object.get("_meta"));
    let mut members = Members::default();
    members.splice_object(object, &["_meta"]);
    let mut own = Members::default();
    if let Some(meta) = meta.filter(|meta| meta.is_object()) {
        own.splice_object(meta, &[keys::RELATED_TASK]);
    }
    own.raw(keys::RELATED_TASK, &format!("{{\"taskId\":\"{id}\"}}"));
    members.raw("_meta", &own.object());
    members
}
