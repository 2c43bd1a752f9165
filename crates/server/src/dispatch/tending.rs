//! Tending tasks: removes those that have expired, and takes care of those that a dead server left, in the background.

use crate::deferred::Deferred;
use crate::sessions::Server;
use crate::tasks::spawn_lasting;
use mcp_bash_runner::on_own_thread;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::sleep;

/// When to look for the first time: no answer waits for it.
const FIRST: Duration = Duration::from_secs(1);

/// How long to wait between two parts of the folder, and when all of it was looked at.
const BETWEEN_PARTS: Duration = Duration::from_millis(200);
const BETWEEN_SWEEPS: Duration = Duration::from_secs(60);

/// How many files are looked at together.
const PART: usize = 500;

impl Server {
    /// Looks after the tasks of the project for as long as the runtime lives, if its tools can be tasks, and after a store that
    /// servers share. Tasks that may run again are run as the user who started this process if they are that user's own; those of
    /// other callers wait for their next request. A project without such tools and without a shared store has no tasks: nothing
    /// is begun, and no folder is looked for.
    pub fn tend_tasks(self: &Arc<Self>) {
        if !self.snapshot().has_tasks() && self.store().shared().is_none() {
            return;
        }
        let Some(deferred) = self.deferred() else {
            let advice = json!({ "advice": "set MCPBASH_STORE to a folder for them" });
            let words = "tasks are not offered: there is no home folder to keep them in";
            self.log().project_event(LogLevel::Warning, "mcp.tasks", words, &advice);
            return;
        };
        if deferred.is_tended_from_now_on() {
            let server = Arc::downgrade(self);
            spawn_lasting(self.runtime(), "tend_tasks", move || tend(Weak::clone(&server)));
            if let Some(database) = self.store().shared() {
                self.spawn(report_availability(Arc::downgrade(self), database.availability()));
            }
        }
    }

    /// What is tended: the tasks, if there can be any, or all that is in a shared store.
    fn tended(&self) -> Option<Arc<Deferred>> {
        let is_shared = self.store().shared().is_some();
        self.deferred().filter(|_| is_shared || self.snapshot().has_tasks()).cloned()
    }
}

/// Logs when the shared store is lost, and when it is back.
async fn report_availability(server: Weak<Server>, mut news: watch::Receiver<Option<String>>) {
    let mut was_lost = false;
    loop {
        let problem = news.borrow_and_update().clone();
        let Some(server) = server.upgrade() else { return };
        if let Some(problem) = &problem {
            let details = json!({ "error": problem });
            let words = "the shared store cannot be reached";
            server.log().project_event(LogLevel::Error, "mcp.store", words, &details);
        } else if was_lost {
            let words = "the shared store can be reached again";
            server.log().project_event(LogLevel::Notice, "mcp.store", words, &json!({}));
        }
        was_lost = problem.is_some();
        drop(server);
        if news.changed().await.is_err() {
            return;
        }
    }
}

async fn tend(server: Weak<Server>) {
    let mut pause = FIRST;
    loop {
        sleep(pause).await;
        let Some(server) = server.upgrade() else { return };
        pause = BETWEEN_SWEEPS;
        let Some(deferred) = server.tended() else { continue };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let swept = on_own_thread(move || {
            deferred.store().sweep(now, PART).inspect_err(|error| deferred.report(error))
        });
        let Some(Ok(swept)) = swept.await else { continue };
        if !swept.is_whole {
            pause = BETWEEN_PARTS;
        }
        let principal = server.local_principal();
        for id in swept.abandoned {
            server.settle_task(&principal, id).await;
        }
    }
}
