//! The binary as its users see it: real processes, real pipes, one folder for each subject.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "only tests of Linux use some of the harness")
)]

mod architecture;
mod audit;
mod command_line;
mod faults;
mod functions;
mod harness;
mod http;
mod identity;
mod install;
// A PostgreSQL server of the test, which Debian's packages bring.
#[cfg(target_os = "linux")]
mod instances;
mod launchers;
mod mistakes;
mod operations;
mod packaging;
mod pages;
mod project;
mod protocol;
mod questions;
mod releases;
mod resources_and_prompts;
// Elsewhere the sandbox is that of macOS.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod sandbox;
mod scaffold;
mod scripts;
mod secrets;
mod tasks;
mod telemetry;
mod testing;
mod tools;
mod validate;
