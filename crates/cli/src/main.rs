//! `mcp-bash`: a folder of scripts becomes a Model Context Protocol server.
//!
//! This crate is what people see: the command line, the words on the terminal, the exit codes. One file for each
//! subcommand. Protocol rules are elsewhere.

mod arguments;
mod demo;
mod error;
mod health;
mod provider;
mod registry;
mod search_path;
mod serve;
mod startup;
mod welcome;

use arguments::{Arguments, Command, ProviderCommand};
use clap::Parser;
use error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: this program is also the one that looks after a server that was killed.
    mcp_bash_runner::warden::install();
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Some(Command::Demo) => demo::run(),
        Some(Command::Registry(command)) => registry::run(&arguments, command),
        Some(Command::Provider(ProviderCommand::Check { file })) => provider::check(file),
        None if arguments.health => Ok(health::run(&arguments)),
        None => serve::run(&arguments),
    };
    result.unwrap_or_else(|error: Error| {
        eprintln!("mcp-bash: {error}");
        error.exit_code()
    })
}
