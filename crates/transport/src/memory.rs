//! Memory release: free memory goes back to the system after a burst of large messages.

use crate::Host;
use mcp_bash_budget::Budget;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How long nothing large comes or goes before what is free is given back: the next may be on its way.
const QUIET: Duration = Duration::from_secs(1);

/// Gives memory back whenever what was charged to `budget` was large and is not any more.
pub(crate) async fn give_memory_back(budget: Arc<Budget>, host: Host) {
    let large = Arc::new(Notify::new());
    let told = Arc::clone(&large);
    budget.when_large(move || told.notify_one());
    loop {
        large.notified().await;
        loop {
            let before = budget.used();
            sleep(QUIET).await;
            if budget.used() == before {
                break;
            }
        }
        budget.calm_down();
        (host.give_memory_back)();
    }
}
