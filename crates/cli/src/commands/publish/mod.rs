//! `mcp-bash publish`: makes the entry of a server in the MCP registry, checks it by the registry's rules, and sends it.

mod bundles;
mod entry;
mod post;
mod token;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::{print, print_json};
use mcp_bash_packaging::server_json_problems;
use mcp_bash_terminal::harmless;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Bundles of the same version, as `mcp-bash bundle` makes them [default: what the project declares in `registry`]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where users download the bundle; for several files, the URL of their folder [default: the release of the version on
    /// GitHub]
    #[arg(long, requires = "files")]
    url: Option<String>,

    /// The name in the registry, NAMESPACE/NAME [default: `registry.name` of the project, otherwise
    /// `io.github.OWNER/NAME` of its repository]
    #[arg(long)]
    name: Option<String>,

    /// Print the entry, `server.json`, and send nothing
    #[arg(long)]
    dry_run: bool,

    /// The file with the token of the registry, such as `~/.mcp_publisher_token` [default: `MCP_REGISTRY_TOKEN`]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// How long the registry may take to answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash publish tracker-1.0.0-linux-x86_64.mcpb --dry-run    print server.json
  mcp-bash publish dist/*.mcpb --token-file ~/.mcp_publisher_token
  mcp-bash publish --dry-run                                    packages and remotes that the project declares

`mcp-publisher login github` writes the token to ~/.mcp_publisher_token. MCP_REGISTRY_URL names another registry.
Exit codes: 0 published, 1 refused or not valid, 2 called the wrong way, 3 the token is missing or refused, 5 no answer in
time, 6 the registry cannot be reached (docs/publishing.md)";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let entry = entry::read(common, arguments)?;
    let json = entry.json();
    let problems = server_json_problems(&json);
    if !problems.is_empty() {
        if arguments.dry_run {
            print_json(&format!("{json:#}"))?;
        }
        let words = format!("the registry would refuse it: {}", problems.join("; "));
        return Err(Error::of_command(Exit::Failed, words));
    }
    if arguments.dry_run {
        print_json(&format!("{json:#}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let registry = post::Registry::of_environment()?;
    let token = token::read(arguments.token_file.as_deref())?;
    registry.publish(&json, &token, Duration::from_secs(arguments.timeout))?;
    if !common.quiet {
        print(&harmless(&format!("Published {} {} at {registry}\n", entry.name, entry.version)))?;
    }
    Ok(ExitCode::SUCCESS)
}
