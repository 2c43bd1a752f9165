//! Dispatch: from a line that a client sends to the handler of its method.

mod dispatcher;
mod header_values;
pub(crate) mod in_memory;
mod panics;
mod routing;

pub use dispatcher::Owed;
pub use in_memory::{InMemoryClient, InMemoryConnection, InMemoryReply, Said};
pub use routing::{Header, Headers};
