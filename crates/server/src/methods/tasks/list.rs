//! `tasks/list`: the tasks of a caller, in pages.

use super::offered;
use crate::handling::Aside;
use crate::replies::{Answer, Members};
use mcp_bash_runner::on_own_thread;
use mcp_bash_tasks::TaskId;
use mcp_bash_wire::{Object, RpcError};
use std::sync::Arc;

/// The most tasks of a page.
const PAGE: usize = 100;

pub(in crate::methods) async fn list(request: Aside) -> Result<Answer, RpcError> {
    let deferred = offered(&request, "tasks/list")?;
    let revision = request.context.revision;
    let params = request.params().map(|params| Object::read(params, "params", &["cursor"])).transpose()?;
    let cursor = params.map(|params| params.optional_string("cursor")).transpose()?.flatten();
    let wrong = || RpcError::invalid_params("Invalid cursor: leave it out to start over");
    // A cursor is the id of the last task of the previous page.
    let after = cursor.map(|cursor| TaskId::parse(&cursor).ok_or_else(wrong)).transpose()?;
    let principal = Arc::clone(&request.context.principal);
    let listed = on_own_thread(move || deferred.page(&principal, after.as_ref(), PAGE));
    let unreadable = || RpcError::internal("The task store cannot be read; the server's log may say why");
    let (page, next) = listed.await.ok_or_else(unreadable)?.map_err(|_| unreadable())?;
    let tasks: Vec<String> = page.iter().map(|view| view.members(revision).object()).collect();
    let mut result = Members::default();
    result.raw("tasks", &format!("[{}]", tasks.join(",")));
    result.string("nextCursor", next.as_ref().map(TaskId::as_str));
    Ok(Answer::members(result.into_text()))
}
