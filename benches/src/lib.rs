//! Benchmarks: the pieces that the drivers share.
//!
//! A driver describes how to start each server ([`Launch`]), runs it as a [`Subject`], takes [`measures`] from it round
//! after round, enters them in a [`scoreboard`], judges them by its [`aims`] and prints its findings as Markdown
//! [`Table`]s. Everything here blocks on plain pipes and threads: an asynchronous driver would add its own wake-ups to
//! the numbers. Only the load of many connections in [`http`] is driven by one thread.

pub mod aims;
pub mod command_line;
pub mod crowd;
pub mod direct;
pub mod echo;
mod failure;
pub mod fixture;
pub mod http;
mod launch;
pub mod measures;
pub mod pages;
pub mod pipe_pass;
mod placement;
pub mod proc_usage;
mod process;
mod replies;
mod request;
pub mod scoreboard;
pub mod statistics;
mod subject;
mod table;
mod ticker;
mod watchdog;

pub use failure::Failure;
pub use launch::Launch;
pub use placement::Placement;
pub use request::Request;
pub use subject::Subject;
pub use table::{Align, Table};
