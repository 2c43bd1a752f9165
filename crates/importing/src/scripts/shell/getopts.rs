//! `getopts` of shells and the program `getopt`: their specifications name all options.

use super::checks::Checks;
use super::evaluated::Evaluated;
use super::expansion::{expansions, is_only, plain};
use super::flow::{any_command, any_node, assignments, each_command};
use super::tree::{self, Arm, Command, Node};
use crate::argument::ArgumentKind;
use crate::scripts::reading::{ScriptOption, ScriptReading, UNREAD_OPTIONS, ValueForm};
use std::collections::{BTreeMap, BTreeSet};

/// As many calls as are read.
const MOST_CALLS: usize = 20;

/// Returns whether one of them is used.
pub(super) fn read(evaluated: &Evaluated<'_>, checks: &Checks, reading: &mut ScriptReading) -> bool {
    let flow = evaluated.flow;
    let mut literals: BTreeMap<String, String> = BTreeMap::new();
    let mut commands: Vec<Command> = Vec::new();
    each_command(&flow.main, &mut |command| {
        for (name, _, value) in assignments(command) {
            if let Some(text) = plain(value) {
                literals.insert(name.to_owned(), text);
            }
            commands.extend(inner_getopt(value));
        }
        if command.words.iter().any(|word| word == "getopts") {
            commands.push(command.clone());
        }
        for word in command.words.iter().filter(|word| word.contains("getopt ")) {
            commands.extend(inner_getopt(word));
        }
    });
    let text_of = |word: &str| {
        plain(word).or_else(|| {
            let found = expansions(word);
            let [one] = &*found else { return None };
            is_only(word, one.name).then(|| literals.get(one.name).cloned()).flatten()
        })
    };
    let is_used = !commands.is_empty();
    if commands.len() > MOST_CALLS {
        reading.doubt(UNREAD_OPTIONS);
    }
    for command in commands.iter().take(MOST_CALLS) {
        let is_builtin = command.words.iter().any(|word| word == "getopts");
        let read = if is_builtin {
            of_builtin(command, &text_of, evaluated, checks, reading)
        } else {
            of_program(command, &text_of, reading)
        };
        if read.is_none() {
            reading.doubt("the list of its options is put together while it runs");
        }
    }
    is_used
}

/// `getopts ab:c NAME`
fn of_builtin(
    command: &Command,
    text_of: &dyn Fn(&str) -> Option<String>,
    evaluated: &Evaluated<'_>,
    checks: &Checks,
    reading: &mut ScriptReading,
) -> Option<()> {
    let at = command.words.iter().position(|word| word == "getopts")?;
    let specification = text_of(command.words.get(at + 1)?)?;
    let variable = plain(command.words.get(at + 2)?)?;
    let mut arms: Vec<Arm> = Vec::new();
    any_node(&evaluated.flow.main, &mut |node| {
        if let Node::Case { subject, arms: found, .. } = node
            && is_only(subject, &variable)
        {
            arms.extend(found.iter().cloned());
        }
        false
    });
    let mut by_pattern: BTreeMap<String, &Arm> = BTreeMap::new();
    for arm in &arms {
        for pattern in arm.patterns.iter().filter_map(|pattern| plain(pattern)) {
            by_pattern.entry(pattern.strip_prefix('-').unwrap_or(&pattern).to_owned()).or_insert(arm);
        }
    }
    let has_classes = arms.iter().any(|arm| arm.patterns.iter().any(|pattern| pattern.contains('[')));
    for (letter, takes) in letters(&specification) {
        if letter == '-' {
            reading.gap("it takes long options through `getopts` in a way of its own");
            continue;
        }
        let names = vec![format!("-{letter}")];
        let mut option = if takes {
            ScriptOption::with_value(names, ValueForm::NextWord)
        } else {
            ScriptOption::flag(names)
        };
        if let Some(arm) = by_pattern.get(&*letter.to_string()) {
            option.evaluation = evaluated.use_in(&arm.body, "OPTARG");
            any_command(&arm.body, &mut |command| {
                for (name, appends, value) in assignments(command) {
                    let used = expansions(value);
                    if !takes || used.iter().any(|used| used.name == "OPTARG") {
                        option.variable = Some(name.to_owned());
                        option.is_repeated = takes && (appends || used.iter().any(|used| used.name == name));
                        return true;
                    }
                }
                false
            });
        } else if !has_classes && letter != 'h' {
            reading.gap(format!("`-{letter}` is in the list of `getopts`, but nothing reads it"));
        }
        option.is_required =
            takes && option.variable.as_ref().is_some_and(|name| checks.not_empty.contains(name));
        reading.add(option);
    }
    Some(())
}

