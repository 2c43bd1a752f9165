//! Tasks: calls that outlive their request, their connection and even their server.
//!
//! # Theory of operation
//!
//! A [`TaskRecord`] holds everything that another process needs to know about a task. A [`TaskStore`] keeps the records. The
//! process that runs a task holds a [`Lease`] on it, and is the only one that writes the record. All other processes read the
//! record, and post [`Note`]s for the process that runs the task: an answer to one of its questions, or a cancellation. When
//! that process dies, its lease is released, and exactly one other process can claim the task. Each claim increments the number
//! of the attempt, which is a fencing token: a process that has lost its lease without noticing cannot overwrite later changes.
//!
//! A task to which a limit on concurrency applies waits for its turn ([`turns`]). Until it has started, any process may start
//! it. After that, it is lost when its process dies, unless it may run again.
//!
//! [`FolderStore`] is a folder of files for the servers of one machine. The kernel holds its leases (`flock`), and releases
//! them when a process dies. This crate knows no protocol, no runtime and no clock: its callers pass times as numbers.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod error;
mod folder;
mod id;
pub mod operator;
mod record;
mod store;
pub mod turns;

pub use error::StoreError;
pub use folder::FolderStore;
pub use id::TaskId;
pub use record::{Failure, Owner, Question, Status, TaskRecord};
pub use store::{ChangeListener, Claim, Durability, Filter, Lease, Note, Swept, TaskStore};
pub use turns::{Entrant, Turn, TurnLimits};
