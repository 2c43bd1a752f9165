//! A server over HTTP, and a client that can send any bytes: it helps with correct requests and allows wrong
//! ones.

mod connection;
mod events;
mod requests;
mod server;

pub(crate) use connection::{Http, Response};
pub(crate) use events::{Event, Events, Incoming};
pub(crate) use requests::{initialize, post, request, stateless, stateless_message, stateless_with};
pub(crate) use server::{HttpServer, HttpSession};
