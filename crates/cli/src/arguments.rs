//! The command line: which command is meant, and what all commands share. What a command takes stands with the command.

use crate::error::Error;
use crate::{ask, demo, download, health, import, jq, provider, registry, serve};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A folder of scripts becomes a Model Context Protocol server.
///
/// Without a command it serves a project over standard input and output: the folder that is named here or by
/// `MCPBASH_PROJECT_ROOT`, else the current folder if it is a project, else the nearest one above that has
/// `server.d/server.meta.json`, else a built-in one to get started with.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", version, override_usage = USAGE, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    common: Common,

    #[command(flatten)]
    serve: serve::Arguments,

    #[command(subcommand)]
    command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// The project: the folder that holds `tools/`, `resources/`, `prompts/` or `server.d/`
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project_root: Option<PathBuf>,

    /// Say only what was asked for, and what went wrong
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Say more about what is done
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a project, as without a command
    Serve(serve::Arguments),

    /// Show an exchange between a client and the server on its built-in project
    Demo,

    /// Check the project and say whether it is ready to be served: exit 0 ready, 1 unhealthy, 2 misconfigured
    #[command(visible_alias = "ready")]
    Health(health::Arguments),

    /// Make tools of a justfile, a Makefile, package.json scripts, a Taskfile or a program's `--help`
    Import(import::Arguments),

    /// Write the registry of a project, or say what it holds
    #[command(subcommand)]
    Registry(registry::Arguments),

    /// Check an executable that provides tools; for scripts, read what a URI names
    #[command(subcommand)]
    Provider(provider::Arguments),

    /// Run jq, as scripts do on a machine that has none
    #[command(disable_help_flag = true)]
    Jq(jq::Arguments),

    /// For scripts: ask the client of the call that runs this, and print its answer as JSON
    Ask(ask::Arguments),

    /// For scripts: download a file from an allowed public host, and print the outcome as JSON
    Download(download::Arguments),
}

/// A command line that only serves, which is what clients have: read without building what the commands take.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", disable_help_flag = true)]
struct ServeAlone {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    serve: serve::Arguments,
}

impl CommandLine {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Self, Error> {
        let words = with_commands_for_flags(std::env::args_os().collect());
        let first = words.get(1).cloned().unwrap_or_default();
        let no_command = is_flag(&first) || first.as_encoded_bytes().contains(&b'/');
        if no_command && let Ok(ServeAlone { common, serve }) = ServeAlone::try_parse_from(&words) {
            return Self { common, serve, command: None }.checked();
        }
        match Self::try_parse_from(&words) {
            Ok(arguments) => arguments.checked(),
            // Of two words that clap could complain about the first one counts: `intit --name x` is no folder called
            // `intit` with a wrong flag.
            Err(error) if error.use_stderr() && is_neither_folder_nor_command(&first) => {
                Err(neither_folder_nor_command(&first))
            }
            Err(error) => error.exit(),
        }
    }

    /// The same with a folder that stands alone as the project; or what makes no sense together.
    fn checked(mut self) -> Result<Self, Error> {
        let is_demo = matches!(self.command, Some(Command::Demo));
        match (&self.serve.folder, &self.command) {
            (Some(folder), _) if !folder.is_dir() => Err(neither_folder_nor_command(folder.as_os_str())),
            (folder, Some(_)) if is_demo && (folder.is_some() || self.common.project_root.is_some()) => {
                Err(Error::DemoOfFolder)
            }
            (Some(folder), Some(command)) => {
                Err(Error::FolderBeforeCommand { folder: folder.clone(), command: command.name() })
            }
            (_, None) => {
                self.serve.take_folder(&mut self.common)?;
                Ok(self)
            }
            (None, Some(_)) => Ok(self),
        }
    }

    /// Does what the command line says.
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let Self { mut common, serve, command } = self;
        let Some(command) = command else { return serve::run(&common, &serve) };
        match command {
            Command::Serve(mut arguments) => {
                arguments.take_folder(&mut common)?;
                serve::run(&common, &arguments)
            }
            Command::Demo => demo::run(),
            Command::Health(arguments) => Ok(health::run(&common, &arguments)),
            Command::Import(arguments) => import::run(&common, &arguments),
            Command::Registry(arguments) => registry::run(&common, &arguments),
            Command::Provider(arguments) => provider::run(&common, &arguments),
            Command::Jq(arguments) => Ok(jq::run(arguments.words.into_iter())),
            Command::Ask(arguments) => ask::run(&arguments),
            Command::Download(arguments) => download::run(&arguments),
        }
    }
}

/// The command line as clap knows it: all commands with what they take.
pub(crate) fn whole() -> clap::Command {
    CommandLine::command()
}

/// The words with the commands that used to be flags: `--health` and `--ready`; and `-v` alone is `--version`, as mcp-bash
/// had it.
fn with_commands_for_flags(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.len() == 2 && words[1] == "-v" {
        words[1] = "--version".into();
    }
    if let Some(flag) = words.iter().position(|word| word == "--health" || word == "--ready") {
        words.remove(flag);
        words.insert(1, "health".into());
    }
    words
}

fn is_flag(word: &OsStr) -> bool {
    word.is_empty() || word.as_encoded_bytes().starts_with(b"-")
}

fn is_neither_folder_nor_command(word: &OsStr) -> bool {
    !is_flag(word) && !Path::new(word).is_dir() && whole().find_subcommand(word).is_none()
}

fn neither_folder_nor_command(word: &OsStr) -> Error {
    Error::NeitherFolderNorCommand(word.into())
}

impl Command {
    fn name(&self) -> &'static str {
        match self {
            Self::Serve(_) => "serve",
            Self::Demo => "demo",
            Self::Health(_) => "health",
            Self::Import(_) => "import",
            Self::Registry(_) => "registry",
            Self::Provider(_) => "provider",
            Self::Jq(_) => "jq",
            Self::Ask(_) => "ask",
            Self::Download(_) => "download",
        }
    }
}

const USAGE: &str = "\
mcp-bash [OPTIONS] [DIR]
       mcp-bash COMMAND [OPTIONS]";

const AFTER_HELP: &str = "\
Put this command into your MCP client's configuration:
  mcp-bash --project-root /path/to/your/project
See a server and a client at work:
  mcp-bash demo

Settings are environment variables; docs/settings.md lists them all.";
