//! Memory release: returns free memory to the system after a burst of large messages.

use crate::Host;
use mcp_bash_budget::Budget;
use mcp_bash_server::spawn_lasting;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How long memory use must stay unchanged before free memory is returned: more large messages may be on their way.
const QUIET: Duration = Duration::from_secs(1);

/// Returns memory each time the use of `budget` was large and has settled, for as long as the runtime lives.
pub(crate) fn give_memory_back(runtime: &Handle, budget: &Arc<Budget>, host: Host) {
    let large = Arc::new(Notify::new());
    let notifier = Arc::clone(&large);
    budget.when_large(move || notifier.notify_one());
    let budget = Arc::clone(budget);
    spawn_lasting(runtime, "give_memory_back", move || watch(Arc::clone(&large), Arc::clone(&budget), host));
}

async fn watch(large: Arc<Notify>, budget: Arc<Budget>, host: Host) {
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
