//! Upkeep of a long-running server: it keeps its own temporary files from being removed, and removes those of servers that
//! were killed.

use mcp_bash_scripts::Scripts;
use mcp_bash_server::spawn_lasting;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{MissedTickBehavior, interval};

/// How often the private folder is touched. Cleaners remove files that were not used for days.
const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Touches the private folder every hour, for as long as the runtime lives.
pub(crate) fn keep_private_folder(scripts: &Arc<Scripts>, runtime: &Handle) {
    let scripts = Arc::clone(scripts);
    spawn_lasting(runtime, "upkeep", move || refresh(Arc::clone(&scripts)));
}

async fn refresh(scripts: Arc<Scripts>) {
    let mut hours = interval(INTERVAL);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is immediate.
    hours.tick().await;
    loop {
        hours.tick().await;
        let scripts = Arc::clone(&scripts);
        // Without a thread to spare it is done an hour later.
        let _ = Builder::new().name("upkeep".into()).spawn(move || scripts.refresh_private_folder());
    }
}
