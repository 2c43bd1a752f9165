//! MCP client, for commands that call what a server offers.
//!
//! # Theory of operation
//!
//! A [`Connection`] carries messages: to a server in the same process, which costs nothing, to a process that speaks
//! the protocol on its standard streams, or to a server over HTTP. A [`Session`] initializes the server, or discovers that it
//! needs no session, numbers requests, and waits for each
//! request until it is answered. Meanwhile a [`Host`] receives the notifications of the server and answers its
//! questions. Results are returned as the text that came, so that `1.10` stays `1.10`.
//!
//! Nothing here knows a terminal, and nothing here knows a project.

mod connection;
mod error;
mod host;
mod http;
mod process;
mod session;
mod stateless;

pub use connection::Connection;
pub use error::{Error, Refusal};
pub use host::{Host, HostAnswer, Silent};
pub use http::{HttpConnection, HttpError, Remote};
pub use mcp_bash_server::{asks_for_consent, consent_answer};
pub use process::{Launch, ServerProcess};
pub use session::Session;
