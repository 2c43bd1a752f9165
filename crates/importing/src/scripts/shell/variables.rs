//! Variables that a script takes from its environment (`${NAME:?why}`, `${NAME:-default}`), and answers that it reads from
//! standard input.

use super::checks::Checks;
use super::expansion::{default_of, expansions, message_of, plain};
use super::flow::{Flow, assignments, each_command, own_words};
use super::tree::{Command, Item, Node};
use crate::scripts::reading::{Answer, ScriptReading, ScriptVariable};
use crate::scripts::variable::{enter, is_argument};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(flow: &Flow<'_>, checks: &Checks, reading: &mut ScriptReading) {
    let mut found: BTreeMap<String, ScriptVariable> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut set: BTreeSet<String> = BTreeSet::new();
    let mut sources = false;
    let bodies: Vec<&[Item]> = flow.functions.values().copied().chain([&*flow.main]).collect();
    for items in bodies {
        each_command(items, &mut |command| {
            for (name, _, value) in assignments(command) {
                let is_own_default = expansions(value)
                    .first()
                    .is_some_and(|first| first.name == name && !first.rest.is_empty());
                if !is_own_default {
                    set.insert(name.to_owned());
                }
            }
            sources |= own_words(command).first().is_some_and(|word| word == "." || word == "source");
            if own_words(command).first().is_some_and(|word| word == "read") {
                set.extend(own_words(command).iter().skip(1).cloned());
            }
            for word in command.words.iter().chain(&command.here_document) {
                for one in expansions(word) {
                    let Some(variable) = variable(one.name, one.rest) else { continue };
                    let known = found.entry(one.name.to_owned()).or_insert_with(|| {
                        order.push(one.name.to_owned());
                        variable.clone()
                    });
                    known.is_required |= variable.is_required;
                    if known.description.is_empty() {
                        known.description = variable.description;
                    }
                    known.default = known.default.take().or(variable.default);
                }
            }
        });
    }
    for name in checks.not_empty.iter().filter(|name| is_argument(name)) {
        if !found.contains_key(name) {
            order.push(name.clone());
        }
        let entry = found.entry(name.clone());
        let variable = ScriptVariable {
            name: name.clone(),
            description: String::new(),
            default: None,
            is_required: true,
        };
        entry.or_insert(variable).is_required = true;
    }
    let by_options: BTreeSet<String> =
        reading.options.iter().filter_map(|option| option.variable.clone()).collect();
    let wanted = order.iter().filter(|name| !set.contains(*name) && !by_options.contains(*name));
    let wanted = wanted.map(|name| found[name].clone());
    // A file that the script reads may set the others.
    let (wanted, doubtful): (Vec<ScriptVariable>, Vec<ScriptVariable>) =
        wanted.partition(|variable| !sources || variable.is_required);
    for variable in doubtful {
        let why = "a file that the script reads may set it".to_owned();
        reading.left_out.push((variable.name, why));
    }
    enter(wanted, reading);
    answers(&flow.main, reading);
}

fn variable(name: &str, rest: &str) -> Option<ScriptVariable> {
    let sign = rest.trim_start_matches(':');
    let is_required = sign.starts_with('?');
    if !is_argument(name) || !sign.starts_with(['?', '-', '=']) {
        return None;
    }
    let description = message_of(rest);
    let default = default_of(rest).filter(|default| !default.is_empty());
    Some(ScriptVariable { name: name.to_owned(), description, default, is_required })
}

/// Lines that the script always reads. Those that it reads under a condition are only reported.
fn answers(items: &[Item], reading: &mut ScriptReading) {
    let mut always = Vec::new();
    for item in items {
        if let Node::Command(command) = &item.node
            && let Some(answer) = question(command)
        {
            always.push(answer);
        }
    }
    let mut all = 0;
    each_command(items, &mut |command| all += usize::from(asks(command)));
    let is_confirmation = |answer: &Answer| {
        let question = answer.question.to_ascii_lowercase();
        ["y/n", "yes/no", "sure", "continue", "press", "password", "passphrase"]
            .iter()
            .any(|word| question.contains(word))
    };
    if all == always.len() && !always.iter().any(is_confirmation) {
        reading.answers = always;
    } else if all > 0 {
        reading.doubt("it asks at the terminal, and would read an empty answer");
    }
}

fn asks(command: &Command) -> bool {
    let words = own_words(command);
    words.first().is_some_and(|word| word == "read")
        && words.iter().any(|word| word.starts_with("-p") || word.starts_with("-rp"))
}

/// `read -p "Question: " name`
fn question(command: &Command) -> Option<Answer> {
    if !asks(command) || !command.redirections.is_empty() {
        return None;
    }
    let words = own_words(command);
    let at = words.iter().position(|word| word.starts_with("-p") || word.starts_with("-rp"))?;
    let question = plain(words.get(at + 1)?)?;
    let name = plain(words.get(at + 2)?)?;
    Some(Answer { name, question: question.trim_end_matches([' ', ':']).to_owned() })
}
