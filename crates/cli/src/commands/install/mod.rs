//! `mcp-bash install` and `uninstall`: this project in the configuration files of clients. Nothing else in a file changes,
//! and a backup is kept beside it.

mod choose;
mod error;
mod needed_variables;
mod outcome;
mod report;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::own_entry::{EntryArguments, OwnEntry};
use choose::{Choice, Found};
use error::InstallError;
use mcp_bash_entries::{Client, ConfigFile, Entry, Lock, Plan, Refusal, Remote, Scope, Surroundings, Token};
use mcp_bash_entries::{Target, Windows, has_entry, has_name};
use mcp_bash_entries::{client, entries, install, install_remote, installed_clients, uninstall};
use needed_variables::NeededVariables;
use outcome::{Done, Outcome};
use report::Report;
use serde_json::Value;
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The clients, such as `cursor` or `claude-code`; without any, lists those that were found
    #[arg(value_name = "CLIENT")]
    clients: Vec<String>,

    /// All clients found on this machine
    #[arg(long, conflicts_with = "clients")]
    all: bool,

    /// For you in all folders, for everyone in this folder, or (Claude Code) for you in this folder
    #[arg(long, value_enum, default_value_t = ScopeArgument::User)]
    scope: ScopeArgument,

    #[command(flatten)]
    entry: EntryArguments,

    /// Let the clients connect to a server that is running at this address, instead of starting one
    #[arg(long, value_name = "URL", conflicts_with = "env")]
    http: Option<String>,

    /// The environment variable with the token for the server of `--http`; the entry refers to it by name
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,

    /// Replace an entry of the same name that is not this project
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    system: ClientSystem,

    #[command(flatten)]
    manner: Manner,
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = UNINSTALL_EXAMPLES)]
pub(crate) struct UninstallArguments {
    /// The clients; without any, lists those that have this project
    #[arg(value_name = "CLIENT")]
    clients: Vec<String>,

    /// All clients that have this project
    #[arg(long, conflicts_with = "clients")]
    all: bool,

    /// Only entries of this scope [default: all scopes]
    #[arg(long, value_enum)]
    scope: Option<ScopeArgument>,

    /// The name of the entry [default: the name of the server]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The entry for the server at this address, as `install --http` wrote it
    #[arg(long, value_name = "URL")]
    http: Option<String>,

    #[command(flatten)]
    system: ClientSystem,

    #[command(flatten)]
    manner: Manner,
}

/// Where the clients run.
#[derive(Debug, Clone, clap::Args)]
struct ClientSystem {
    /// In WSL: the clients on Windows, which start the server with `wsl.exe`; HOME is the home folder of their user
    /// [default: that of the only user, in /mnt/c/Users]
    #[arg(long, value_name = "HOME", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "the flag may be absent, or be given without a value")]
    windows: Option<Option<PathBuf>>,
}

impl ClientSystem {
    fn windows(&self) -> Result<Option<Windows>, InstallError> {
        let Some(home) = &self.windows else { return Ok(None) };
        Ok(Some(Windows::find(home.clone(), std::env::var_os("WSL_DISTRO_NAME"))?))
    }
}

/// How a change is made and told.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Manner {
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Report as JSON
    #[arg(long)]
    json: bool,

    /// Take all clients that were found, without asking
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ScopeArgument {
    User,
    Project,
    Local,
}

