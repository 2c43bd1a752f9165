//! Local store: lives as long as this process. Records are files in the private folder, used keys are in memory.

use super::records::Records;
use super::used_keys::UsedKeys;
use super::{OnceKey, Record};
use crate::callers::Caller;
use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct LocalStore {
    records: Records,
    used_states: Mutex<UsedKeys>,
    /// Apart from the states, which expire sooner: too many of one kind forget none of the other.
    ended_sessions: Mutex<UsedKeys>,
}

impl LocalStore {
    pub(super) fn new(state_dir: Arc<StateDir>) -> Self {
        Self {
            records: Records::new(state_dir),
            used_states: Mutex::default(),
            ended_sessions: Mutex::default(),
        }
    }

    pub(super) fn put(
        &self,
        key: &str,
        owner: &Arc<Caller>,
        bytes: &[u8],
        mime_type: &str,
        lifetime: Duration,
    ) -> bool {
        self.records.put(key, owner, bytes, mime_type, lifetime)
    }

    pub(super) fn get(&self, key: &str, owner: &Caller) -> Option<Record> {
        self.records.get(key, owner)
    }

    pub(super) fn use_once(&self, state: OnceKey, expires: u64) -> bool {
        self.used_states.lock().add(state, expires)
    }

    pub(super) fn give_back(&self, state: OnceKey, expires: u64) {
        self.used_states.lock().remove(state, expires);
    }

    pub(super) fn end_session(&self, session: OnceKey, expires: u64) {
        self.ended_sessions.lock().add(session, expires);
    }

    pub(super) fn has_ended(&self, session: OnceKey, expires: u64) -> bool {
        self.ended_sessions.lock().has(session, expires)
    }
}
