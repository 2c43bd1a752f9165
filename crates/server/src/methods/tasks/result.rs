//! `tasks/result`: waits for a task to finish and answers with its result. Meanwhile its questions are sent to the client.

use super::{find, named, next_change, offered, post, with_related_task};
use crate::handling::Aside;
use crate::replies::Answer;
use crate::requests::Unanswered;
use mcp_bash_runner::on_own_thread;
use mcp_bash_tasks::{Failure, Note, Question, Status};
use mcp_bash_wire::{Limits, RpcError, Scanner, code};
use std::sync::Arc;

pub(in crate::methods) async fn result(request: Aside) -> Result<Answer, RpcError> {
    let deferred = offered(&request, "tasks/result")?;
    let mut changes = deferred.changes();
    let mut view = named(&request, &deferred).await?;
    let mut has_left = false;
    loop {
        match view.record.status {
            Status::Completed => break,
            Status::Failed => return Err(error_of(view.record.error)),
            Status::Cancelled => return Err(RpcError::internal("The task was cancelled")),
            Status::Working if has_left => return Err(shutting_down()),
            Status::Working => next_change(&mut changes).await,
            Status::InputRequired => {
                if let Some(question) = view.record.questions.first() {
                    let note = ask(&request, view.record.id.as_str(), question).await;
                    post(&deferred, &view, vec![note]).await?;
                }
            }
        }
        // Read first, so that the next lookup sees how this process has ended the task.
        has_left = deferred.has_left(&view.record.id);
        view = find(&request, &deferred, view.record.id.to_string()).await?;
    }
    let (tasks, id) = (Arc::clone(&deferred), view.record.id.to_string());
    let unreadable = || RpcError::internal("The result of the task cannot be read");
    let kept = on_own_thread(move || tasks.result(&view)).await.and_then(Result::ok).flatten();
    let kept = format!("{{{}}}", kept.ok_or_else(unreadable)?);
    let kept = Scanner::new(&kept, Limits::NONE).whole_value().map_err(|_| unreadable())?;
    Ok(Answer::members(with_related_task(kept, &id).into_text()))
}

/// The error at shutdown: another server continues the task, or knows its result.
fn shutting_down() -> RpcError {
    RpcError::with_reason(code::SHUTTING_DOWN, "Server shutting down", "ask for the result again")
}

fn error_of(failure: Option<Failure>) -> RpcError {
    match failure {
        Some(Failure { code, message, data }) => RpcError { data, ..RpcError::new(code, message) },
        None => RpcError::internal("The task failed"),
    }
}

/// Asks the client a question of the task on the stream of this request.
async fn ask(request: &Aside, id: &str, question: &Question) -> Note {
    let key = question.key.clone();
    let Some(session) = request.client.session() else {
        return Note::NoAnswer { key, reason: "the request has no session".to_owned() };
    };
    let params = Scanner::new(&question.params, Limits::NONE).whole_value();
    let params = params.map(|params| with_related_task(params, id).object());
    let params = params.unwrap_or_else(|_| "{}".to_owned());
    let patience = request.server().parking().timeout();
    let stream = &**request.in_flight.request();
    match session.questions.ask(stream, &question.method, &params, patience).await {
        Ok(answer) => Note::Answer { key, answer: answer.as_raw().text().to_owned() },
        Err(Unanswered::Refused(reason)) => Note::NoAnswer { key, reason },
        Err(why) => Note::NoAnswer { key, reason: why.to_string() },
    }
}
