//! `mcp-bash sdk-path`: where the SDK is, for a script that is run by hand: `MCP_SDK=$(mcp-bash sdk-path) tools/x/tool.sh`.
//!
//! While a server runs, scripts find the SDK in its private folder. By hand there is no server, so the SDK is written to the
//! cache of the user, once for each version of it.

use crate::call::show;
use crate::error::Error;
use crate::exit::Exit;
use mcp_bash_scripts::cached_home;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

const EXAMPLES: &str = "\
Examples:
  mcp-bash sdk-path
  MCP_SDK=$(mcp-bash sdk-path) MCP_TOOL_ARGS_JSON='{\"name\":\"Ada\"}' tools/hello/tool.sh";

pub(crate) fn run() -> Result<ExitCode, Error> {
    show::print(&format!("{}\n", home()?.join("sdk").display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder that holds `sdk/`, complete and ours.
pub(crate) fn home() -> Result<PathBuf, Error> {
    cached_home().map_err(|error| Error::of_command(Exit::Failed, error))
}
