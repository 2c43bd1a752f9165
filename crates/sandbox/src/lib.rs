//! Sandbox: what a process may do, as the kernel enforces it.

mod host;
mod hosts;

pub use host::{BadHost, BadPort, Host, split_port};
pub use hosts::{EntryError, HostError, HostList};
