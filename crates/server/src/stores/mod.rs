//! Store: what a later request needs, and another server may have kept for it. [`LocalStore`] belongs to this process and is
//! always there. Servers that share a database keep the same in it, so that a client finds it at any of them.
//!
//! Only finished things are in a store: records of bytes, and keys that are good once. Not in it are
//!
//! - parked calls: each is a live process and the channel to it. Its result, should it end early, takes its place under the
//!   same limits and lock. What may outlive the process, namely earlier answers, is in the sealed `requestState`;
//! - sessions: each is a client with open streams, questions and subscriptions, of which no other process could continue any;
//! - replay buffers of event streams: each event wakes its reader and counts for its back-pressure, and a store would be in the
//!   way of every message.
//!
//! Where a database may have to be asked, the function is asynchronous: a request waits for it while the others of its thread go
//! on, and no lock is held. Without a database such a function completes at once.

mod local;
mod records;
mod used_keys;

pub(crate) use used_keys::now;

use crate::callers::Caller;
use local::LocalStore;
use mcp_bash_postgres::{DatabaseError, Postgres, Record as Row};
use mcp_bash_runner::StateDir;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// A key that is good once. It is random, so that it is unique.
pub(crate) type OnceKey = [u8; 16];

/// Bytes for their owner, and their type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime_type: String,
}

pub(crate) struct Store {
    local: LocalStore,
    shared: Option<Postgres>,
}

impl Store {
    pub(crate) fn new(state_dir: Arc<StateDir>, shared: Option<Postgres>) -> Self {
        Self { local: LocalStore::new(state_dir), shared }
    }

    /// The database, if servers share one.
    pub(crate) fn shared(&self) -> Option<&Postgres> {
        self.shared.as_ref()
    }

    /// Keeps bytes for their owner under a key that no other record has, for readers at this server. Others make room, those
    /// of the caller that has the most first. False if there is no room, or the bytes cannot be written.
    pub(crate) fn put(
        &self,
        key: &str,
        owner: &Arc<Caller>,
        bytes: &[u8],
        mime_type: &str,
        lifetime: Duration,
    ) -> bool {
        self.local.put(key, owner, bytes, mime_type, lifetime)
    }

    /// Keeps them for readers at other servers as well. If the database is away, only this server has them.
    pub(crate) async fn share(&self, key: &str, owner: &Caller, record: Record, lifetime: Duration) {
        // No answer waits for a database that is known to be away.
        if let Some(database) = self.shared.as_ref().filter(|shared| shared.availability().borrow().is_none())
        {
            let row = Row { bytes: record.bytes, mime_type: record.mime_type };
            let _ = database.put(key, owner.name(), row, lifetime).await;
        }
    }

    /// The record with that key, unless it has expired, made room or has another owner.
    pub(crate) async fn get(&self, key: &str, owner: &Caller) -> Result<Option<Record>, DatabaseError> {
        if let Some(record) = self.local.get(key, owner) {
            return Ok(Some(record));
        }
        let Some(database) = &self.shared else { return Ok(None) };
        let row = database.get(key, owner.name()).await?;
        Ok(row.map(|Row { bytes, mime_type }| Record { bytes, mime_type }))
    }

    /// Uses a key, and remembers that until it expires, in seconds since 1970. False if it was used before, by any server.
    pub(crate) async fn use_once(&self, key: OnceKey, expires: u64) -> Result<bool, DatabaseError> {
        match &self.shared {
            Some(database) => database.use_once(key, expires).await,
            None => Ok(self.local.use_once(key, expires)),
        }
    }

    /// Whether a key was used.
    pub(crate) async fn is_used(&self, key: OnceKey, expires: u64) -> Result<bool, DatabaseError> {
        match &self.shared {
            Some(database) => Ok(!database.used(vec![key]).await?.is_empty()),
            None => Ok(self.local.is_used(key, expires)),
        }
    }

    /// Those of the keys that were used at any server. None if no other server can have used them.
    pub(crate) async fn used_elsewhere(&self, keys: Vec<OnceKey>) -> Result<HashSet<OnceKey>, DatabaseError> {
        match &self.shared {
            Some(database) => database.used(keys).await,
            None => Ok(HashSet::new()),
        }
    }

    /// Lets other servers know a key until it expires. One that is away learns of nothing.
    pub(crate) async fn tell_others(&self, key: OnceKey, expires: u64) {
        if let Some(database) = &self.shared {
            let _ = database.mark(key, expires).await;
        }
    }

    /// The key was not used after all. If that cannot be noted, its client is refused once too often.
    pub(crate) async fn give_back(&self, key: OnceKey, expires: u64) {
        match &self.shared {
            Some(database) => drop(database.give_back(key).await),
            None => self.local.give_back(key, expires),
        }
    }
}
