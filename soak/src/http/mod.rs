//! HTTP: a server, and just enough of a client for it.

mod connection;
mod requests;
mod server;

pub(crate) use connection::{Connection, Event, Head};
pub(crate) use mcp_bash_http_client::EventBlocks;
pub(crate) use requests::{STATELESS, add_meta, delete, get, initialize, post};
pub(crate) use server::{SERVERS, Server, Usage};
