//! Confinement: the sandboxes of scripts, prepared in advance and leased to one process at a time.

pub(crate) mod cell;
pub(crate) mod command;
pub(crate) mod confined;
pub(crate) mod denial;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
mod key;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
pub(crate) mod profile;
mod reach;
mod resolve;
pub(crate) mod sandboxes;
pub(crate) mod script_sandbox;
mod stamps;
pub(crate) mod tracing;
mod usage_record;
