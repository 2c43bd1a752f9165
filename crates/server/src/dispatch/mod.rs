//! Dispatch: takes the lines of a client to the handlers of their methods.

mod arrival;
mod aside;
mod deferring;
mod dispatcher;
mod header_values;
mod immediate_answers;
pub(crate) mod in_memory;
mod notifications;
mod resolved;
mod resumption;
mod routing;
mod starting_work;
mod tending;

pub use dispatcher::Owed;
pub use in_memory::{InMemoryClient, InMemoryConnection, InMemoryReply, Said};
pub use routing::{Header, Headers};
