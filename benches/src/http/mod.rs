//! HTTP measures: servers over HTTP.
//!
//! The client does the minimum: requests are rendered before the clock runs, and a response is checked only
//! for its end and for being a result. So the numbers are the servers', even if the two share few cores.

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
