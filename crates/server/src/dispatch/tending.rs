//! Tending tasks: removes expired tasks and takes care of abandoned ones, in the background.

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

/// The delay before the first sweep. No response waits for it.
const FIRST: Duration = Duration::from_secs(1);

/// The pauses between two parts of a sweep, and between two sweeps.
const BETWEEN_PARTS: Duration = Duration::from_millis(200);
const BETWEEN_SWEEPS: Duration = Duration::from_secs(60);

/// The most files of one part.
const PART: usize = 500;

impl Server {
    /// Tends the project's tasks as long as the runtime lives, if its tools can be tasks or servers share a store. Abandoned
    /// tasks of the user who started this process are restarted, if they may run again; those of other callers wait for the
    /// next request of their caller. A project without such tools and without a shared store has no tasks: then nothing is
    /// started, and no folder is looked for.
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

    /// The tasks to tend, if there can be any.
    fn tended(&self) -> Option<Arc<Deferred>> {
        let is_shared = self.store().shared().is_some();
        self.deferred().filter(|_| is_shared || self.snapshot().has_tasks()).cloned()
    }
}

/// Logs when the shared store becomes unavailable, and when it is available again.
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
