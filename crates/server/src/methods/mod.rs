//! Methods of the protocol: one file for each family, and the table of when and how each is served.

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
mod tasks;
mod tools;

pub(crate) use table::{AsideHandler, LaterHandler, Method, NowHandler, Serve};
pub(crate) use tasks::undeclared;
