//! Command groups of the overview.

use clap::Command;
use std::fmt::Write as _;

/// The headings and their commands, in the order in which a user meets them.
pub(crate) const GROUPS: [(&str, &[&str]); 7] = [
    ("Begin a project", &["new", "init", "scaffold", "import", "schema", "demo"]),
    ("Use what a server offers", &["call", "run-tool", "list", "read", "get", "complete"]),
    ("Check a project", &["test", "validate", "health", "doctor", "sandbox", "policy"]),
    ("Give it to clients", &["install", "uninstall", "config"]),
    ("Package it", &["bundle", "vendor", "image", "publish"]),
    ("Serve it", &["serve", "token", "roles", "secret", "audit", "task", "dev", "debug", "registry"]),
    (
        "For shells and scripts",
        &["completions", "man", "version", "sdk-path", "jq", "ask", "download", "provider"],
    ),
];

/// The command line with an overview of its commands by group. A command without a group is shown at the end.
pub(crate) fn grouped(whole: Command) -> Command {
    let overview = overview(&whole);
    whole.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{overview}Options:\n{{options}}{{after-help}}"
    ))
}

fn overview(whole: &Command) -> String {
    let named = |name: &str| {
        whole.get_subcommands().find(|command| command.get_name() == name && !command.is_hide_set())
    };
    let is_named = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others =
        whole.get_subcommands().filter(|command| !command.is_hide_set() && !is_named(command.get_name()));
    let others: Vec<&Command> = others.collect();
    let mut text = String::new();
    for (heading, names) in GROUPS {
        group(&mut text, heading, names.iter().filter_map(|name| named(name)));
    }
    group(&mut text, "Others", others.into_iter());
    text
}

/// The beginning of a command's description; `help COMMAND` has the rest.
fn short(about: &str) -> String {
    let about = about.strip_prefix("For scripts: ").unwrap_or(about);
    let about = about.split("; ").next().unwrap_or(about).split(": exit").next().unwrap_or(about);
    let mut letters = about.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The text in lines that fit a terminal beside the names.
fn wrapped(words: &str) -> String {
    const WIDEST: usize = 80;
    let (mut text, mut used) = (String::new(), 0);
    for word in words.split_whitespace() {
        if used > 0 && used + 1 + word.chars().count() > WIDEST {
            text.push_str("\n               ");
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += word.chars().count();
    }
    text
}

fn group<'c>(text: &mut String, heading: &str, commands: impl Iterator<Item = &'c Command>) {
    let mut commands = commands.peekable();
    if commands.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "{heading}:");
    for command in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "  {:12} {}", command.get_name(), wrapped(&short(&about)));
    }
    text.push('\n');
}
