//! Waiting task: a task that waits for its turn. Nothing of it runs; it can be cancelled, it expires, and another process may
//! start it if this one ends.

use super::keeper::{CHECK_INTERVAL, Desk, Ending};
use super::table::{failure, now_ms};
use mcp_bash_runner::on_own_thread;
use mcp_bash_tasks::StoreError;
use std::sync::Arc;
use tokio::time::{sleep, timeout};

/// Tasks with many before them check less often: each group of this many adds a second.
const EACH_SECOND: usize = 20;
const LONGEST_PAUSE: u32 = 30;

impl Desk {
    /// Waits until the task may start. Returns the params of its call, or how the task ended before.
    pub(super) async fn await_turn(&mut self) -> Result<String, Ending> {
        let Some(place) = self.deferred.wait(&self.record, &self.running) else {
            return Err(Ending::Unanswered);
        };
        let mut params = None;
        loop {
            if self.deferred.is_leaving() {
                return Err(Ending::Stopped);
            }
            if self.record.is_expired(now_ms()) {
                return Err(Ending::Expired);
            }
            if self.take_notes().await {
                return Err(Ending::Cancelled);
            }
            let before = place.before();
            if before == 0 {
                // Read before the start, because the store may remove the params after it.
                let kept = match params.take() {
                    Some(kept) => kept,
                    None => self.kept_params().await?,
                };
                match self.begin().await {
                    Ok(true) => return Ok(kept),
                    Err(StoreError::Stale { .. }) => return Err(Ending::Lost),
                    Ok(false) | Err(_) => params = Some(kept),
                }
            }
            let pause = CHECK_INTERVAL
                * u32::try_from(1 + before / EACH_SECOND).unwrap_or(u32::MAX).min(LONGEST_PAUSE);
            let _ = timeout(pause, self.running.poke.notified()).await;
        }
    }

    async fn kept_params(&self) -> Result<String, Ending> {
        loop {
            let (store, id) = (Arc::clone(self.deferred.store()), self.record.id.clone());
            match on_own_thread(move || store.request(&id)).await {
                Some(Ok(Some(params))) => return Ok(params),
                Some(Ok(None)) => {
                    return Err(Ending::Failed(failure(
                        "the call was not kept while it waited for its turn",
                    )));
                }
                Some(Err(error)) => self.deferred.report(&error),
                None => {}
            }
            if self.deferred.is_leaving() {
                return Err(Ending::Stopped);
            }
            if self.record.is_expired(now_ms()) {
                return Err(Ending::Expired);
            }
            sleep(CHECK_INTERVAL).await;
        }
    }

    async fn begin(&mut self) -> Result<bool, StoreError> {
        let (store, lease) = (Arc::clone(self.deferred.store()), Arc::clone(&self.lease));
        let (mut record, limits) = (self.record.clone(), self.deferred.limits());
        record.touch(now_ms());
        let begun =
            on_own_thread(move || store.begin(&lease, &mut record, limits).map(|is| (is, record))).await;
        match begun {
            Some(Ok((is_begun, record))) => {
                if is_begun {
                    self.record = record;
                    self.announce();
                }
                Ok(is_begun)
            }
            Some(Err(error)) => {
                if !matches!(error, StoreError::Stale { .. }) {
                    self.deferred.report(&error);
                }
                Err(error)
            }
            None => Ok(false),
        }
    }
}
