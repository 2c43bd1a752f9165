//! The command line.

use crate::error::Error;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder of scripts becomes a Model Context Protocol server.
///
/// Without a command it serves a project over standard input and output: the folder that is named here or by
/// `MCPBASH_PROJECT_ROOT`, else the current folder if it is a project, else the nearest one above that has
/// `server.d/server.meta.json`, else a built-in one to get started with.
#[derive(Debug, Clone, Parser)]
#[command(name = "mcp-bash", version, override_usage = USAGE, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The folder to serve, as with `--project-root`
    #[arg(value_name = "DIR", conflicts_with = "project_root")]
    folder: Option<PathBuf>,

    /// The project: the folder that holds `tools/`, `resources/`, `prompts/` or `server.d/`
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project_root: Option<PathBuf>,

    /// Write the log to this file as well, which is made so that nobody else may read it
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,

    /// The folders that scripts may work in, separated by commas, where the client names none
    #[arg(long, value_name = "DIRS")]
    pub(crate) roots: Option<String>,

    /// Check the project and say whether it is ready to be served: exit 0 ready, 1 unhealthy, 2 misconfigured
    #[arg(long, alias = "ready")]
    pub(crate) health: bool,

    /// With `--health`: report as JSON, as it is where standard output is no terminal
    #[arg(long, requires = "health")]
    pub(crate) json: bool,

    /// With `--health`: the time that all checks together may take; longer is unhealthy
    #[arg(long, value_name = "SECONDS", requires = "health")]
    pub(crate) timeout: Option<u64>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Arguments {
    /// Reads the command line. Where nothing can be made of it, of two words that clap could complain about the first one
    /// counts: `init --name x` is no folder called `init` with a wrong flag.
    pub(crate) fn read() -> Result<Self, Error> {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let first = words.get(1).cloned().unwrap_or_default();
        // The commands of mcp-bash for what is a flag here.
        if first == "health" || first == "ready" {
            words[1] = "--health".into();
        }
        match Self::try_parse_from(words) {
            Ok(arguments) => arguments.checked(),
            Err(error) if error.use_stderr() && is_neither_folder_nor_command(&first) => {
                Err(Error::NeitherFolderNorCommand(first.into()))
            }
            Err(error) => error.exit(),
        }
    }

    /// The same with a folder that stands alone as the project; or what makes no sense together.
    fn checked(mut self) -> Result<Self, Error> {
        match (self.folder.take(), &self.command) {
            (Some(folder), _) if !folder.is_dir() => return Err(Error::NeitherFolderNorCommand(folder)),
            (Some(_), Some(Command::Demo)) => return Err(Error::DemoOfFolder),
            (Some(folder), Some(command)) => {
                return Err(Error::FolderBeforeCommand { folder, command: command.name() });
            }
            (Some(folder), None) => self.project_root = Some(folder),
            (None, Some(Command::Demo)) if self.project_root.is_some() => return Err(Error::DemoOfFolder),
            (None, _) => {}
        }
        Ok(self)
    }
}

fn is_neither_folder_nor_command(word: &OsString) -> bool {
    let is_flag = word.is_empty() || word.as_encoded_bytes().starts_with(b"-");
    !is_flag && !Path::new(word).is_dir() && Arguments::command().find_subcommand(word).is_none()
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Show an exchange between a client and the server on its built-in project
    Demo,

    /// Write the registry of a project, or say what it holds
    #[command(subcommand)]
    Registry(RegistryCommand),

    /// Run jq, as scripts do on a machine that has none
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Jq {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },

    /// For scripts: ask the client of the call that runs this, and print its answer as JSON
    Ask {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`
        method: String,
        /// The params as JSON, or `-` to read them from standard input
        params: String,
        /// Seconds to wait for an answer
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        timeout: u64,
    },

    /// For scripts: download a file from an allowed public host, and print the outcome as JSON
    Download(DownloadArguments),

    /// Check an executable that provides tools; for scripts, read what a URI names
    #[command(subcommand)]
    Provider(ProviderCommand),
}

impl Command {
    fn name(&self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Registry(_) => "registry",
            Self::Jq { .. } => "jq",
            Self::Ask { .. } => "ask",
            Self::Download(_) => "download",
            Self::Provider(_) => "provider",
        }
    }
}

#[derive(Debug, Clone, Args)]
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

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Say whether an executable provides tools as it should, and what a client would see: exit 0 if it does, 1 if not
    Check {
        /// The executable, which answers `list` with a JSON object for each of its tools
        file: PathBuf,
    },
    /// For scripts: print what a URI (`file:`, `https:`, `git+https:`, `echo:`) names, within the limits of a server
    Read { uri: String },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Read the project and write its registry: exit 0 when all of it is written, 1 when something was skipped or failed
    Refresh(RefreshArguments),
    /// Say what the registry holds
    Status,
}

#[derive(Debug, Clone, Args)]
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

const USAGE: &str = "\
mcp-bash [OPTIONS] [DIR]
       mcp-bash [OPTIONS] COMMAND";

const AFTER_HELP: &str = "\
Put this command into your MCP client's configuration:
  mcp-bash --project-root /path/to/your/project
See a server and a client at work:
  mcp-bash demo

Settings are environment variables; docs/settings.md lists them all.";