impl From<ScopeArgument> for Scope {
    fn from(scope: ScopeArgument) -> Self {
        match scope {
            ScopeArgument::User => Self::User,
            ScopeArgument::Project => Self::Project,
            ScopeArgument::Local => Self::Local,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash install                             show the clients that are found, and ask
  mcp-bash install cursor claude-code          into these two
  mcp-bash install --all --dry-run             what would change, for all that are found
  mcp-bash install vscode --scope project      into .vscode/mcp.json of this folder
  mcp-bash install codex --env TOKEN=abc       with a variable
  mcp-bash install claude-desktop --windows    in WSL: into Claude Desktop on Windows
  mcp-bash install claude-code --http http://127.0.0.1:8765/mcp --token-env MCP_TOKEN
                                               a server that is running (`mcp-bash serve --http`)

docs/clients.md has a section for each client. Exit codes: 0 done, 1 failed, 2 usage, 3 refused.";

const UNINSTALL_EXAMPLES: &str = "\
Examples:
  mcp-bash uninstall                           show the clients that have this project, and ask
  mcp-bash uninstall cursor                    out of the files of Cursor
  mcp-bash uninstall --all --dry-run           what would change
  mcp-bash uninstall cursor --http URL         the entry for a server that is running

Exit codes: 0 done, 1 failed, 2 usage, 3 refused.";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let mut own = OwnEntry::new(common, &arguments.entry)?;
    let windows = arguments.system.windows()?;
    if windows.is_some() && arguments.scope != ScopeArgument::User {
        return Err(InstallError::WindowsScope.into());
    }
    let crossing = |entry: Entry| windows.as_ref().map_or(entry.clone(), |windows| windows.crossing(&entry));
    let surroundings = surroundings(windows.as_ref())?;
    let (scope, manner) = (Scope::from(arguments.scope), arguments.manner);
    let file = |client| ConfigFile::find(client, scope, &surroundings, &own.folder);
    let named_entry = |client: &Client| match &arguments.entry.name {
        Some(name) => Ok(Entry { name: client.checked_name(name)?, ..own.entry.clone() }),
        None => Ok(Entry { name: client.adapted_name(&own.entry.name), ..own.entry.clone() }),
    };
    let clients = if arguments.clients.is_empty() {
        let found = installed_clients(&surroundings).into_iter().filter_map(|client| file(client).ok());
        let found: Vec<Found> = found
            .map(|file| {
                let name =
                    arguments.entry.name.clone().unwrap_or_else(|| file.client.adapted_name(&own.entry.name));
                let known = entries(&file).unwrap_or_default();
                let is_ours = |known: &Entry| known.name == name && known.points_at(&own.root);
                Found { has_entry: known.iter().any(is_ours), file }
            })
            .collect();
        match choose::choose("install", &found, arguments.all || manner.yes, manner.json)? {
            Choice::Clients(clients) => clients,
            Choice::Nothing(exit) => return Ok(exit),
        }
    } else {
        named(&arguments.clients)?
    };
    let needed =
        if arguments.http.is_none() { NeededVariables::of(common) } else { NeededVariables::default() };
    // Contradictions are refused before anything is written.
    let mut targets = Vec::new();
    for client in clients {
        let entry = named_entry(client).map_err(InstallError::Name)?;
        let remote = arguments.remote(&entry.name, client)?;
        if remote.is_none() {
            client.check_entry(&entry).map_err(InstallError::from)?;
        }
        let file = file(client).map_err(InstallError::from)?;
        let lacking = needed.lacking(&file, &entry);
        targets.push((file, entry, remote, lacking));
    }
    let may_ask = !(manner.yes || manner.json || manner.dry_run || common.quiet);
    let answers = if may_ask { needed.ask(targets.iter().map(|target| &*target.3))? } else { Vec::new() };
    let mut told = Vec::new();
    for (file, entry, _, lacking) in &mut targets {
        entry.env.extend(answers.iter().filter(|(name, _)| lacking.contains(name)).cloned());
        if !answers.is_empty() {
            file.client.check_entry(entry).map_err(InstallError::from)?;
        }
        lacking.retain(|name| !answers.iter().any(|(known, _)| known == name));
        for name in &*lacking {
            file.client.supply_variable(entry, name);
        }
        told.push((file.client, lacking.clone()));
    }
    own.entry = crossing(own.entry);
    let outcomes = targets.into_iter().map(|(file, entry, remote, _)| {
        let entry = crossing(entry);
        let plan = || match &remote {
            Some(RemoteEntry { remote, value, .. }) => install_remote(&file, remote, value, arguments.force),
            None => install(&file, &entry, arguments.force),
        };
        let done = done(&file, manner.dry_run, plan);
        let snippet = remote.map_or_else(|| file.snippet(&entry), |remote| remote.snippet);
        Outcome { snippet, name: entry.name, file, done }
    });
    let report = Report { verb: "install", entry: &own.entry, outcomes: outcomes.collect() };
    report.print(common, manner.json)?;
    if !manner.json && !common.quiet {
        needed.tell(&told);
    }
    Ok(report.exit().into())
}

/// An entry for a server that is running: as its client wants it, and for the user to paste.
struct RemoteEntry {
    remote: Remote,
    value: Value,
    snippet: String,
}

impl Arguments {
    /// The entry for the server of `--http`, if there is one. A file never receives a token, only the name of its variable.
    fn remote(&self, name: &str, client: &'static Client) -> Result<Option<RemoteEntry>, InstallError> {
        let Some(url) = &self.http else { return Ok(None) };
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let is_plain =
            |rest: &str| !rest.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control());
        if !rest.is_some_and(is_plain) {
            return Err(InstallError::NoAddress(url.clone()));
        }
        if self.token_env.is_some() && client.wants_token_itself() && !client.asks_for_token() {
            return Err(InstallError::PlainToken(client));
        }
        let token = self.token_env.clone().map(|variable| Token { variable, value: String::new() });
        let remote = Remote { name: name.to_owned(), url: url.clone(), token };
        client.check_remote(&remote)?;
        let both = client.remote_value(&remote).zip(client.remote_snippet(&remote));
        let (value, snippet) = both.ok_or(InstallError::NoRemote(client))?;
        Ok(Some(RemoteEntry { remote, value, snippet }))
    }
}

pub(crate) fn run_uninstall(common: &Common, arguments: &UninstallArguments) -> Result<ExitCode, Error> {
    let name = EntryArguments { name: arguments.name.clone(), env: Vec::new() };
    let own = OwnEntry::new(common, &name)?;
    let windows = arguments.system.windows()?;
    let (surroundings, manner) = (surroundings(windows.as_ref())?, arguments.manner);
    let entry_name =
        |client: &Client| arguments.name.clone().unwrap_or_else(|| client.adapted_name(&own.entry.name));
    let is_meant = |file: &ConfigFile| arguments.scope.is_none_or(|scope| file.scope == Scope::from(scope));
    let files = |client| ConfigFile::existing(client, &surroundings, &own.folder).filter(is_meant);
    let target = arguments.http.as_deref().map_or(Target::Project(&own.root), Target::Address);
    let has_ours = |file: &ConfigFile| has_entry(file, &entry_name(file.client), target).unwrap_or(false);
    let clients = if arguments.clients.is_empty() {
        let all = mcp_bash_entries::CLIENTS.iter().flat_map(files).filter(has_ours);
        let found: Vec<Found> = all.map(|file| Found { has_entry: true, file }).collect();
        match choose::choose("uninstall", &found, arguments.all || manner.yes, manner.json)? {
            Choice::Clients(clients) => clients,
            Choice::Nothing(exit) => return Ok(exit),
        }
    } else {
        named(&arguments.clients)?
    };
    let mut outcomes = Vec::new();
    for client in clients {
        if let Some(scope) = arguments.scope {
            ConfigFile::find(client, scope.into(), &surroundings, &own.folder).map_err(InstallError::from)?;
        }
        let name = entry_name(client);
        let mut with_entry: Vec<ConfigFile> =
            files(client).filter(|file| has_name(file, &name).unwrap_or(true)).collect();
        // An unreadable file is reported, once for two scopes.
        let mut unreadable = HashSet::new();
        with_entry.retain(|file| entries(file).is_ok() || unreadable.insert(file.path.clone()));
        if with_entry.is_empty() {
            let scope = client.files.first().map_or(Scope::User, |file| file.scope);
            let file = ConfigFile::find(
                client,
                arguments.scope.map_or(scope, Into::into),
                &surroundings,
                &own.folder,
            );
            let file = file.map_err(InstallError::from)?;
            outcomes.push(Outcome {
                snippet: String::new(),
                name: name.clone(),
                file,
                done: Ok(Done::Nothing),
            });
        }
        for file in with_entry {
            let done = done(&file, manner.dry_run, || uninstall(&file, &name, target));
            outcomes.push(Outcome { snippet: String::new(), name: name.clone(), file, done });
        }
    }
    let report = Report { verb: "uninstall", entry: &own.entry, outcomes };
    report.print(common, manner.json)?;
    Ok(report.exit().into())
}

fn surroundings(windows: Option<&Windows>) -> Result<Surroundings, Error> {
    let of_clients = || windows.map(Windows::surroundings).or_else(Surroundings::of_this_process);
    of_clients().ok_or_else(|| Error::of_command(Exit::Usage, InstallError::NoHome))
}

/// The clients with these names, each once.
fn named(names: &[String]) -> Result<Vec<&'static Client>, InstallError> {
    let mut clients: Vec<&'static Client> = Vec::new();
    for name in names {
        let client = client(name)?;
        if !clients.contains(&client) {
            clients.push(client);
        }
    }
    Ok(clients)
}

/// Makes the change, unless it is only shown.
fn done(
    file: &ConfigFile,
    dry_run: bool,
    plan: impl FnOnce() -> Result<Plan, Refusal>,
) -> Result<Done, Refusal> {
    let _lock = (!dry_run).then(|| Lock::wait(file));
    match plan()? {
        Plan::Nothing => Ok(Done::Nothing),
        Plan::Change(change) => {
            let removed_file = change.removes_file();
            if dry_run {
                return Ok(Done::Shown { difference: change.difference(), removed_file });
            }
            Ok(Done::Changed { backup: change.make()?, removed_file })
        }
    }
}
