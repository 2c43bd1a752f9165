//! `mcp-bash`: a folder of scripts becomes a Model Context Protocol server.
//!
//! This crate is what people see: the command line, the words on the terminal, the exit codes. One file for each
//! subcommand. Protocol rules are elsewhere.

mod allocator;
mod arguments;
mod ask;
mod demo;
mod download;
mod error;
mod finding;
mod health;
mod health_checks;
mod health_report;
mod log_files;
mod provider;
mod provider_read;
mod registry;
mod search_path;
mod serve;
mod start_checks;
mod startup;
mod terminal;
mod welcome;

use arguments::{Arguments, Command, ProviderCommand};
use error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Scripts that look for a jq find this program under its name, and call it often: nothing comes before it.
    let mut words = std::env::args_os();
    if words
        .next()
        .is_some_and(|name| std::path::Path::new(&name).file_name().is_some_and(|name| name == "jq"))
    {
        return jq(words);
    }
    // Before anything else: this program is also the one that looks after a server that was killed.
    mcp_bash_runner::warden::install();
    let result = Arguments::read().and_then(|arguments| run(&arguments));
    result.unwrap_or_else(|error: Error| {
        eprintln!("mcp-bash: {error}");
        error.exit_code()
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    match &arguments.command {
        Some(Command::Demo) => demo::run(),
        Some(Command::Jq { arguments }) => Ok(jq(arguments.iter().cloned())),
        Some(Command::Ask { method, params, timeout }) => ask::run(method, params, *timeout),
        Some(Command::Download(options)) => download::run(options),
        Some(Command::Registry(command)) => registry::run(arguments, command),
        Some(Command::Provider(ProviderCommand::Check { file })) => provider::check(file),
        Some(Command::Provider(ProviderCommand::Read { uri })) => provider_read::run(arguments, uri),
        None if arguments.health => Ok(health::run(arguments)),
        None => serve::run(arguments),
    }
}

fn jq(arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    mcp_bash_jq::run(arguments, std::io::stdin(), std::io::stdout(), std::io::stderr()).into()
}
