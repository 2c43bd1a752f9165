//! Commands of the binary without their own folder.

pub(crate) mod call;
mod call_whole;
mod completions;
mod config;
mod debug;
mod demo;
mod dev;
mod dev_client;
mod doctor;
mod harmless;
mod health;
mod import;
mod import_programs;
mod import_scripts;
mod list_read_get;
mod manners;
mod policy;
mod remote;
mod run_tool;
// Sandboxes are tried on Linux only.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod sandbox;
mod signals;
mod ten_scripts;
mod trace_access;
