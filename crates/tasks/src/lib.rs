//! Tasks: calls that outlive their request, their connection and even their server.
//!
//! # Theory of operation
//!
//! A [`TaskRecord`] says all about a task that another process needs. A [`TaskStore`] keeps the records. The process that
//! runs a task holds a [`Lease`] on it, and is the only one that writes the record. Everyone else reads the record, and
//! posts [`Note`]s for the process that runs it: an answer to one of its questions, or that it is cancelled. When that
//! process dies, its lease is free, and exactly one other process can claim the task. Each claim raises the number of the
//! attempt, so that a process that was thought dead and is not cannot overwrite what came after it.
//!
//! A task of which only a few may run at a time waits for its turn ([`turns`]). Until it has begun, any process may begin it,
//! and once it has, a process that dies takes it along, unless it may run again.
//!
//! [`FolderStore`] is a folder of files for the servers of one machine. The kernel holds its leases (`flock`), and frees
//! them when a process dies. It knows no protocol, no runtime and no clock: times are numbers that its caller gives.

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
