//! Tool effect: what a tool does to the world, as far as its name suggests it.

use serde_json::{Value, json};

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It adds something, and loses nothing.
    Adds,
    /// Something may be lost, or leave the organisation.
    Destroys,
}

const DANGEROUS: [&str; 38] = [
    "apply",
    "clean",
    "clear",
    "clobber",
    "dd",
    "delete",
    "deploy",
    "destroy",
    "distclean",
    "down",
    "drop",
    "erase",
    "fdisk",
    "force",
    "format",
    "kill",
    "killall",
    "mkfs",
    "nuke",
    "overwrite",
    "parted",
    "pkill",
    "prune",
    "publish",
    "purge",
    "push",
    "release",
    "remove",
    "reset",
    "rm",
    "rmdir",
    "rollback",
    "shred",
    "truncate",
    "uninstall",
    "unlink",
    "wipe",
    "wipefs",
];

/// Words for changes that are no reason to doubt a recipe of that name.
const CHANGES: [&str; 20] = [
    "cancel", "change", "close", "disable", "edit", "kill", "merge", "modify", "move", "mv", "patch", "put",
    "rename", "replace", "restart", "revoke", "set", "stop", "update", "write",
];

const ADDS: [&str; 14] = [
    "add", "append", "copy", "create", "enable", "insert", "new", "notify", "open", "post", "send", "start",
    "submit", "upload",
];

const READS: [&str; 26] = [
    "cat", "count", "describe", "diff", "display", "fetch", "find", "get", "grep", "info", "inspect", "list",
    "look", "lookup", "ls", "print", "query", "read", "report", "search", "show", "stat", "status", "tail",
    "version", "view",
];

impl Effect {
    /// The effect that the name of a recipe, a target or a script suggests; `None` if it suggests none.
    pub fn of_recipe(name: &str) -> Option<Self> {
        let reads = || words(name).next().is_some_and(|first| READS.contains(&&*first));
        Self::of_program(name).or_else(|| reads().then_some(Self::Reads))
    }

    /// The same for a program, which may have options that do more than its name suggests.
    pub fn of_program(name: &str) -> Option<Self> {
        words(name).any(|word| DANGEROUS.contains(&&*word)).then_some(Self::Destroys)
    }

    /// The effect that the name of a new tool suggests.
    pub fn of_new_tool(name: &str) -> Option<Self> {
        let first = words(name).next().unwrap_or_default();
        let is_one = |list: &[&str]| list.contains(&&*first);
        Self::of_recipe(name)
            .or_else(|| is_one(&CHANGES).then_some(Self::Destroys))
            .or_else(|| is_one(&ADDS).then_some(Self::Adds))
    }

    /// The hints for clients.
    pub fn annotations(self) -> Value {
        match self {
            Self::Reads => json!({ "readOnlyHint": true }),
            Self::Adds => json!({ "readOnlyHint": false, "destructiveHint": false }),
            Self::Destroys => json!({ "destructiveHint": true }),
        }
    }
}

/// The words of a name in lower case: `db:reset`, `clean-all`, `getUser`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && spaced.ends_with(|last: char| last.is_ascii_lowercase()) {
            spaced.push(' ');
        }
        spaced.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' });
    }
    spaced.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_name_tells() {
        for list in [&DANGEROUS[..], &CHANGES, &ADDS, &READS] {
            assert!(list.is_sorted(), "{list:?}");
        }
        for name in ["clean", "db:reset", "clean-all", "rm", "Deploy_Prod", "get_and_delete", "listAndPurge"]
        {
            assert_eq!(Effect::of_recipe(name), Some(Effect::Destroys), "{name}");
        }
        for name in ["list", "get_user", "getUser", "show-logs", "status"] {
            assert_eq!(Effect::of_recipe(name), Some(Effect::Reads), "{name}");
            assert_eq!(Effect::of_program(name), None, "{name}");
        }
        for name in ["build", "information", "cleaner-fish", "test", "", "budget", "target"] {
            assert_eq!(Effect::of_recipe(name), None, "{name}");
        }
        for (name, effect) in [
            ("create_ticket", Some(Effect::Adds)),
            ("update-ticket", Some(Effect::Destroys)),
            ("delete_ticket", Some(Effect::Destroys)),
            ("list_tickets", Some(Effect::Reads)),
            ("ticket", None),
        ] {
            assert_eq!(Effect::of_new_tool(name), effect, "{name}");
        }
    }
}
