//! Followed tasks: sends each change of a task to a listening request, whichever process runs the task.

use super::server::Server;
use crate::callers::Principal;
use crate::deferred::{Deferred, View};
use crate::logging::Subscriber;
use mcp_bash_runner::on_own_thread;
use mcp_bash_tasks::{StoreError, TaskId, TaskRecord};
use mcp_bash_wire::Revision;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The interval between checks of tasks in other processes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The interval between checks for tasks whose server has died.
const SETTLE_INTERVAL: Duration = Duration::from_secs(5);

pub(super) struct FollowedTasks {
    server: Arc<Server>,
    deferred: Option<Arc<Deferred>>,
    principal: Arc<Principal>,
    tasks: Vec<Followed>,
}

struct Followed {
    id: String,
    /// The record that was last sent to the client.
    sent: Option<TaskRecord>,
}

impl FollowedTasks {
    /// Follows those of the ids that are tasks of this caller.
    pub(super) async fn of(server: &Arc<Server>, principal: &Arc<Principal>, mut ids: Vec<String>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        let deferred = server.tasks_offered().cloned();
        let (server, principal) = (Arc::clone(server), Arc::clone(principal));
        let mut followed = Self { server, deferred, principal, tasks: Vec::new() };
        for id in ids {
            if let Ok(Some(view)) = followed.look(&id).await {
                // A finished task does not change any more, so it is sent immediately.
                let sent = Some(view.record).filter(|record| !record.status.is_final());
                followed.tasks.push(Followed { id, sent });
            }
        }
        followed
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.tasks.iter().map(|task| task.id.clone()).collect()
    }

    async fn look(&self, id: &str) -> Result<Option<View>, StoreError> {
        let Some(deferred) = self.deferred.clone() else { return Ok(None) };
        let (principal, id) = (Arc::clone(&self.principal), id.to_owned());
        on_own_thread(move || deferred.find(&id, &principal)).await.unwrap_or(Ok(None))
    }

    /// Sends every change, until all tasks have finished or the request has ended.
    pub(super) async fn follow(mut self, subscriber: &Subscriber, revision: Revision) {
        let Some(deferred) = self.deferred.clone() else { return };
        let mut changes = deferred.changes();
        let mut last_settled = Instant::now();
        while !self.tasks.is_empty() && !subscriber.is_closed() {
            let tasks = std::mem::take(&mut self.tasks);
            let is_time = last_settled.elapsed() >= SETTLE_INTERVAL;
            if is_time {
                last_settled = Instant::now();
            }
            for mut task in tasks {
                // Its client may never ask for it otherwise, and then no server would restart it.
                if is_time && let Some(id) = TaskId::parse(&task.id) {
                    self.server.settle_task(&self.principal, id).await;
                }
                let view = match self.look(&task.id).await {
                    Ok(Some(view)) => view,
                    // An expired task is not followed any more.
                    Ok(None) => continue,
                    Err(_) => {
                        self.tasks.push(task);
                        continue;
                    }
                };
                if task.sent.as_ref() != Some(&view.record) && self.send(subscriber, revision, &view).await {
                    task.sent = Some(view.record);
                }
                let has_ended = task.sent.as_ref().is_some_and(|record| record.status.is_final());
                if !has_ended {
                    self.tasks.push(task);
                }
            }
            let _ = timeout(CHECK_INTERVAL, changes.changed()).await;
        }
    }

    /// Sends the state of a task. False if the client is congested, so that it has to be sent later.
    async fn send(&self, subscriber: &Subscriber, revision: Revision, view: &View) -> bool {
        let Some(deferred) = self.deferred.clone() else { return false };
        let record = view.record.clone();
        let result = on_own_thread(move || deferred.result(&View { record })).await;
        let result = result.and_then(Result::ok).flatten();
        subscriber.tell_task(view.detailed(revision, result.as_deref()))
    }
}
