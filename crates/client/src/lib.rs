//! A client of the Model Context Protocol: for commands that call what a server offers.
//!
//! # Theory of operation
//!
//! A [`Connection`] carries messages: to a server in this same process, which costs nothing, or to a process that speaks
//! the protocol on its standard streams. A [`Session`] greets the server, numbers requests, and stays with each request
//! until it is answered. What the server says meanwhile is handed to a [`Host`]: it hears notifications and answers
//! questions. Results are handed on as the text that came, so that `1.10` stays `1.10`.
//!
//! Nothing here knows a terminal, and nothing here knows a project.

mod connection;
mod error;
mod host;
mod process;
mod session;

pub use connection::Connection;
pub use error::{Error, Refusal};
pub use host::{Host, Silent};
pub use process::{Launch, ServerProcess};
pub use session::Session;
