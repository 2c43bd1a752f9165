//! Transports: stdio and HTTP. A transport turns bytes into lines and messages into bytes, and does not interpret them. It also
//! detects why the server has to shut down (`lifecycle`) and returns the reason.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

pub mod http;
mod lifecycle;
mod memory;
pub mod stdio;

pub use lifecycle::Ending;

/// Functions that only the program itself can provide.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Exits the process when the server has to shut down and the transport does not respond.
    pub give_up: fn(Ending) -> !,
    /// Returns free memory to the system.
    pub give_memory_back: fn(),
}
