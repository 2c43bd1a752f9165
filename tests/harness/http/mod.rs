//! A server over HTTP, and a client of it that sends whatever bytes a test likes: it helps with what is right and keeps
//! nobody from what is wrong.

mod connection;
mod events;
mod requests;
mod server;

pub(crate) use connection::{Http, Response};
pub(crate) use events::{Event, Events, Incoming};
pub(crate) use requests::{initialize, post, request, stateless, stateless_message, stateless_with};
pub(crate) use server::{HttpServer, HttpSession};
