//! Client choice if the user names none: all that are found, or those that the user selects on a terminal.

use super::error::InstallError;
use super::named;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_entries::{Client, ConfigFile};
use mcp_bash_terminal::{can_ask, harmless};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io;
use std::process::ExitCode;

/// A client that is installed, or that has this project.
pub(super) struct Found {
    pub(super) file: ConfigFile,
    /// Whether this project is in its file.
    pub(super) has_entry: bool,
}

pub(super) enum Choice {
    Clients(Vec<&'static Client>),
    /// Nothing to do; the exit code.
    Nothing(ExitCode),
}

pub(super) fn choose(verb: &str, found: &[Found], all: bool, as_json: bool) -> Result<Choice, Error> {
    let clients = || {
        let mut clients: Vec<&'static Client> = found.iter().map(|found| found.file.client).collect();
        clients.dedup();
        Choice::Clients(clients)
    };
    if all && !found.is_empty() {
        return Ok(clients());
    }
    if as_json {
        let found: Vec<Value> = found.iter().map(described).collect();
        print(&format!("{:#}\n", json!({ "found": found })))?;
        return Ok(Choice::Nothing(Exit::Usage.into()));
    }
    print(&listed(verb, found))?;
    if found.is_empty() {
        return Ok(Choice::Nothing(Exit::Done.into()));
    }
    if !can_ask() {
        return Err(InstallError::NoNames.into());
    }
    print("\nWhich ones? Names, `all`, or nothing to leave it: ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(Error::Ask)?;
    let words: Vec<String> = answer
        .split([' ', ',', '\t', '\n', '\r'])
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    match &*words {
        [] => Ok(Choice::Nothing(Exit::Done.into())),
        [word] if word == "all" => Ok(clients()),
        [word] if ["none", "no", "n"].contains(&&**word) => Ok(Choice::Nothing(Exit::Done.into())),
        words => Ok(Choice::Clients(named(words)?)),
    }
}

fn described(found: &Found) -> Value {
    json!({
        "client": found.file.client.name,
        "scope": found.file.scope.name(),
        "file": found.file.path.to_string_lossy(),
        "installed": found.has_entry,
    })
}

fn listed(verb: &str, found: &[Found]) -> String {
    let is_install = verb == "install";
    if found.is_empty() && is_install {
        return "No client was found on this machine. `mcp-bash install NAME` writes its file in any case; \
                docs/clients.md has the names.\n"
            .to_owned();
    }
    if found.is_empty() {
        return "No client has this project.\n".to_owned();
    }
    let mut text = if is_install { "Found:\n" } else { "This project is installed in:\n" }.to_owned();
    let width = found.iter().map(|found| found.file.client.name.len()).max().unwrap_or_default();
    for Found { file, has_entry } in found {
        let note = if is_install && *has_entry { "  (installed)" } else { "" };
        let _ =
            writeln!(text, "  {:width$}  {}{note}", file.client.name, harmless(&file.path.to_string_lossy()));
    }
    text
}
