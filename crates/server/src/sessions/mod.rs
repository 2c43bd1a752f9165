//! Sessions: the server, its clients, and what a connection has besides its requests.

mod assembly;
mod client;
mod listens;
pub(crate) mod roots;
mod server;
mod session;
mod session_state;

pub use client::Client;
pub(crate) use client::name_and_version;
pub(crate) use listens::Filter;
pub use server::{Load, Server};
pub(crate) use session::Session;
