//! The protocol: what a line from a client means, and what is answered.
//!
//! # Theory of operation
//!
//! A transport makes a [`Client`] for each connection or session, or for a single request that has neither, and hands it
//! lines, each with the [`Reply`] that it gets. The dispatcher decodes a line, obtains the request's context (from its own
//! `_meta` in the stateless era, from the session in the handshake era), looks the method up in the table of methods, and
//! serves it. What needs no waiting is answered on the transport's thread, before the next line is read: lifecycle, ping,
//! logging, lists. Everything else becomes *work*: it is entered as in flight, gets
//! a place or waits its turn, and runs on the runtime. Each request is answered once, whatever happens to its handler,
//! and after its answer or its cancellation nothing is sent for it.
//!
//! Results are written in the newest shape and rendered for the revision of their request in one place.
//!
//! Every client belongs to a [`Caller`], to whom belongs what is held, kept, parked and followed for it.
//!
//! Nothing here walks a file system or starts a process.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod added_arguments;
mod admission;
mod audience;
mod batch;
mod caller;
mod capabilities;
mod client;
mod context;
mod defaults;
mod dispatcher;
mod facts;
mod free_threads;
mod given_answers;
mod guard;
mod handshake;
mod header_values;
mod holdings;
mod immediate;
mod in_flight;
mod in_memory;
mod lasting;
mod limiter;
mod listens;
mod listing;
mod log;
mod log_file;
mod meter;
mod methods;
mod observer;
mod open_request;
mod panics;
mod parking;
mod payloads;
mod questions;
mod redaction;
mod reply;
mod request_state;
mod resources;
mod responder;
mod rights;
mod roots;
mod routing;
mod schemas;
mod script_errors;
mod served;
mod server;
mod session;
mod shape;
mod short_paths;
mod slot;
mod start_warnings;
mod subscriber;
mod subscriptions;
mod swept;
#[cfg(test)]
mod test_kit;
mod trace_context;
mod work;
mod worker_news;
mod workplaces;

pub use caller::Caller;
pub use client::Client;
pub use dispatcher::Owed;
pub use free_threads::threads_are_free;
pub use holdings::{Holdings, Ticket};
pub use in_memory::{InMemoryClient, InMemoryConnection, InMemoryReply, Said};
pub use lasting::spawn_lasting;
pub use log::{Log, Operator, Style};
pub use meter::{EndedSession, ErrorType, Meter, OTHER, Operation};
pub use observer::Observer;
pub use panics::on_purpose as panic_on_purpose;
pub use redaction::{Redaction, Unshowable};
pub use reply::{Reply, Stream};
pub use request_state::{KeyFileError, KeyRing};
pub use rights::Rights;
pub use routing::{Header, Headers};
pub use served::Served;
pub use server::{Load, Server};
pub use swept::Swept;
