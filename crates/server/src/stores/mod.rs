//! Stores: what a later request needs, and another process could keep for it. [`Store`] is the seam for a store that outlives
//! this process or is shared by several; [`LocalStore`] is the one that belongs to this process.
//!
//! Only finished things are in a store: records of bytes, and keys that are good once. Not in it are
//!
//! - parked calls: each is a live process and the channel to it. Its result, should it end early, takes its place under the
//!   same limits and lock. What may outlive the process, namely earlier answers, is in the sealed `requestState`;
//! - sessions: each is a client with open streams, questions and subscriptions, of which no other process could continue any;
//! - replay buffers of event streams: each event wakes its reader and counts for its back-pressure, and a store would be in the
//!   way of every message.
//!
//! Calls are synchronous, because they happen where an answer is rendered and under the lock of parked calls, and they are rare:
//! for a result that is too long for its answer, when such a result is read, and when a call continues that may run again. An
//! implementation that waits for a network does so with `tokio::task::block_in_place`, in the runtime of an HTTP server.

mod local;
mod records;
mod used_keys;

pub(crate) use local::LocalStore;
pub(crate) use used_keys::now;

use crate::callers::Caller;
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

pub(crate) trait Store: Send + Sync {
    /// Keeps bytes for their owner under a key that no other record has. Others make room, those of the caller that has the
    /// most first. False if there is no room, or the bytes cannot be written. Bytes in memory are charged to their owner.
    fn put(&self, key: &str, owner: &Arc<Caller>, bytes: &[u8], mime_type: &str, lifetime: Duration) -> bool;

    /// The record with that key, unless it has expired, made room or has another owner.
    fn get(&self, key: &str, owner: &Caller) -> Option<Record>;

    /// Uses a key, and remembers that until it expires, in seconds since 1970. False if it was used before.
    fn use_once(&self, key: OnceKey, expires: u64) -> bool;

    /// The key was not used after all.
    fn give_back(&self, key: OnceKey, expires: u64);
}
