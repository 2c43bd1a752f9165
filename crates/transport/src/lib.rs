//! Transports: how clients reach the server. A transport turns bytes into lines and messages into bytes, and does not
//! interpret them. It also detects why a server shuts down (`lifecycle`) and returns the reason.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

pub mod http;
mod lifecycle;
mod memory;
pub mod stdio;

pub use lifecycle::Ending;

/// What only the program itself can do.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Ends the process, where there is a reason to and nobody else can act upon it.
    pub give_up: fn(Ending) -> !,
    /// Gives memory that is free back to the system.
    pub give_memory_back: fn(),
}
