//! HTTP measures: servers that are reached over HTTP.
//!
//! The client here does no more than it must: requests are rendered before the clock runs, and of a response it checks
//! only the end and that it is a result. So the numbers are the servers', even if the two share few cores.

mod connection;
mod load;
mod message;
mod post;
mod server;
mod streams;

pub use connection::{Answer, Connection};
pub use load::{Load, load};
pub use post::Post;
pub use server::HttpServer;
pub use streams::IdleStreams;
