//! Needed variables: those that a project names in `env` and that `server.d/env.sh` does not set. A client starts a server
//! with few variables of its own, so that a tool would fail later, far from here. No secret is written into a file: a
//! client gets the name of its variable, or the user reads what to do.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::connect::OpenProject;
use crate::open::secret_check::SecretCheck;
use crate::terminal::print::print;
use mcp_bash_entries::{Client, ConfigFile, Entry, Supply, entries};
use mcp_bash_harmless::tells_of_secret;
use mcp_bash_terminal::{can_ask, tell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The names of variables, and of the tools that need each; and the secrets of the project.
#[derive(Default)]
pub(super) struct NeededVariables(BTreeMap<String, Vec<String>>, SecretCheck);

impl NeededVariables {
    /// Those of the project. A project that cannot be read is reported by other commands.
    pub(super) fn of(common: &Common) -> Self {
        let Ok(project) = OpenProject::read(common, |settings| settings.leaves_no_trace = true) else {
            return Self::default();
        };
        let mut needed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in &project.scripts.settings().project_variables {
            needed.entry(name.clone()).or_default().push("all tools".to_owned());
        }
        for tool in project.catalog.tools.items() {
            for name in &tool.options.variables {
                needed.entry(name.clone()).or_default().push(tool.name.clone());
            }
        }
        needed.retain(|name, _| !project.scripts.sets_variable(&project.catalog.paths, name));
        Self(needed, SecretCheck::of(&project.scripts, &project.catalog))
    }

    /// The names that a server would lack: neither the entry nor the client's file has them, and the client does not pass
    /// them on from an environment like this one.
    pub(super) fn lacking(&self, file: &ConfigFile, entry: &Entry) -> Vec<String> {
        // What is read here is not what the file is compared with before it is written, so it is read only if there is a reason.
        if self.0.is_empty() {
            return Vec::new();
        }
        let known = entries(file).unwrap_or_default();
        let known = known.iter().find(|known| known.name == entry.name);
        let has = |entry: &Entry, name: &String| {
            entry.env.iter().any(|(known, _)| known == name) || entry.passed.contains(name)
        };
        let is_inherited = |name: &String| {
            file.client.supply() == Some(Supply::Inherited)
                && std::env::var_os(name).is_some_and(|value| !value.is_empty())
        };
        let lacks = |name: &&String| {
            !has(entry, name) && !known.is_some_and(|known| has(known, name)) && !is_inherited(name)
        };
        self.0.keys().filter(lacks).cloned().collect()
    }

    /// Asks the user for values that are not secret. The client's file holds them as they are.
    pub(super) fn ask<'a>(
        &self,
        lacking: impl Iterator<Item = &'a [String]>,
    ) -> Result<Vec<(String, String)>, Error> {
        let names: BTreeSet<&String> = lacking.flatten().filter(|name| !tells_of_secret(name)).collect();
        if names.is_empty() || !can_ask() {
            return Ok(Vec::new());
        }
        print(
            "The project needs variables. A value is written into the client's file as plain text; Enter skips it.\n",
        )?;
        let mut answers = Vec::new();
        for name in names {
            print(&format!("  {name} (for {}): ", self.0[name].join(", ")))?;
            let mut line = String::new();
            if io::stdin().read_line(&mut line).map_err(Error::Ask)? == 0 {
                break;
            }
            let value = line.trim_end_matches(['\n', '\r']);
            if !value.is_empty() {
                answers.push((name.clone(), value.to_owned()));
            }
        }
        Ok(answers)
    }

    /// Tells the user which secrets a server would lack. A client starts it with few of the variables of this shell.
    fn tell_secrets(&self) {
        let lacking = self.1.secrets.iter().filter_map(|secret| match &secret.place {
            Err(_) => Some((secret, "is not available".to_owned())),
            Ok(place) if place.starts_with("variable ") => {
                Some((secret, format!("is in the {place} of this shell, which a client may not pass on")))
            }
            Ok(_) => None,
        });
        let lines: Vec<String> = lacking
            .map(|(secret, how)| {
                let (name, users) = (&secret.name, secret.users.join(", "));
                format!(
                    "  {name} {how}  (for {users}): `mcp-bash secret set {name}` keeps it for all clients"
                )
            })
            .collect();
        if !lines.is_empty() {
            tell(&format!("The project needs secrets:\n{}", lines.join("\n")));
        }
    }

    /// Tells the user which variables have no value yet, and where each client takes them from.
    pub(super) fn tell(&self, lacking: &[(&'static Client, Vec<String>)]) {
        self.tell_secrets();
        let names: BTreeSet<&String> = lacking.iter().flat_map(|(_, names)| names).collect();
        if names.is_empty() {
            return;
        }
        let mut lines = vec!["The project needs variables that are not set:".to_owned()];
        lines.extend(names.iter().map(|name| format!("  {name}  (for {})", self.0[*name].join(", "))));
        for (client, names) in lacking.iter().filter(|(_, names)| !names.is_empty()) {
            lines.push(format!("{}: {}", client.title, advice(client, names)));
        }
        tell(&lines.join("\n"));
    }
}

fn advice(client: &Client, names: &[String]) -> String {
    let all = names.join(", ");
    match client.supply() {
        Some(Supply::Prompt) => format!("asks you for {all} when it starts the server."),
        Some(Supply::Inherited | Supply::Passed | Supply::Reference(_)) => {
            format!(
                "its entry takes {all} from the client; set them where it is started, or among its secrets."
            )
        }
        None => {
            let (secrets, plain): (Vec<&String>, Vec<&String>) =
                names.iter().partition(|name| tells_of_secret(name));
            let mut advice = vec![format!("its file would hold {all} as plain text, so they were left out.")];
            advice.extend(secrets.into_iter().map(|name| as_secret(name)));
            if !plain.is_empty() {
                advice.push(for_all_tools(&plain));
            }
            advice.join(" ")
        }
    }
}

/// A secret in `server.d/env.sh` would be given to every tool.
fn as_secret(name: &str) -> String {
    format!(
        "Write \"secrets\": {{\"{name}\": \"{name}\"}} in place of \"env\" into the metadata of the tools that need \
         it, so that only they get it, and set it with `mcp-bash secret set {name}`."
    )
}

fn for_all_tools(names: &[&String]) -> String {
    let names = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    format!(
        "Export {names} in server.d/env.sh, for all tools; or where the client is started, if it passes them on. \
         `--env NAME=VALUE` writes a value that is not secret."
    )
}
