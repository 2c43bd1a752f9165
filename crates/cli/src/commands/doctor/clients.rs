//! Clients on this machine: whether their files can be read, and whether the entries that start us work.

use super::diagnosis::Diagnosis;
use super::start::{Answered, try_to_start};
use crate::open::own_entry::own_command;
use crate::open::search_path::DESKTOP;
use crate::report::Group;
use crate::report::finding::{Finding, Fix};
use mcp_bash_client::Launch;
use mcp_bash_entries::{
    Client, ConfigFile, Entry, Plan, Surroundings, all_entries, install, installed_clients,
};
use mcp_bash_harmless::shell_word;
use mcp_bash_terminal::words::{counted, time};
use rustix::fs::{Access, access};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The timeout for a server's answer.
const LIMIT: Duration = Duration::from_secs(10);

/// The least patient client gives up after this.
const SLOW: Duration = Duration::from_secs(5);

/// The variables that a client passes to servers if it does not pass all of its own; `PATH` as well.
const GIVEN: [&str; 5] = ["HOME", "LOGNAME", "SHELL", "TERM", "USER"];

/// An entry that starts us, and its place.
struct Own {
    file: ConfigFile,
    entry: Entry,
}

/// The state of an entry before it is started.
enum Standing {
    /// It can be started.
    Startable,
    /// Why it cannot.
    Broken(Finding),
    /// Only the client can start it.
    ForClientOnly(Finding),
}

