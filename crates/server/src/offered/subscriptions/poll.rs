//! Polling: reads resources again whose changes nothing reports.

use super::{ChangeSignal, Followed, Subscriptions};
use crate::tasks::spawn_lasting;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// The most concurrent reads.
const TOGETHER: usize = 4;

/// Starts to poll, unless polling is off or has already started.
pub(super) fn start(subscriptions: &Arc<Subscriptions>) {
    let Some(interval) = subscriptions.resources.settings().resources.poll_interval else { return };
    let mut state = subscriptions.state.lock();
    state.is_poll_wanted = true;
    if std::mem::replace(&mut state.is_polling, true) {
        return;
    }
    drop(state);
    let polled = Arc::clone(subscriptions);
    spawn_lasting(&subscriptions.runtime, "poll", move || poll(Arc::clone(&polled), interval));
}

async fn poll(subscriptions: Arc<Subscriptions>, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        let Some(due) = subscriptions.due() else { return };
        let mut reading = JoinSet::new();
        for uri in due {
            if reading.len() == TOGETHER {
                reading.join_next().await;
            }
            let subscriptions = Arc::clone(&subscriptions);
            reading.spawn(async move { subscriptions.reread(&uri).await });
        }
        while reading.join_next().await.is_some() {}
    }
}

impl Subscriptions {
    /// The resources to read now; `None` ends the polling.
    fn due(&self) -> Option<Vec<Arc<str>>> {
        let uris = {
            let mut state = self.state.lock();
            state.is_poll_wanted = false;
            state.table.uris()
        };
        let folders = self.folders.get().and_then(Option::as_ref);
        let (mut due, mut is_any) = (Vec::new(), false);
        // Locked for each resource separately, so that clients do not wait until all are checked.
        for uri in uris {
            let table = &mut self.state.lock().table;
            let Some(known) = table.get_mut(&uri).filter(|known| known.is_polled()) else { continue };
            is_any = true;
            let is_due = match &mut known.signal {
                ChangeSignal::File(file) => {
                    // Its folder may exist again.
                    folders.inspect(|folders| file.follow(folders));
                    file.looks_different()
                }
                _ => true,
            };
            if is_due {
                due.push(uri);
            }
        }
        let mut state = self.state.lock();
        state.is_polling = is_any || state.is_poll_wanted;
        state.is_polling.then_some(due)
    }
}

impl Followed {
    /// Whether nothing would report a change.
    pub(super) fn is_polled(&self) -> bool {
        match &self.signal {
            ChangeSignal::File(file) => !file.is_followed(),
            ChangeSignal::Fixed => false,
            ChangeSignal::Other => true,
        }
    }
}
