//! Local store: everything ends with this process. Records are files in the private folder, used keys are in memory.

use super::records::Records;
use super::used_keys::UsedKeys;
use super::{OnceKey, Record, Store};
use crate::callers::Caller;
use mcp_bash_runner::StateDir;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct LocalStore {
    records: Records,
    used_keys: Mutex<UsedKeys>,
}

impl LocalStore {
    pub(crate) fn new(state_dir: Arc<StateDir>) -> Self {
        Self { records: Records::new(state_dir), used_keys: Mutex::default() }
    }
}

impl Store for LocalStore {
    fn put(&self, key: &str, owner: &Arc<Caller>, bytes: &[u8], mime_type: &str, lifetime: Duration) -> bool {
        self.records.put(key, owner, bytes, mime_type, lifetime)
    }

    fn get(&self, key: &str, owner: &Caller) -> Option<Record> {
        self.records.get(key, owner)
    }

    fn use_once(&self, key: OnceKey, expires: u64) -> bool {
        self.used_keys.lock().add(key, expires)
    }

    fn give_back(&self, key: OnceKey, expires: u64) {
        self.used_keys.lock().remove(key, expires);
    }
}