pub(super) fn look(report: &mut Diagnosis, project: Option<&Path>) {
    let Some(surroundings) = Surroundings::of_this_process() else {
        let check = Finding::warning("clients.no_home", "HOME is not set: clients cannot be looked for")
            .remedy("set HOME to your own folder");
        report.add(Group::new("Clients", vec![check]));
        report.fact("clients", json!([]));
        return;
    };
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let folder = project.unwrap_or(&here);
    let (mut checks, mut facts) = (Vec::new(), Vec::new());
    for client in installed_clients(&surroundings) {
        let (mut broken, mut own, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for (file, entries) in all_entries(client, &surroundings, folder) {
            match entries {
                Ok(entries) => {
                    let ours = entries.into_iter().filter(is_ours);
                    own.extend(ours.map(|entry| Own { file: file.clone(), entry }));
                }
                Err(error) if seen.insert(file.path.clone()) => {
                    broken.push(unreadable(&file, &error.to_string()));
                }
                Err(_) => {}
            }
        }
        let has_project = project.is_some_and(|root| own.iter().any(|own| own.entry.points_at(root)));
        let is_broken = !broken.is_empty();
        checks.append(&mut broken);
        let (of_entries, entry_facts): (Vec<Vec<Finding>>, Vec<Value>) =
            examine_all(&own).into_iter().unzip();
        checks.extend(of_entries.into_iter().flatten());
        if project.is_some() && !has_project && !is_broken && !client.files.is_empty() {
            let words = format!("{} is here, and does not have this project", client.title);
            checks.push(
                Finding::note("clients.without", words).command(format!("mcp-bash install {}", client.name)),
            );
        }
        facts.push(json!({ "name": client.name, "title": client.title, "readable": !is_broken, "entries": entry_facts }));
    }
    if facts.is_empty() {
        checks.push(Finding::note("clients.none", "no client was found on this machine"));
    }
    report.add(Group::new("Clients", checks));
    report.fact("clients", Value::Array(facts));
}

fn unreadable(file: &ConfigFile, why: &str) -> Finding {
    let why = why.strip_suffix("; nothing was changed").unwrap_or(why);
    Finding::error("clients.file_broken", format!("{} cannot read its file: {why}", file.client.title))
        .remedy("fix it there: most clients start no server at all while it is broken")
}

/// Whether an entry starts this program, or one of its name.
fn is_ours(entry: &Entry) -> bool {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    entry.starts_mcp_bash()
        || Path::new(&entry.command).canonicalize().ok().is_some_and(|path| Some(path) == own)
}

/// The entries, each examined and started, all at the same time; one after the other where the system has no threads left.
fn examine_all(own: &[Own]) -> Vec<(Vec<Finding>, Value)> {
    std::thread::scope(|scope| {
        let start =
            |own| (own, std::thread::Builder::new().spawn_scoped(scope, move || Own::examine(own)).ok());
        let started: Vec<_> = own.iter().map(start).collect();
        let examined = started.into_iter().filter_map(|(own, thread)| match thread {
            Some(thread) => thread.join().ok(),
            None => Some(own.examine()),
        });
        examined.collect()
    })
}

impl Own {
    fn examine(&self) -> (Vec<Finding>, Value) {
        let mut facts = json!({
            "name": self.entry.name,
            "file": self.file.path.to_string_lossy(),
            "scope": self.file.scope.name(),
            "command": self.entry.command,
            "projectRoot": self.entry.project_root(),
            "starts": null,
        });
        let mut checks = Vec::new();
        match self.standing() {
            Standing::ForClientOnly(check) => checks.push(check),
            Standing::Broken(check) => {
                facts["starts"] = json!(false);
                checks.push(check);
            }
            Standing::Startable => {
                let started = try_to_start(self.launch(), LIMIT);
                facts["starts"] = json!(started.is_ok());
                if let Ok(answered) = &started {
                    facts["tools"] = json!(answered.tools);
                    facts["milliseconds"] = json!(answered.took.as_millis());
                }
                checks.push(self.judged(started));
            }
        }
        // A package runner is called by its name, see `PackageRunner::starts_by_path`.
        if !Path::new(&self.entry.command).is_absolute() && self.entry.runner().is_none() {
            let words = format!(
                "{} is configured to start `{}`, which only some search paths have",
                self.place(),
                self.entry.command
            );
            let check =
                Finding::warning("clients.relative_command", words).remedy("let it name the whole path");
            checks.push(check.command(self.install_command()));
        }
        (checks, facts)
    }

    /// The client and the entry, for messages.
    fn place(&self) -> String {
        format!("{}: `{}` in {}", self.client().title, self.entry.name, self.file.path.display())
    }

    fn client(&self) -> &'static Client {
        self.file.client
    }

    fn install_command(&self) -> String {
        match self.entry.project_root() {
            Some(root) => {
                format!("mcp-bash install {} --project-root {}", self.client().name, shell_word(root))
            }
            None => format!("mcp-bash install {}", self.client().name),
        }
    }

    fn standing(&self) -> Standing {
        let Entry { command, args, env, .. } = &self.entry;
        let values = env.iter().map(|(_, value)| value);
        if [command]
            .into_iter()
            .chain(args)
            .chain(values)
            .any(|text| text.contains("${") || text.contains("$("))
        {
            let words =
                format!("{} was not started: it has variables that only the client fills in", self.place());
            return Standing::ForClientOnly(Finding::note("clients.not_tried", words));
        }
        let path = Path::new(command);
        if path.is_absolute() && access(path, Access::EXEC_OK).is_err() {
            let words = format!("{} starts {command}, which is not there or no program", self.place());
            let check = Finding::error("clients.moved", words).command(self.install_command());
            return Standing::Broken(match self.reinstalled() {
                Some(fix) => check.fix(fix),
                None => check,
            });
        }
        match self.entry.project_root() {
            Some(root) if !Path::new(root).is_dir() => Standing::Broken(
                Finding::error(
                    "clients.project_missing",
                    format!("{} serves {root}, which is no folder", self.place()),
                )
                .remedy(format!(
                    "take the entry out, or put the project in its place from where it is now: \
                     `mcp-bash install {} --force`",
                    self.client().name
                )),
            ),
            _ => Standing::Startable,
        }
    }

    /// The fix that replaces a missing program with this one.
    fn reinstalled(&self) -> Option<Fix> {
        self.entry.project_root().filter(|root| Path::new(root).is_dir())?;
        let own = own_command().ok()?;
        let command = own.program.to_str()?.to_owned();
        let args = own.words.iter().chain(self.entry.split_args().1).cloned().collect();
        let entry = Entry { command: command.clone(), args, ..self.entry.clone() };
        let (file, message) = (self.file.clone(), format!("let {} start {command}", self.place()));
        let apply = move || match install(&file, &entry, false) {
            Ok(Plan::Nothing) => Ok(()),
            Ok(Plan::Change(change)) => change.make().map(|_| ()).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        Some(Fix { message, command: Some(self.install_command()), apply: Box::new(apply) })
    }

    /// How the client starts it: with few variables and a bare `PATH` unless it passes all of its own, and in any folder.
    fn launch(&self) -> Launch {
        let clean = !self.client().inherits_environment;
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        if clean {
            let given = GIVEN.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
            variables.extend(given);
            let is_absolute = Path::new(&self.entry.command).is_absolute();
            let path = if is_absolute { Some(DESKTOP.into()) } else { std::env::var_os("PATH") };
            variables.extend(path.map(|path| ("PATH".into(), path)));
        }
        variables.extend(self.entry.env.iter().map(|(name, value)| (name.into(), value.into())));
        Launch {
            program: self.entry.command.clone().into(),
            arguments: self.entry.args.iter().map(Into::into).collect(),
            variables,
            clean,
            folder: Some("/".into()),
            ..Launch::default()
        }
    }

    fn judged(&self, started: Result<Answered, String>) -> Finding {
        match started {
            Ok(Answered { tools, took }) => {
                let words =
                    format!("{} answers in {} with {}", self.place(), time(took), counted(tools, "tool"));
                if took < SLOW {
                    return Finding::good("clients.starts", words);
                }
                Finding::warning("clients.slow", words).remedy("some clients give up after five seconds")
            }
            Err(why) => {
                let words = format!("{} does not start: {}", self.place(), self.without_secrets(&why));
                Finding::error("clients.not_starting", words)
                    .remedy("start it by hand to see more; `mcp-bash doctor` in its project looks at that")
            }
        }
    }

    /// A text of the server without the values of the variables that it received.
    fn without_secrets(&self, text: &str) -> String {
        const SHORTEST: usize = 4;
        let is_plain = |name: &str| name == "PATH" || name == "MCPBASH_PROJECT_ROOT";
        let values = self.entry.env.iter().filter(|(name, value)| value.len() >= SHORTEST && !is_plain(name));
        values.fold(text.to_owned(), |text, (_, value)| text.replace(value.as_str(), "[redacted]"))
    }
}
