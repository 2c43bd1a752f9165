//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A folder of scripts becomes a Model Context Protocol server.
///
/// Without a subcommand it serves a project over standard input and output: the one named by `--project-root` or
/// `MCPBASH_PROJECT_ROOT`, else the current folder if it is a project, else the nearest one above that has
/// `server.d/server.meta.json`, else a built-in one to get started with.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The folder to serve: it holds `tools/`, and `server.d/` if it likes
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project_root: Option<PathBuf>,

    /// Write the log to this file as well; nobody else may read it
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,

    /// The folders that scripts may work in where the client names none, with commas between them
    #[arg(long, value_name = "DIRS")]
    pub(crate) roots: Option<String>,

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

    /// Run jq, the way scripts do that find none on this machine
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Jq {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<std::ffi::OsString>,
    },

    /// Ask the client of the call this is run in, as the SDKs do: prints its answer as JSON
    Ask {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`
        method: String,
        /// The params as JSON, or `-` to read them from standard input
        params: String,
        /// Seconds to wait for an answer
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        timeout: u64,
    },

    /// Download a file for a script, from allowed hosts on the public internet only: prints what came of it as JSON
    Download(DownloadArguments),

    /// Look after executables that provide tools
    #[command(subcommand)]
    Provider(ProviderCommand),
}

#[derive(Debug, Args)]
pub(crate) struct DownloadArguments {
    /// Where the file is: an https URL
    pub(crate) url: String,
    /// Where to write it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The most bytes it may have
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_bytes: Option<u64>,
    /// Seconds it may take
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// How often to try
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub(crate) retry: u32,
    /// Seconds before the second try; each further one waits twice as long
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) retry_delay: f64,
    /// A host it may come from, instead of those in `MCPBASH_HTTPS_ALLOW_HOSTS`
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// A host it may not come from, besides those in `MCPBASH_HTTPS_DENY_HOSTS`
    #[arg(long, value_name = "HOST")]
    pub(crate) deny_host: Vec<String>,
    /// What to call ourselves
    #[arg(long, value_name = "WORDS")]
    pub(crate) user_agent: Option<String>,
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
    /// Read the project and write its registry: exit 0 when all of it is written, 1 when something was skipped or failed
    Refresh(RefreshArguments),
    /// Say what the registry holds
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshArguments {
    /// Read only this folder of tools, resources or prompts, and keep what is known of the rest
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
