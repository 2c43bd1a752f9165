//! The methods of the protocol, one file for each family, and the table that says when and how each is served.

mod completion;
mod discover;
mod lifecycle;
mod logging;
mod ping;
mod prompts;
mod resources;
mod table;
pub(crate) mod tools;

pub(crate) use table::{LaterHandler, Method, Serve};
pub(crate) use tools::Resumption;