/// The letters of a specification, each once, and whether it takes a value.
fn letters(specification: &str) -> Vec<(char, bool)> {
    let mut found: Vec<(char, bool)> = Vec::new();
    for letter in specification.trim_start_matches([':', '+', '-']).chars() {
        match (letter, found.last_mut()) {
            (':', Some(last)) => last.1 = true,
            (':', None) => {}
            _ => found.push((letter, false)),
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|(letter, _)| seen.insert(*letter));
    found
}

/// `$(getopt -o ab: --long name: -- "$@")`
fn of_program(
    command: &Command,
    text_of: &dyn Fn(&str) -> Option<String>,
    reading: &mut ScriptReading,
) -> Option<()> {
    let mut words = command.words.iter().skip_while(|word| !word.ends_with("getopt")).skip(1).peekable();
    let has_any = std::cell::Cell::new(false);
    let enter = |names: String, takes: bool, is_optional: bool, reading: &mut ScriptReading| {
        let is_known = reading.options.iter().any(|known| known.names.contains(&names));
        if is_optional {
            reading.gap(format!("the value of `{names}` may be left out"));
        }
        if !is_known {
            let names = vec![names];
            let form = if names[0].starts_with("--") { ValueForm::Joined } else { ValueForm::NextWord };
            let option =
                if takes { ScriptOption::with_value(names, form) } else { ScriptOption::flag(names) };
            if takes || option.kind == ArgumentKind::Boolean {
                reading.add(option);
            }
        }
        has_any.set(true);
    };
    while let Some(word) = words.next() {
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (word.clone(), None),
        };
        let mut value = || joined.clone().or_else(|| words.next().cloned());
        match &*name {
            "-o" | "--options" => {
                for (letter, takes) in letters(&text_of(&value()?)?) {
                    enter(format!("-{letter}"), takes, false, reading);
                }
            }
            "-l" | "--long" | "--longoptions" | "--longopts" => {
                for long in text_of(&value()?)?.split([',', ' ', '\n']).filter(|long| !long.is_empty()) {
                    let is_optional = long.ends_with("::");
                    if long.trim_end_matches(':').contains(':') {
                        reading.doubt(format!("the option `{long}` is not clear"));
                        continue;
                    }
                    enter(
                        format!("--{}", long.trim_end_matches(':')),
                        long.ends_with(':'),
                        is_optional,
                        reading,
                    );
                }
            }
            "-n" | "--name" | "-s" | "--shell" => {
                value();
            }
            "--" => break,
            "-q" | "-Q" | "-a" | "-u" | "--quiet" | "--unquoted" | "--alternative" => {}
            _ if name.starts_with('-') => return None,
            // `getopt ab:c "$@"`
            _ if !has_any.get() => {
                for (letter, takes) in letters(&text_of(&name)?) {
                    enter(format!("-{letter}"), takes, false, reading);
                }
                break;
            }
            _ => break,
        }
    }
    Some(())
}

/// The call of the program `getopt` inside a substitution.
fn inner_getopt(word: &str) -> Option<Command> {
    let start = word.find("getopt ")?;
    let before = &word[..start];
    let open = before.rfind(['(', '`'])? + 1;
    let end = word.rfind([')', '`']).filter(|end| *end > start)?;
    let items = tree::parse(&word[open..end])?;
    match &items.first()?.node {
        Node::Command(command) => Some(command.clone()),
        _ => None,
    }
}
