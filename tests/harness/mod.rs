//! What the tests are written in: a project on disk, a running server, a conversation.

mod process;
mod project;
mod schema;
mod server;

pub(crate) use process::{exists, wait_until, wait_until_gone};
pub(crate) use project::Project;
pub(crate) use server::{Server, code, stateless_meta};
