//! MCP server: interprets the lines of clients, and answers them.
//!
//! # Theory of operation
//!
//! A transport creates a [`Client`] for each connection or session, or for a single stateless request, and passes it lines,
//! each with its [`Reply`]. The dispatcher decodes a line, builds the context of the request (from its own `_meta` in the
//! stateless era, from the session in the handshake era), finds the method in the method table, and serves it. Requests that
//! need not wait (lifecycle, ping, logging, lists) are answered on the transport's thread, before the next line is read.
//! Everything else becomes *work*: it is recorded as in flight, gets a place or waits its turn, and runs on the runtime. Each
//! request is answered once, even if its handler panics. After its response or cancellation nothing is sent for it.
//!
//! Results are written in the newest shape and rendered for the revision of their request in one place.
//!
//! Every client belongs to a [`Caller`], to which memory, parked requests and subscriptions are charged.
//!
//! This crate does not walk a file system or start a process.
//!
//! The folders use each other in one direction only; `ARCHITECTURE.md` lists them in order.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod callers;
mod deferred;
mod dispatch;
mod handling;
mod logging;
mod methods;
mod offered;
mod replies;
mod requests;
mod sessions;
mod stores;
mod tasks;
#[cfg(test)]
mod test_kit;

pub use callers::{Caller, Holdings, Identity, KnownBy, Principal, Rights, Swept, Ticket, local_name};
pub use deferred::StorePlace;
pub use dispatch::{Header, Headers, InMemoryClient, InMemoryConnection, InMemoryReply, Owed, Said};
pub use handling::{asks_for_consent, consent_answer};
pub use logging::{
    AuditLog, EndedSession, ErrorLabel, ErrorType, Log, MeasuredOperation, Measurements, Meter, Network,
    OTHER, Observer, Operation, OperationKind, Operator, Style,
};
pub use mcp_bash_audit::{Counts as AuditCounts, Reason as AuditReason};
pub use mcp_bash_postgres::{StoredStream, StreamKey, StreamPart, StreamStage, Taken};
pub use offered::Served;
pub use replies::{Redaction, Reply, Stream, Unshowable};
pub use requests::{KeyFileError, KeyRing};
pub use sessions::{Client, Load, MovedSession, Server};
pub use stores::{StreamStore, Unavailable};
pub use tasks::{panic_on_purpose, spawn_lasting};
