//! `mcp-bash`: a folder of scripts becomes a Model Context Protocol server.
//!
//! This crate is what people see: the command line, the text on the terminal, the exit codes. Each subcommand has one file
//! or folder. Protocol rules are elsewhere.

// It panics on a closed pipe: `mcp_bash_terminal::tell` and `complain` do not.
#![warn(clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

mod arguments;
mod base;
mod commands;
mod habits;
mod help_groups;
mod open;
mod report;
mod terminal;

use arguments::CommandLine;
use base::error::Error;
use mcp_bash_terminal::complain;
use std::panic::Location;
use std::process::ExitCode;

/// By this, `bundle` and `vendor` know a file that is this program, and its version, without running it.
#[used]
static PROGRAM_MARK: &str = mcp_bash_packaging::MARK;

fn main() -> ExitCode {
    // Scripts without a jq find this program under that name, and call it often: nothing comes before it.
    let mut words = std::env::args_os();
    let called = words.next().unwrap_or_default();
    if std::path::Path::new(&called).file_name().is_some_and(|name| name == "jq") {
        return commands::jq::run(words);
    }
    let first = words.next().unwrap_or_default();
    if first == commands::completions::ASK {
        return commands::completions::answer(words, arguments::whole);
    }
    if first == mcp_bash_launchers::bridge::WORD {
        return mcp_bash_launchers::bridge::run(words);
    }
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    if let Some(code) = mcp_bash_sandbox::run_maker_if_asked().or_else(mcp_bash_sandbox::run_probe_if_asked) {
        return code;
    }
    // Before anything else: this program is also the warden, which cleans up after a server that was killed.
    mcp_bash_runner::warden::install();
    std::panic::set_hook(Box::new(|panic| {
        if let Some(failure) = open::startup::failure_of_runtime(panic) {
            complain(&failure.to_string());
            std::process::exit(base::exit::Exit::Failed.number().into());
        }
        complain(&own_fault(panic.location()));
    }));
    let result = if commands::bash_mcp::is_meant(&called) {
        commands::bash_mcp::run(&called)
    } else {
        CommandLine::read().and_then(CommandLine::run)
    };
    result.unwrap_or_else(|error: Error| {
        let problem = error.to_string();
        complain(&problem);
        if error.keeps_a_client_waiting() {
            open::failed_start::answer_first_request(&problem);
        }
        error.exit_code()
    })
}

/// What the user reads instead of a stack trace. The process exits with code 101.
fn own_fault(place: Option<&Location<'_>>) -> String {
    let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    format!("internal error{place} (version {version}); please report this line and what you ran")
}
