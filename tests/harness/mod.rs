//! The building blocks of the tests: a project on disk, a running server, a conversation, and signs to wait
//! for.

mod gate;
mod home;
pub(crate) mod http;
pub(crate) mod metrics;
mod pipe;
mod process;
pub(crate) mod process_table;
mod project;
mod reluctant;
mod schema;
mod server;
mod terminal;
mod wait;

pub(crate) use home::{Home, Said};
pub(crate) use pipe::make_pipe;
pub(crate) use process::{exists, wait_until_asleep, wait_until_gone};
pub(crate) use project::Project;
pub(crate) use reluctant::{Answer, Reluctant, lines, request, requests};
pub(crate) use server::{ONE_AT_A_TIME, Server, code, stateless_meta};
pub(crate) use terminal::Terminal;
pub(crate) use wait::{TIMEOUT, wait_at_most, wait_until};
