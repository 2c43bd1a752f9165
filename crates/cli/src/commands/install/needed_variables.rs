//! Needed variables: those that the tools of a project name in `env` and that nothing sets. A client starts a server with few
//! variables of its own, so that such a tool would fail later, far from here.

use crate::base::common::Common;
use crate::open::connect::OpenProject;
use mcp_bash_entries::Entry;
use mcp_bash_terminal::tell;
use std::collections::BTreeMap;

/// Tells the user which variables are missing, which tools need them, and how a client gets them without a secret in a
/// file. A project that cannot be read is reported by other commands.
pub(super) fn tell_of(common: &Common, entry: &Entry) {
    let Ok(project) = OpenProject::read(common, |_| ()) else { return };
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_set = |name: &str| {
        entry.env.iter().any(|(known, _)| known == name)
            || std::env::var_os(name).is_some_and(|value| !value.is_empty())
    };
    for name in project.scripts.settings().project_variables.iter().filter(|name| !is_set(name)) {
        missing.entry(name).or_default().push("all tools");
    }
    for tool in project.catalog.tools.items() {
        for name in tool.options.variables.iter().filter(|name| !is_set(name)) {
            missing.entry(name).or_default().push(&tool.name);
        }
    }
    if missing.is_empty() {
        return;
    }
    let listed: Vec<String> =
        missing.iter().map(|(name, tools)| format!("  {name}  (for {})", tools.join(", "))).collect();
    tell(&format!(
        "The project needs variables that are not set:\n{}\nSet them where the client is started, or export them in \
         server.d/env.sh, which can read them from a secret store. `--env NAME=VALUE` would write a value into the \
         client's file as plain text.",
        listed.join("\n")
    ));
}
