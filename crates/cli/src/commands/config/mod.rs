//! `mcp-bash config`: prints what a client needs to start a project, in the client's own format.

mod remote;
mod wrapper;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::own_entry::{EntryArguments, OwnEntry};
use crate::terminal::print::print;
use mcp_bash_entries::{CLIENTS, Client, ConfigFile, Entry, Replaced, Surroundings, UnknownClient, client};
use mcp_bash_harmless::shell_word;
use mcp_bash_terminal::tell;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags of which only one is given")]
pub(crate) struct Arguments {
    /// Print a snippet for each client; the default
    #[arg(long, group = "what")]
    show: bool,

    /// Print name, command, args and env as JSON
    #[arg(long, group = "what")]
    json: bool,

    /// Print the snippet for this client only
    #[arg(long, value_name = "NAME", group = "what")]
    client: Option<String>,

    /// Write a script that starts the project: into its folder on a terminal, otherwise to standard output
    #[arg(long, group = "what")]
    wrapper: bool,

    /// The same, for a script with the environment of your login shell
    #[arg(long, group = "what")]
    wrapper_env: bool,

    /// Print a command that opens the project in the MCP Inspector
    #[arg(long, group = "what")]
    inspector: bool,

    /// Print one-click install links, for one client or for all that support them
    #[arg(long, value_name = "CLIENT", group = "what", num_args = 0..=1, default_missing_value = "")]
    link: Option<String>,

    /// Point to a server at this URL (`mcp-bash serve --http`), instead of a command that starts one
    #[arg(long, value_name = "URL", conflicts_with_all = ["wrapper", "wrapper_env", "link", "env"])]
    http: Option<String>,

    /// The environment variable that contains the token for that server
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,

