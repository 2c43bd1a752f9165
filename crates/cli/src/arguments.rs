//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A folder of scripts becomes a Model Context Protocol server.
///
/// Without a subcommand it serves a project over standard input and output: the one named by `--project-root` or
/// `MCPBASH_PROJECT_ROOT`, else the nearest parent folder that is a project, else a built-in one to get started with.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The folder to serve: it holds `tools/`, and `server.d/` if it likes
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project_root: Option<PathBuf>,

    /// Say whether the project is ready to be served, as JSON: exit 0 ready, 1 unhealthy, 2 misconfigured
    #[arg(long, alias = "ready")]
    pub(crate) health: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server on its built-in project, talk to it as a client would, and show the exchange
    Demo,

    /// Write the registry of a project anew, or look at it
    #[command(subcommand)]
    Registry(RegistryCommand),

    /// Look after executables that provide tools
    #[command(subcommand)]
    Provider(ProviderCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Say whether an executable provides tools as it should, and what a client would see: exit 0 if it does, 1 if not
    Check {
        /// The executable, which answers `list` with a JSON object for each of its tools
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Read the project and write its registry: exit 0 when it is written, 1 when it is not
    Refresh(RefreshArguments),
    /// Say what the registry holds
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshArguments {
    /// Read only this part of the tools folder, and keep what is known of the rest
    #[arg(long, value_name = "PATH")]
    pub(crate) filter: Option<PathBuf>,

    /// Do not say what was skipped
    #[arg(long)]
    pub(crate) quiet: bool,

    /// Accepted for older scripts: a server that runs notices changes by itself
    #[arg(long)]
    no_notify: bool,
}

const AFTER_HELP: &str = "\
Put this command into your MCP client's configuration:
  mcp-bash --project-root /path/to/your/project

Settings are environment variables; docs/settings.md lists them all.";
