//! What the commands of a shell script do: whether something may be lost, whether all of them only read, and which
//! programs they need.

use super::expansion::{expansions, plain};
use super::flow::{assignments, each_command, own_words};
use super::tree::{self, Command, Item, Node};
use crate::effect::Effect;
use crate::scripts::reading::ScriptReading;
use std::collections::{BTreeMap, BTreeSet};

/// Programs that change, send or delete something.
const CHANGE: [&str; 44] = [
    "apt", "apt-get", "chgrp", "chmod", "chown", "cp", "crontab", "dd", "dnf", "dpkg", "fdisk", "install",
    "insmod", "kill", "killall", "ln", "losetup", "mkfs", "mount", "mv", "parted", "pip", "pip3", "pkill",
    "poweroff", "reboot", "rm", "rmdir", "rmmod", "rsync", "scp", "sftp", "shred", "shutdown", "sysctl",
    "tee", "truncate", "umount", "unlink", "useradd", "userdel", "usermod", "wipefs", "yum",
];

/// Programs that only read, and builtins without effect.
const READ: [&str; 65] = [
    ":",
    "[",
    "basename",
    "break",
    "cat",
    "cd",
    "cmp",
    "column",
    "command",
    "continue",
    "cut",
    "date",
    "declare",
    "df",
    "diff",
    "dig",
    "dirname",
    "du",
    "echo",
    "exit",
    "export",
    "expr",
    "false",
    "file",
    "free",
    "getopt",
    "getopts",
    "grep",
    "head",
    "host",
    "hostname",
    "id",
    "jq",
    "local",
    "ls",
    "lsof",
    "md5sum",
    "nslookup",
    "printf",
    "ps",
    "pwd",
    "read",
    "readlink",
    "readonly",
    "realpath",
    "return",
    "seq",
    "set",
    "sha256sum",
    "shift",
    "shopt",
    "sleep",
    "sort",
    "stat",
    "tail",
    "test",
    "tr",
    "trap",
    "true",
    "type",
    "uname",
    "uniq",
    "uptime",
    "wc",
    "whoami",
];

/// Programs whose commands decide, and the commands that only read.
const COMMANDS: [(&str, &[&str]); 9] = [
    ("aws", &["describe", "list", "get", "ls"]),
    ("docker", &["ps", "images", "inspect", "logs", "info", "version", "stats", "top"]),
    ("gh", &["list", "view", "status"]),
    (
        "git",
        &[
            "log",
            "status",
            "diff",
            "show",
            "rev-parse",
            "ls-files",
            "describe",
            "blame",
            "shortlog",
            "rev-list",
            "for-each-ref",
            "config",
            "grep",
            "cat-file",
        ],
    ),
    ("helm", &["list", "status", "get", "history", "search", "show"]),
    ("ip", &["addr", "route", "link", "neigh"]),
    ("kubectl", &["get", "describe", "logs", "top", "version", "explain", "api-resources", "config"]),
    ("systemctl", &["status", "is-active", "is-enabled", "list-units", "show", "cat"]),
    ("terraform", &["plan", "show", "output", "validate", "version"]),
];

/// Words of a command line that change something, whatever the program.
const CHANGING_WORDS: [&str; 20] = [
    "-X",
    "--data",
    "--data-binary",
    "--delete",
    "--force",
    "--hard",
    "--in-place",
    "--request",
    "--upload-file",
    "-delete",
    "apply",
    "delete",
    "destroy",
    "drain",
    "drop",
    "prune",
    "push",
    "restart",
    "rm",
    "stop",
];

/// Programs and builtins that are found everywhere.
const USUAL: [&str; 57] = [
    "alias",
    "awk",
    "bash",
    "bg",
    "builtin",
    "comm",
    "dirs",
    "env",
    "eval",
    "exec",
    "factor",
    "fg",
    "find",
    "fold",
    "gawk",
    "hash",
    "history",
    "jobs",
    "join",
    "let",
    "mapfile",
    "mkdir",
    "mkfifo",
    "mktemp",
    "nice",
    "nl",
    "nohup",
    "od",
    "paste",
    "perl",
    "popd",
    "pushd",
    "python",
    "python3",
    "readarray",
    "sed",
    "sh",
    "shuf",
    "source",
    "split",
    "stty",
    "sync",
    "tac",
    "timeout",
    "times",
    "touch",
    "tput",
    "tty",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
    "which",
    "xargs",
    "yes",
];

#[derive(Default)]
struct Effects {
    changes: Option<String>,
    /// A command of unknown effect.
    unknown: bool,
    programs: BTreeMap<String, usize>,
    temporary: BTreeSet<String>,
}

