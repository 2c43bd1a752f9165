//! Audit log: one line of JSON for each audited event, in a hash chain, and the verification of such chains.
//!
//! A [`Trail`] takes [`Record`]s and writes them to a file, syslog, the journal, standard error or a store, before the
//! answer that they are about is sent. It knows no protocol: the server decides what is recorded. [`reading`] verifies files and
//! selects records.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod chain;
mod commits;
mod error;
mod event;
mod file;
mod key;
mod outbox;
pub mod reading;
mod reason;
mod record;
mod sink;
mod sockets;
mod stored;
mod trail;

pub use chain::{Head, NamedHead, NoHead};
pub use error::{AuditError, Problem};
pub use event::{Event, Outcome};
pub use file::rotation::{Rotation, files_of};
pub use key::Key;
pub use reason::{Cause, Reason};
pub use record::{FIELDS, Record};
pub use sink::Destination;
pub use stored::{ChainStore, Order, Position, StoredLine};
pub use trail::{Counts, OnError, Options, Trail};
