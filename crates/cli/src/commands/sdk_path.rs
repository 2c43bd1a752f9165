//! `mcp-bash sdk-path`: where the SDK is, for scripts that are run by hand: `MCP_SDK=$(mcp-bash sdk-path) tools/x/tool.sh`,
//! and for tests that call functions of Python and JavaScript.
//!
//! While a server runs, scripts find the SDK in its private folder. By hand there is no server, so the SDK is written to
//! the user's cache, once for each version.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::scaffold::Language;
use crate::terminal::print::print;
use mcp_bash_scripts::cached_home;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The language of the SDK: prints the PYTHONPATH for python, the module for `node --import` for node
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "bash")]
    lang: Language,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash sdk-path
  MCP_SDK=$(mcp-bash sdk-path) MCP_TOOL_ARGS_JSON='{\"name\":\"Ada\"}' tools/hello/tool.sh
  PYTHONPATH=$(mcp-bash sdk-path --lang python) python3 -m pytest
  node --import \"$(mcp-bash sdk-path --lang node)\" --test";

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let place = match arguments.lang {
        Language::Bash => "sdk",
        Language::Python => "sdk/python",
        Language::Node => "sdk/node/register.mjs",
    };
    print(&format!("{}\n", home()?.join(place).display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder that holds `sdk/`, complete and ours.
pub(crate) fn home() -> Result<PathBuf, Error> {
    cached_home().map_err(|error| Error::of_command(Exit::Failed, error))
}
