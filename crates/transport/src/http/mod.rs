//! MCP over HTTP: both eras on one endpoint.
//!
//! # Theory of operation
//!
//! Each connection is a task (`serving/accept.rs`). Each request passes the checks of `requests/router.rs` in order: allowed
//! host and origin, caller, content. A POST (`requests/post.rs`) carries a message for the server. Its reply is a replay buffer
//! (`streams/replay_buffer.rs`) that the server fills and the response reads. If the answer is the only message, the response
//! is JSON; otherwise it becomes a stream of events (`streams/events.rs`) at the speed of the connection. The server never
//! waits for the reader of a buffer: while a buffer is clogged, progress and log notifications are dropped, and work that can
//! wait is held back.
//!
//! In the stateless era every POST has a client of its own, which is abandoned when its connection closes. In the handshake era
//! the client belongs to a session (`sessions/session.rs`), which outlives connections: it keeps its replay buffers for a
//! while, so that a client that reconnects receives the messages it missed.
//!
//! Health and metrics have a listener of their own (`serving/health_listener.rs`), which stays open until the process exits.
//!
//! At shutdown (`serving/drain.rs`) listening requests are answered, connections close after their current request, and calls
//! that exceed the drain timeout are stopped and answered.
//!
//! The folders depend on each other in one direction: `listen`, `limits`, `secrets`, `access`, `identity`, `streams`,
//! `sessions`, `metrics`, `requests`, `serving`.

mod access;
mod identity;
mod limits;
mod listen;
mod metrics;
mod requests;
mod secrets;
mod serving;
mod sessions;
mod streams;

pub use access::AccessError;
pub use access::exposure::Exposed;
pub use identity::{
    Grant, IdentityError, IssuerError, KeysError, NameList, NewTokenError, ProxyError, RolesFile,
    RolesFileError, TokenEditError, TokenFileError, TokenLine, TokenText, TokensError,
};
pub use identity::{add_token, check_issuer, read_tokens, remove_token};
pub use limits::identity_options::{
    CertificateName, ClientCertificates, IntrospectionOptions, IssuerOptions, ProxyOptions,
};
pub use limits::options::{Limits, Options, TlsFiles};
pub use listen::{Address, AddressError, ListenError};
pub use secrets::guarded_file::GuardedFileError;
pub use secrets::tls::TlsError;
pub use serving::serve::{Places, StartError, serve};
