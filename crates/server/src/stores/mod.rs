//! Store: data for later requests, which may reach another server. [`LocalStore`] belongs to this process and always exists.
//! Servers that share a database store the same data in it, so that a client can continue at any of them.
//!
//! A store contains only finished things: records of bytes, and keys that can be used once. It does not contain
//!
//! - parked calls: each is a live process and the channel to it. If it ends early, its result replaces it under the same limits
//!   and lock. Earlier answers, which may outlive the process, are in the sealed `requestState`;
//! - sessions: each is a client with open streams, questions and subscriptions, which no other process could continue;
//! - replay buffers of event streams: each event wakes its reader and counts for its back-pressure, and a store would slow down
//!   every message. Copies of those whose readers may come back elsewhere are in the database ([`StreamStore`]).
//!
//! Functions that may ask a database are asynchronous, and hold no lock while they wait. Without a database they complete
//! immediately.

mod local;
mod records;
mod streams;
mod used_keys;

pub use streams::{StreamStore, Unavailable};
pub(crate) use used_keys::now;

use crate::callers::Caller;
use local::LocalStore;
use mcp_bash_postgres::{DatabaseError, Postgres, Record as Row};
use mcp_bash_runner::StateDir;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// A random key that can be used once.
pub(crate) type OnceKey = [u8; 16];

/// Bytes with their MIME type, for one owner.
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

    /// Stores bytes for their owner under a unique key, for readers at this server. To make room, the oldest records of the
    /// caller with the most are removed. False if there is no room, or the bytes cannot be written.
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

    /// Shares a record with other servers. If the database is unavailable, only this server has it.
    pub(crate) async fn share(&self, key: &str, owner: &Caller, record: Record, lifetime: Duration) {
        // No response waits for a database that is known to be unavailable.
        if let Some(database) = self.shared.as_ref().filter(|shared| shared.availability().borrow().is_none())
        {
            let row = Row { bytes: record.bytes, mime_type: record.mime_type };
            let _ = database.put(key, owner.name(), row, lifetime).await;
        }
    }

    /// The record with this key, unless it has expired, was removed or has another owner.
    pub(crate) async fn get(&self, key: &str, owner: &Caller) -> Result<Option<Record>, DatabaseError> {
        if let Some(record) = self.local.get(key, owner) {
            return Ok(Some(record));
        }
        let Some(database) = &self.shared else { return Ok(None) };
        let row = database.get(key, owner.name()).await?;
        Ok(row.map(|Row { bytes, mime_type }| Record { bytes, mime_type }))
    }

    /// Marks a request state as used until it expires, in seconds since 1970. False if it was used before, on any server. If
    /// this process has forgotten states because there were too many, it also refuses those that expire no later than them.
    pub(crate) async fn use_once(&self, state: OnceKey, expires: u64) -> Result<bool, DatabaseError> {
        match &self.shared {
            Some(database) => database.use_once(state, expires).await,
            None => Ok(self.local.use_once(state, expires)),
        }
    }

    /// Marks a session as ended until its id expires.
    pub(crate) async fn end_session(&self, session: OnceKey, expires: u64) -> Result<(), DatabaseError> {
        if let Some(database) = &self.shared {
            return database.use_once(session, expires).await.map(drop);
        }
        self.local.end_session(session, expires);
        Ok(())
    }

    /// Whether a session has ended.
    pub(crate) async fn has_ended(&self, session: OnceKey, expires: u64) -> Result<bool, DatabaseError> {
        match &self.shared {
            Some(database) => Ok(!database.used(vec![session]).await?.is_empty()),
            None => Ok(self.local.has_ended(session, expires)),
        }
    }

    /// The keys that were used on any server. Empty if no store is shared.
    pub(crate) async fn used_elsewhere(&self, keys: Vec<OnceKey>) -> Result<HashSet<OnceKey>, DatabaseError> {
        match &self.shared {
            Some(database) => database.used(keys).await,
            None => Ok(HashSet::new()),
        }
    }

    /// Marks a key as used for other servers until it expires. Does nothing if the database is unavailable.
    pub(crate) async fn tell_others(&self, key: OnceKey, expires: u64) {
        if let Some(database) = &self.shared {
            let _ = database.mark(key, expires).await;
        }
    }

    /// Marks a request state as unused again. If that fails, the client is refused once too often.
    pub(crate) async fn give_back(&self, state: OnceKey, expires: u64) {
        match &self.shared {
            Some(database) => drop(database.give_back(state).await),
            None => self.local.give_back(state, expires),
        }
    }
}
