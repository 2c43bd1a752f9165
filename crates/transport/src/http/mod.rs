//! MCP over HTTP: both eras on one endpoint.
//!
//! # Theory of operation
//!
//! Each connection is a task (`accept.rs`). Each request passes the checks of `endpoint.rs` in their order: the way it came,
//! who makes it, what it is. A POST (`post.rs`) is a message for the server, with a reply of its own: a *track* of
//! messages (`track.rs`), which the server fills and the response reads. If the answer is all that was said, the response is
//! JSON; otherwise it becomes a stream of events (`events.rs`), which takes from the track what the connection can
//! carry. A track never waits for its reader: what can be missed is dropped where too much is unread.
//!
//! In the stateless era every POST has a client of its own, which is abandoned when its connection is closed. In the
//! handshake era the client belongs to a session (`session.rs`), which outlives connections: its tracks are kept a while,
//! so that a client that comes back gets what it has missed.
//!
//! Those who watch over the server have an address of their own (`metrics/`), which is open until the very end.
//!
//! When the server is asked to end, those who only listen are answered, connections end after what they have begun, and
//! what takes too long is stopped, which answers it.

mod accept;
mod accepts;
mod body;
mod connections;
mod door;
mod drain;
mod endpoint;
mod events;
mod exposure;
mod guarded_file;
mod headers;
mod identity;
mod incoming;
mod listen;
mod message;
mod metrics;
mod old_sse;
mod options;
mod patience;
mod post;
mod rate;
mod reply;
mod respond;
mod serve;
mod session;
mod session_requests;
mod sessions;
mod streams;
mod tls;
mod track;
mod visitor;
mod waiting;

pub use door::DoorError;
pub use exposure::Exposed;
pub use guarded_file::GuardedFileError;
pub use identity::{NewTokenError, TokenEditError, TokenFileError, TokenLine, TokenText, TokensError};
pub use identity::{add_token, read_tokens, remove_token};
pub use listen::{Address, AddressError, ListenError};
pub use options::{Limits, Options, TlsFiles};
pub use rate::{Rate, RateError};
pub use serve::{Places, StartError, serve};
pub use tls::TlsError;
