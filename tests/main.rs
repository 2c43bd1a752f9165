//! The binary as its users see it: real processes, real pipes, one folder for each subject.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod architecture;
mod audit;
mod command_line;
mod faults;
mod functions;
mod harness;
mod http;
mod identity;
mod install;
mod mistakes;
mod operations;
mod pages;
mod project;
mod protocol;
mod questions;
mod resources_and_prompts;
#[cfg(target_os = "linux")]
mod sandbox;
mod scaffold;
mod scripts;
mod secrets;
mod testing;
mod tools;
mod validate;
