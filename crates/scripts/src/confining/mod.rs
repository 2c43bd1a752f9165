//! Confining: which sandbox a script runs in, prepared ahead and leased to one process at a time.

pub(crate) mod cell;
pub(crate) mod command;
pub(crate) mod confined;
pub(crate) mod denial;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod key;
#[cfg(target_os = "linux")]
mod linux;
pub(crate) mod profile;
mod reach;
mod resolve;
pub(crate) mod sandboxes;
pub(crate) mod script_sandbox;
pub(crate) mod tracing;
