//! Methods of the protocol: one file for each family, and the table that says when and how each is served.

mod asked_timeout;
mod completion;
mod discover;
mod lifecycle;
mod logging;
mod ping;
mod prompts;
mod questions;
mod required;
mod resources;
mod table;
mod tools;

pub(crate) use table::{LaterHandler, Method, NowHandler, Serve};
