//! The protocol: what a line from a client means, and what is answered.
//!
//! # Theory of operation
//!
//! A transport makes one [`Connection`] for each client and hands it lines. The connection decodes a line, obtains the
//! request's context (from its own `_meta` in the stateless era, from the session in the handshake era), looks the
//! method up in the table of rules, and serves it. What needs no waiting is answered on the caller's thread, before the
//! next line is read: lifecycle, ping, logging, lists. Everything else becomes *work*: it is entered as in flight, gets
//! a place or waits its turn, and runs on the runtime. Each request is answered once, whatever happens to its handler,
//! and after its answer or its cancellation nothing is sent for it.
//!
//! Results are written in the newest shape and rendered for the revision of their request in one place.
//!
//! Nothing here walks a file system, starts a process or owns a descriptor.

mod admission;
mod answers;
mod call;
mod capabilities;
mod channel;
mod connection;
mod context;
mod guard;
mod in_flight;
mod limiter;
mod listing;
mod log;
mod methods;
mod panics;
mod parking;
mod payloads;
mod peers;
mod questions;
mod resources;
mod roots;
mod schemas;
mod script_errors;
mod server;
mod session;
mod shape;
mod subscriptions;
mod work;
mod workplaces;

pub use channel::Channel;
pub use connection::{Connection, Flow};
pub use log::{Log, Style};
pub use server::Server;
