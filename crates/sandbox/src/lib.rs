//! Sandbox: what a process may do, as the kernel enforces it.

#[cfg(target_os = "linux")]
pub mod seccomp;

#[cfg(target_os = "linux")]
pub use seccomp::{Filter, FilterChoices, Sockets};