pub(super) fn read(items: &[Item], reading: &mut ScriptReading) {
    let mut functions = BTreeSet::new();
    super::flow::any_node(items, &mut |node| {
        if let Node::Function { name, .. } = node {
            functions.insert(name.clone());
        }
        false
    });
    let mut effects = Effects::default();
    each_command(items, &mut |command| {
        for (name, _, value) in assignments(command) {
            if value.contains("mktemp") {
                effects.temporary.insert(name.to_owned());
            }
        }
    });
    effects.read(items, &functions, 0);
    reading.effect = match (&effects.changes, effects.unknown) {
        (Some(_), _) => Some(Effect::Destroys),
        (None, false) => Some(Effect::Reads),
        (None, true) => None,
    };
    let is_needed = |name: &String| {
        !READ.contains(&&**name)
            && !USUAL.contains(&&**name)
            && !CHANGE.contains(&&**name)
            && !functions.contains(name)
            && !name.contains('/')
            || matches!(&**name, "jq" | "rsync" | "dig" | "lsof")
    };
    reading.needs = effects.programs.into_keys().filter(is_needed).take(20).collect();
}

impl Effects {
    fn read(&mut self, items: &[Item], functions: &BTreeSet<String>, depth: usize) {
        if depth > 6 {
            self.unknown = true;
            return;
        }
        each_command(items, &mut |command| {
            self.command(command, functions);
            for word in &command.words {
                for inner in substitutions(word) {
                    match tree::parse(inner) {
                        Some(items) => self.read(&items, functions, depth + 1),
                        None => self.unknown = true,
                    }
                }
            }
        });
    }

    fn command(&mut self, command: &Command, functions: &BTreeSet<String>) {
        for (operator, target) in &command.redirections {
            let is_temporary = expansions(target).iter().any(|found| self.temporary.contains(found.name));
            let writes = operator.contains('>')
                && !operator.ends_with('&')
                && !target.contains("/dev/")
                && target != "&2"
                && target != "&1";
            let is_descriptor =
                operator == ">&" && target.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            if writes && !is_temporary && !is_descriptor {
                self.changes.get_or_insert_with(|| format!("writes to {target}"));
            }
        }
        let words = own_words(command);
        let Some(first) = words.first() else { return };
        let (name, words) = match plain(first) {
            Some(name)
                if matches!(&*name, "sudo" | "doas" | "nohup" | "time" | "exec") && words.len() > 1 =>
            {
                (plain(&words[1]), &words[1..])
            }
            name => (name, words),
        };
        let Some(name) = name else {
            self.unknown = true;
            return;
        };
        if first.starts_with("[[") || first.starts_with("((") || functions.contains(&name) {
            return;
        }
        let program = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let is_name = program
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '+'));
        if is_name && !program.is_empty() {
            *self.programs.entry(program.clone()).or_default() += 1;
        }
        let plain_words: Vec<String> = words.iter().skip(1).filter_map(|word| plain(word)).collect();
        let removes_own = matches!(&*program, "rm" | "rmdir" | "mv" | "cp" | "unlink")
            && words.iter().skip(1).filter(|word| !word.starts_with('-')).all(|word| {
                expansions(word).first().is_some_and(|found| self.temporary.contains(found.name))
            });
        if removes_own {
            return;
        }
        let changes = CHANGE.contains(&&*program)
            || plain_words.iter().any(|word| CHANGING_WORDS.contains(&&**word))
                && !matches!(
                    &*program,
                    "echo" | "printf" | "grep" | "[" | "test" | "cut" | "date" | "expr" | "tr"
                )
            || program == "curl"
                && plain_words.iter().any(|word| word == "-d" || word == "-F" || word == "-T")
            || program == "sed" && plain_words.iter().any(|word| word.starts_with("-i"));
        if changes && program != "trap" {
            self.changes.get_or_insert_with(|| program.clone());
            return;
        }
        let reads = READ.contains(&&*program)
            || program == "awk"
            || program == "sed"
            || program == "mktemp"
            || COMMANDS.iter().any(|(known, commands)| {
                *known == program
                    && plain_words
                        .iter()
                        .find(|word| !word.starts_with('-'))
                        .is_some_and(|word| commands.contains(&&**word))
            })
            || program == "curl"
                && !plain_words.iter().any(|word| word.starts_with("-o") || word.starts_with("-O"));
        self.unknown |= !reads;
    }
}

/// The commands inside `$(…)` and backticks of a word.
fn substitutions(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(index) = word[at..].find(['$', '`', '\'']) {
        at += index;
        let rest = &word[at..];
        if rest.starts_with("$(") && !rest.starts_with("$((") {
            let length = super::lexer::substitution(rest).unwrap_or(2);
            found.push(rest[2..length.max(3) - 1].trim_end_matches(')'));
            at += length.max(1);
        } else if let Some(inner) = rest.strip_prefix('`') {
            let end = inner.find('`').unwrap_or(inner.len());
            found.push(&inner[..end]);
            at += (end + 2).min(rest.len());
        } else if rest.starts_with('\'') && !word.starts_with('"') {
            at += rest[1..].find('\'').map_or(rest.len(), |end| end + 2);
        } else {
            at += 1;
        }
    }
    found
}
