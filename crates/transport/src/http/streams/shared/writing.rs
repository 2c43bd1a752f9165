//! Writes the streams of this server to the store, many at a time.

use super::SharedStreams;
use crate::http::streams::replay_buffer::Copied;
use mcp_bash_server::{StreamKey, StreamPart, Unavailable};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::select;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// How long changes are gathered before they are written.
const GATHERING: Duration = Duration::from_millis(20);

/// How long to wait when the store did not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// How often leases are renewed.
const RENEWAL: Duration = Duration::from_secs(StreamPart::LEASE.as_secs() / 3);

/// The most parts that are written at once, and the bytes of their messages.
const MOST_PARTS: usize = 256;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// About how many bytes one part has.
const MOST_OF_PART: usize = 1024 * 1024;

/// How often the end of the work is looked for at shutdown.
const LOOK: Duration = Duration::from_millis(20);

impl SharedStreams {
    /// Writes what is due, and renews leases.
    pub(in crate::http) async fn keep_writing(self: Arc<Self>) {
        let mut renewal = interval(RENEWAL);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            select! {
                () = self.is_due.notified() => {
                    sleep(GATHERING).await;
                    self.write_due().await;
                }
                _ = renewal.tick() => self.renew().await,
            }
        }
    }

    async fn write_due(&self) {
        loop {
            let parts = self.take_parts();
            if parts.is_empty() {
                return;
            }
            let written = self.store.write(&parts).await;
            let was_failing = self.is_failing.swap(written.is_err(), Ordering::Relaxed);
            let Err(error) = written else {
                self.note_written(&parts);
                self.end_writing(&[]);
                continue;
            };
            if !was_failing {
                self.report(&error);
            }
            self.end_writing(&parts);
            sleep(PAUSE).await;
            self.is_due.notify_one();
            return;
        }
    }

    fn report(&self, error: &Unavailable) {
        if let Some(server) = self.server.upgrade() {
            let details = json!({ "error": error.to_string() });
            let words = "clients cannot resume streams of this server elsewhere";
            server.log().project_event(LogLevel::Warning, "mcp.store", words, &details);
        }
    }

    /// Nothing is being written any more. Parts that were not written stay due.
    fn end_writing(&self, unwritten: &[StreamPart]) {
        let mut due = self.due.lock();
        due.is_writing = false;
        due.keys.extend(unwritten.iter().map(|part| part.key));
    }

    /// The next parts to write. Sets `is_writing` if there are some.
    fn take_parts(&self) -> Vec<StreamPart> {
        let (mut parts, mut bytes, mut again) = (Vec::new(), 0, BTreeSet::new());
        while parts.len() < MOST_PARTS && bytes < MOST_BYTES {
            let mut due = self.due.lock();
            let Some(key) = due.keys.pop_first() else { break };
            due.is_writing = true;
            drop(due);
            let Some((part, is_all)) = self.part(key) else { continue };
            bytes += part.messages.len();
            if !is_all {
                again.insert(key);
            }
            parts.push(part);
        }
        let mut due = self.due.lock();
        due.keys.extend(again);
        due.is_writing = !parts.is_empty();
        parts
    }

    /// What has to be written of a stream, and whether that is all.
    fn part(&self, key: StreamKey) -> Option<(StreamPart, bool)> {
        let mut streams = self.own.lock();
        let own = streams.get(&key)?;
        let copied = own.buffer.upgrade().and_then(|buffer| buffer.copy_after(own.written, MOST_OF_PART));
        let Some(copied) = copied else {
            // Its session has ended.
            streams.remove(&key);
            return None;
        };
        let Copied { oldest, first, last, messages, is_all, is_over, kept_bytes } = copied;
        let is_anything = own.is_new || is_over || last >= first;
        let part = is_anything.then(|| StreamPart {
            key,
            is_new: own.is_new,
            lost_answer: own.lost_answer.clone().filter(|_| own.is_new),
            oldest,
            first,
            last,
            messages,
            is_over,
            bytes: kept_bytes as u64,
        })?;
        Some((part, is_all))
    }

    fn note_written(&self, parts: &[StreamPart]) {
        let mut streams = self.own.lock();
        for part in parts {
            if part.is_over {
                streams.remove(&part.key);
            } else if let Some(own) = streams.get_mut(&part.key) {
                own.is_new = false;
                own.written = own.written.max(part.last);
            }
        }
    }

    /// Renews the leases of all streams, and learns which are followed, in case the news of it were lost.
    async fn renew(&self) {
        let keys = self.written_keys();
        if keys.is_empty() {
            return;
        }
        for key in self.store.renew(keys.into_iter()).await.unwrap_or_default() {
            self.note_news(key);
        }
    }

    fn written_keys(&self) -> Vec<StreamKey> {
        let mut streams = self.own.lock();
        streams.retain(|_, own| own.buffer.strong_count() > 0);
        streams.iter().filter(|(_, own)| !own.is_new).map(|(key, _)| *key).collect()
    }

    /// Completes when all calls with shared streams are answered, also those whose clients have gone.
    pub(in crate::http) async fn answered(&self) {
        let is_open = |streams: &Self| {
            let streams = streams.own.lock();
            let mut buffers = streams.values().filter_map(|own| own.buffer.upgrade());
            buffers.any(|buffer| buffer.finished_for().is_none())
        };
        while is_open(self) {
            sleep(LOOK).await;
        }
    }

    /// Completes when everything that is due has been written.
    pub(in crate::http) async fn written(&self) {
        let is_busy = |streams: &Self| {
            let due = streams.due.lock();
            due.is_writing || !due.keys.is_empty()
        };
        while is_busy(self) {
            sleep(LOOK).await;
        }
    }

    /// Ends the leases of streams that get no more messages, because this server ends.
    pub(in crate::http) async fn abandon(&self) {
        let keys = self.written_keys();
        if !keys.is_empty() {
            // Otherwise they expire.
            let _ = self.store.abandon(keys.into_iter()).await;
        }
    }
}
