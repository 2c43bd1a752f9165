//! Command line of `run-tool`.

use crate::commands::call::arguments::CallOptions;
use std::ffi::OsString;
use std::path::PathBuf;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag that people write by its own name")]
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) options: CallOptions,

    /// Show what would run, and whether the arguments are valid, but run nothing
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) dry_run: bool,

    /// Print the paths that the tool would see, and run nothing
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) print_env: bool,

    /// Let this tool run even if it is not on the allowlist
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) allow_self: bool,

    /// Let this tool run even if it is not on the allowlist; may be repeated
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["command", "url"])]
    pub(super) allow: Vec<String>,

    /// Consent to the call, if the tool asks for that. It answers no question of the tool itself
    #[arg(short, long)]
    pub(super) yes: bool,

    /// Let every tool run, regardless of the allowlist
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) allow_all: bool,

    /// Source server.d/env.sh before the settings are read, like a shell that starts the server
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) with_server_env: bool,

    /// Source this file with bash before anything else, so that its exports take effect; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url"])]
    pub(super) source: Vec<PathBuf>,

    /// Behave like a server in minimal mode, which offers no tools
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) minimal: bool,

    /// Use only the tools in the registry, as it was last written
    #[arg(long, conflicts_with_all = ["command", "url"])]
    pub(super) no_refresh: bool,

    /// The tool, then its arguments: the flags that `run-tool TOOL --help` lists, key=value, or key:=JSON
    #[arg(
        value_name = "TOOL [ARGUMENT]...",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(super) words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash run-tool hello --args '{\"name\":\"Ada\"}'
  mcp-bash run-tool disk --path /var --top 5
  mcp-bash run-tool disk --help
  mcp-bash run-tool hello --allow-self --args @args.json
  mcp-bash run-tool hello --roots . --timeout 60 --verbose
  mcp-bash run-tool hello --dry-run

It prints the result as JSON. Exit codes: 0 a result that is no error, 1 the tool failed, 2 wrong arguments, 3 refused,
4 no such tool, 5 timed out, 6 no server, 130 interrupted. `mcp-bash call` shows results to people.";
