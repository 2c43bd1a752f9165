//! `mcp-bash`: a folder of scripts becomes a Model Context Protocol server.
//!
//! This crate is what people see: the command line, the words on the terminal, the exit codes. One file for each
//! subcommand. Protocol rules are elsewhere.

mod allocator;
mod arguments;
mod ask;
mod connect;
mod demo;
mod download;
mod error;
mod exit;
mod finding;
mod health;
mod health_checks;
mod health_report;
mod import;
mod jq;
mod log_files;
mod provider;
mod provider_read;
mod registry;
mod search_path;
mod serve;
mod shell_words;
mod start_checks;
mod startup;
mod terminal;
mod welcome;

use arguments::CommandLine;
use error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Scripts that look for a jq find this program under its name, and call it often: nothing comes before it.
    let mut words = std::env::args_os();
    if words
        .next()
        .is_some_and(|name| std::path::Path::new(&name).file_name().is_some_and(|name| name == "jq"))
    {
        return jq::run(words);
    }
    // Before anything else: this program is also the one that looks after a server that was killed.
    mcp_bash_runner::warden::install();
    let result = CommandLine::read().and_then(CommandLine::run);
    result.unwrap_or_else(|error: Error| {
        eprintln!("mcp-bash: {error}");
        error.exit_code()
    })
}
