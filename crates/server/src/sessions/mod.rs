//! Sessions: the server, its clients, and the state of a connection beyond its requests.

mod assembly;
mod client;
mod followed_tasks;
mod listens;
mod moving;
mod policing;
pub(crate) mod roots;
mod server;
mod session;
mod session_state;
mod telemetry;

pub use client::Client;
pub(crate) use client::{TaskRole, name_and_version};
pub(crate) use listens::Filter;
pub use moving::MovedSession;
pub use server::{Load, Server};
pub(crate) use session::Session;
