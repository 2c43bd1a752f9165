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
    used_keys: Mutex<UsedKeys>,
}

impl LocalStore {
    pub(super) fn new(state_dir: Arc<StateDir>) -> Self {
        Self { records: Records::new(state_dir), used_keys: Mutex::default() }
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

    pub(super) fn use_once(&self, key: OnceKey, expires: u64) -> bool {
        self.used_keys.lock().add(key, expires)
    }

    pub(super) fn is_used(&self, key: OnceKey, expires: u64) -> bool {
        self.used_keys.lock().has(key, expires)
    }

    pub(super) fn give_back(&self, key: OnceKey, expires: u64) {
        self.used_keys.lock().remove(key, expires);
    }
}