    #[command(flatten)]
    entry: EntryArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash config                          a snippet for each client
  mcp-bash config --client cursor          the one for Cursor
  mcp-bash config --link vscode            a link to click
  mcp-bash config --wrapper >start.sh      a script to start the project with
  mcp-bash config --client codex --http https://mcp.example.com/mcp --token-env MCP_TOKEN
                                           for a server that is served over HTTP

`mcp-bash install` writes the entry into the files of your clients.";

#[derive(Debug, thiserror::Error)]
enum ConfigError {
    #[error(transparent)]
    Client(#[from] UnknownClient),
    #[error("{} has no links that install a server; {}", .0.title, instead(.0))]
    NoLink(&'static Client),
    #[error("{} is there already; remove it, or send the script elsewhere: `mcp-bash config --wrapper | cat`", .0.display())]
    WrapperExists(PathBuf),
    #[error(
        "`{0}` is no address of a server; write it as `mcp-bash serve --http` prints it: http://127.0.0.1:8765/mcp"
    )]
    NoAddress(String),
    #[error("the variable {0} is not set, and {1} wants the token itself in its entry")]
    NoToken(String, &'static str),
    #[error("{} takes no address of a server; give it a command: `mcp-bash config --client {}`", .0.title, .0.name)]
    NoRemote(&'static Client),
    #[error(transparent)]
    Replaced(#[from] Replaced),
}

fn instead(client: &Client) -> String {
    if client.files.is_empty() {
        format!("run `mcp-bash config --client {}` and {}", client.name, client.then)
    } else {
        format!("use `mcp-bash install {}`", client.name)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let exit = match &error {
            ConfigError::Client(_) | ConfigError::NoAddress(_) | ConfigError::NoToken(..) => Exit::Usage,
            ConfigError::NoLink(_)
            | ConfigError::NoRemote(_)
            | ConfigError::Replaced(_)
            | ConfigError::WrapperExists(_) => Exit::Refused,
        };
        Self::of_command(exit, error)
    }
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if let Some(url) = &arguments.http {
        print(&remote::text(common, arguments, url)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let OwnEntry { root, folder, mut entry } = OwnEntry::new(common, &arguments.entry)?;
    if arguments.wrapper || arguments.wrapper_env {
        wrapper::make(&root, &entry, arguments.wrapper_env)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &arguments.link {
        print(&links(name, &entry)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    entry.env.splice(..0, reference_variables(&entry));
    let text = if arguments.json {
        format!("{:#}\n", described(&entry))
    } else if arguments.inspector {
        inspector(&entry)
    } else if let Some(name) = &arguments.client {
        let client = client(name).map_err(ConfigError::from)?;
        client.check_entry(&entry).map_err(ConfigError::from)?;
        alone(client, &entry)
    } else {
        all(&entry, &folder)
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The variables that mcp-bash in bash reads instead of the flag, so that a snippet starts either of the two.
fn reference_variables(entry: &Entry) -> Vec<(String, String)> {
    let root = entry.project_root().unwrap_or_default().to_owned();
    let variables = [("MCPBASH_PROJECT_ROOT", root), ("MCPBASH_TOOL_ALLOWLIST", "*".to_owned())];
    let is_set = |name: &str| entry.env.iter().any(|(known, _)| known == name);
    variables
        .into_iter()
        .filter(|(name, _)| !is_set(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn described(entry: &Entry) -> Value {
    let env: Map<String, Value> =
        entry.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    json!({ "name": entry.name, "command": entry.command, "args": entry.args, "env": env })
}

/// The snippet for one client. The one for `LibreChat` is JSON, which is also valid YAML: scripts written for mcp-bash in
/// bash parse it as such.
fn alone(client: &Client, entry: &Entry) -> String {
    let entry = adapted(client, entry);
    let json = (client.name == "librechat").then(|| client.json_snippet(&entry)).flatten();
    json.unwrap_or_else(|| client.snippet(&entry))
}

/// A snippet for each client, with the file that it belongs in.
fn all(entry: &Entry, folder: &Path) -> String {
    let surroundings = Surroundings::of_this_process();
    let place = |client: &'static Client| -> Option<String> {
        let scope = client.files.first()?.scope;
        let file = ConfigFile::find(client, scope, surroundings.as_ref()?, folder).ok()?;
        Some(file.path.display().to_string())
    };
    let one = |client: &'static Client| {
        let place = place(client).unwrap_or_else(|| client.then.to_owned());
        format!("# {}\n# {place}\n{}", client.title, client.snippet(&adapted(client, entry)))
    };
    taking(entry).map(one).collect::<Vec<_>>().join("\n")
}

/// The clients that accept the entry as it is. Reports the reason for the others.
fn taking(entry: &Entry) -> impl Iterator<Item = &'static Client> {
    CLIENTS.iter().filter(|client| match client.check_entry(entry) {
        Ok(()) => true,
        Err(replaced) => {
            tell(&format!("mcp-bash: {} is left out: {replaced}", client.title));
            false
        }
    })
}

fn adapted(client: &Client, entry: &Entry) -> Entry {
    Entry { name: client.adapted_name(&entry.name), ..entry.clone() }
}

fn links(name: &str, entry: &Entry) -> Result<String, ConfigError> {
    if name.is_empty() {
        let one = |client: &Client| {
            let links = client.links(&adapted(client, entry));
            (!links.is_empty()).then(|| format!("# {}\n{}\n", client.title, links.join("\n")))
        };
        return Ok(taking(entry).filter_map(one).collect::<Vec<_>>().join("\n"));
    }
    let client = client(name)?;
    client.check_entry(entry)?;
    match &*client.links(&adapted(client, entry)) {
        [] => Err(ConfigError::NoLink(client)),
        links => Ok(links.join("\n") + "\n"),
    }
}

/// A command line for a shell.
fn inspector(entry: &Entry) -> String {
    let variables =
        entry.env.iter().flat_map(|(name, value)| ["-e".to_owned(), shell_word(&format!("{name}={value}"))]);
    let words = [&entry.command].into_iter().chain(&entry.args).map(|word| shell_word(word));
    let variables: Vec<String> = variables.collect();
    format!(
        "npx @modelcontextprotocol/inspector {} --transport stdio -- {}\n",
        variables.join(" "),
        words.collect::<Vec<_>>().join(" ")
    )
}
