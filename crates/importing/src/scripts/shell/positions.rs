//! Positions: `$1` to `$9` and `$@` in the flow of a script, the names they are given, and which of them it requires.

use super::checks::Checks;
use super::evaluated::Evaluated;
use super::expansion::{default_of, expansions, is_all_words, is_only, message_of, plain};
use super::flow::{any_command, assignments, children, mentions, own_words};
use super::option_loop::{is_option_loop, word_case};
use super::tree::{Command, Item, Node};
use crate::argument::ArgumentKind;
use crate::scripts::reading::{ScriptOption, ScriptPositional, ScriptReading};
use std::collections::BTreeMap;

/// As many words as a tool takes by their positions.
const MOST_WORDS: usize = 40;

const REPLACED: &str = "it replaces its words with `set --`";

/// Words before the program that a command runs.
const PREFIXES: [&str; 5] = ["command", "doas", "exec", "nohup", "sudo"];

pub(super) fn read(evaluated: &Evaluated<'_>, checks: &Checks, has_loop: bool, reading: &mut ScriptReading) {
    let mut walk = Walk {
        seen: BTreeMap::new(),
        shift: 0,
        rest: None,
        are_replaced: false,
        loops_over_all: false,
        doubts: Vec::new(),
        gaps: Vec::new(),
        first_options: Vec::new(),
        passed_loop: false,
    };
    walk.items(&evaluated.flow.main, false);
    let has_first_options = !walk.first_options.is_empty();
    for names in walk.first_options {
        if !reading.options.iter().any(|known| known.names.iter().any(|name| names.contains(name))) {
            reading.add(ScriptOption::flag(names));
        }
    }
    // The draft puts its options first, so that a single one always is the first word.
    let real = reading.options.iter().filter(|option| !option.is_idle());
    if has_first_options && real.count() > 1 {
        reading.doubt("it looks for some options in its first word only");
    }
    for doubt in walk.doubts {
        reading.doubt(doubt);
    }
    for gap in walk.gaps {
        reading.gap(gap);
    }
    // A test before a loop is about the first word, whatever it is.
    if has_loop {
        walk.seen.retain(|_, position| position.is_used);
    }
    if walk.are_replaced {
        // Words that an option loop has collected may be among the others.
        if !reading.positionals.is_empty() {
            reading.doubt(REPLACED);
        }
        walk.seen.clear();
        walk.rest = None;
    }
    // A test of the first word before a loop over all of them is about the same word.
    if walk.loops_over_all {
        walk.seen.retain(|_, position| position.name.is_some());
    }
    // A loop that takes all words itself has entered them.
    if has_loop && !reading.positionals.is_empty() && walk.seen.is_empty() {
        return;
    }
    let (least, largest) = checks.counts();
    let least = if has_loop && !walk.passed_loop { 0 } else { least };
    let has_command = reading.positionals.len() == 1 && reading.positionals[0].name == "command";
    let highest =
        walk.seen.keys().next_back().copied().unwrap_or(0).max(if has_loop { 0 } else { least.min(9) });
    // Words that are evaluated all together are these too, if none of them is shifted away before.
    let of_all = evaluated.use_of("@").filter(|_| walk.shift == 0);
    let mut found = Vec::new();
    for index in 1..=highest {
        let position = walk.seen.remove(&index).unwrap_or_default();
        if index == 1 && has_command {
            let mut command = reading.positionals.remove(0);
            command.is_required |= least > 0;
            command.evaluation = command.evaluation.max(evaluated.use_of("1"));
            if let Some(name) = position.name {
                command.name = name;
            }
            found.push(command);
            continue;
        }
        let name = position.name.clone().unwrap_or_else(|| format!("arg{index}"));
        let is_checked = |name: &str| checks.not_empty.contains(name);
        let is_required = index <= least
            || is_checked(&index.to_string())
            || position.name.as_deref().is_some_and(is_checked)
            || position.is_plain && position.default.is_none();
        let mut positional = ScriptPositional::new(name, ArgumentKind::Text, is_required);
        positional.default = position.default;
        positional.description = position.description;
        positional.evaluation = evaluated.use_of(&index.to_string()).max(of_all);
        found.push(positional);
    }
    // What follows a required word is required.
    if let Some(last) = found.iter().rposition(|positional| positional.is_required) {
        for positional in &mut found[..last] {
            positional.is_required = true;
        }
    }
    if has_command && !reading.positionals.is_empty() && highest == 0 {
        found.push(reading.positionals.remove(0));
    }
    if let Some(rest) = walk.rest {
        let further =
            (highest + 1..=MOST_WORDS).filter_map(|index| evaluated.use_of(&index.to_string())).max();
        let is_required = found.len() < least;
        let is_full = largest.is_some_and(|largest| found.len() >= largest) && !has_loop;
        if !is_full {
            let rest = ScriptPositional::new(rest, ArgumentKind::List(Vec::new()), is_required);
            found.push(ScriptPositional { evaluation: evaluated.use_of("@").max(further), ..rest });
        }
    }
    reading.positionals.extend(found);
}

#[derive(Debug, Default)]
struct Position {
    name: Option<String>,
    default: Option<String>,
    /// What the script says when it is missing: `${1:?the database}`.
    description: String,
    /// Whether it is used without a condition.
    is_plain: bool,
    /// Whether it is used in anything but a test.
    is_used: bool,
}

struct Walk {
    seen: BTreeMap<usize, Position>,
    shift: usize,
    /// The name of the list of all further words.
    rest: Option<String>,
    /// Whether other words take the place of its own, which nothing has read before.
    are_replaced: bool,
    /// Whether a loop over all words has the first ones too.
    loops_over_all: bool,
    doubts: Vec<String>,
    gaps: Vec<String>,
    /// Options that a test of the first word looks for: the names in each test.
    first_options: Vec<Vec<String>>,
    passed_loop: bool,
}

impl Walk {
    fn items(&mut self, items: &[Item], is_conditional: bool) {
        for item in items {
            self.node(&item.node, is_conditional);
        }
    }

    fn node(&mut self, node: &Node, is_conditional: bool) {
        if is_option_loop(node) {
            if self.shift > 0 {
                self.doubts.push("some of its words come before its options".to_owned());
            }
            self.shift = 0;
            self.passed_loop = true;
            return;
        }
        match node {
            Node::Command(command) => self.command(command, is_conditional),
            Node::Case { subject, .. } => {
                self.word(subject, true, false);
                if word_case(node).is_none() {
                    self.word(subject, is_conditional, false);
                }
                let before = self.shift;
                for inner in children(node) {
                    self.shift = before;
                    self.items(inner, true);
                }
                self.shift = before;
            }
            Node::If { branches, otherwise } => {
                let before = self.shift;
                for (head, body) in branches {
                    self.items(head, true);
                    // A branch for an option in the first word says nothing about the other words.
                    if !self.first_option(head) {
                        self.items(body, true);
                    }
                    self.shift = before;
                }
                self.items(otherwise, true);
                self.shift = before;
            }
            Node::While { head, body } => {
                // `for ((i = 1; i <= $#; i++)); do echo "${!i}"; done`
                if mentions(head, "#") && any_command(body, &mut |command| names_position(command)) {
                    self.rest.get_or_insert_with(|| "args".to_owned());
                }
                let shifts = any_command(body, &mut |command| {
                    command.words.first().is_some_and(|word| word == "shift")
                });
                if shifts && mentions(body, "1") {
                    self.rest.get_or_insert_with(|| "args".to_owned());
                    return;
                }
                self.items(head, true);
                self.items(body, true);
            }
            Node::For { variable, words, body, .. } => {
                if words.as_ref().is_none_or(|words| matches!(&**words, [word] if is_all_words(word))) {
                    self.rest.get_or_insert_with(|| variable.clone());
                    self.loops_over_all |= self.shift == 0;
                } else {
                    for word in words.iter().flatten() {
                        self.word(word, is_conditional, false);
                    }
                }
                self.items(body, true);
            }
            Node::Block(items) => self.items(items, is_conditional),
            Node::Function { .. } => {}
        }
    }

    fn command(&mut self, command: &Command, is_conditional: bool) {
        let words = own_words(command);
        match words.first().map(String::as_str) {
            Some("shift") => {
                match words.get(1).map(|count| count.parse::<usize>()) {
                    None => self.shift = self.shift.saturating_add(1),
                    Some(Ok(count)) => self.shift = self.shift.saturating_add(count),
                    // `shift $((OPTIND - 1))`
                    Some(Err(_)) => {
                        self.shift = 0;
                        self.passed_loop = true;
                    }
                }
                return;
            }
            Some("set") if words.get(1).is_some_and(|word| word == "--") => {
                if words.len() > 2 && !is_conditional {
                    self.replaced(&words[2..]);
                }
                return;
            }
            // `eval set -- "$PARSED"` after the program getopt.
            Some("eval") if words.get(1).is_some_and(|word| word == "set") => return,
            _ => {}
        }
        for (name, _, value) in assignments(command) {
            let found = expansions(value);
            if let Some((one, others)) = found.split_first()
                && others.iter().all(|other| one.contains(other))
                && let Some(index) = position(one.name)
                && !one.is_inner
                && let Some(place) = self.place(index)
            {
                place.name.get_or_insert_with(|| name.to_owned());
            }
            if found.iter().any(|one| matches!(one.name, "@" | "*")) && !value.contains("getopt") {
                self.rest.get_or_insert_with(|| name.to_owned());
            }
        }
        let is_test = words.first().is_some_and(|word| {
            word == "[" || word == "test" || word.starts_with("[[") || word.starts_with("((")
        });
        let skipped = command.words.len() - words.len();
        for (index, word) in command.words.iter().enumerate() {
            if index >= skipped && is_all_words(word) && !is_test {
                let program =
                    words.iter().find(|word| !PREFIXES.contains(&&***word)).and_then(|word| plain(word));
                let program =
                    program.map_or_else(|| "another program".to_owned(), |program| format!("`{program}`"));
                self.rest.get_or_insert_with(|| "args".to_owned());
                if !matches!(&*program, "`echo`" | "`printf`" | "`cat`" | "`:`") {
                    self.gaps
                        .push(format!("it passes its words on to {program}, whose options it does not name"));
                }
                continue;
            }
            self.word(word, is_conditional || is_test, is_test);
        }
        for word in command.redirections.iter().map(|(_, target)| target).chain(&command.here_document) {
            self.word(word, is_conditional, false);
        }
    }

    /// `set -- WORD…`
    fn replaced(&mut self, words: &[String]) {
        let may_keep = words.iter().any(|word| {
            word.contains(['`', '[', '@', '*'])
                || expansions(word).iter().any(|found| found.is_inner || position(found.name).is_some())
        });
        if may_keep || self.rest.is_some() || !self.seen.is_empty() {
            self.doubts.push(REPLACED.to_owned());
        } else {
            self.are_replaced = true;
        }
    }

    /// The word that a position means after the shifts so far.
    fn place(&mut self, index: usize) -> Option<&mut Position> {
        let index = self.shift.saturating_add(index);
        if index > MOST_WORDS {
            self.gaps.push(format!("it reads words after the {MOST_WORDS}th, which the draft does not have"));
            return None;
        }
        Some(self.seen.entry(index).or_default())
    }

    fn word(&mut self, word: &str, is_conditional: bool, is_test: bool) {
        for found in expansions(word) {
            if let Some(index) = position(found.name) {
                let Some(place) = self.place(index) else { continue };
                let has_default = found.rest.starts_with([':', '-', '+', '=']) && !found.rest.contains('?');
                if has_default {
                    place.default = place.default.take().or(default_of(found.rest)).or(Some(String::new()));
                }
                if place.description.is_empty() {
                    place.description = message_of(found.rest);
                }
                place.is_plain |= !is_conditional && !has_default;
                place.is_used |= !is_test;
            } else if matches!(found.name, "@" | "*") && !found.is_inner && !is_conditional {
                self.rest.get_or_insert_with(|| "args".to_owned());
            }
        }
    }

    /// `if [ "$1" = --name ]`
    fn first_option(&mut self, head: &[Item]) -> bool {
        let mut names = Vec::new();
        for item in head {
            let Node::Command(command) = &item.node else { continue };
            let text = command.words.join(" ");
            let words: Vec<&str> = text.split_whitespace().collect();
            for three in words.windows(3) {
                let [left, operator, right] = three else { continue };
                let (Some(name), "=" | "==") = (plain(right), *operator) else { continue };
                let is_option = name.starts_with('-')
                    && name.len() > 1
                    && !name.contains(['*', '?', '['])
                    && name != "--";
                if is_option && (is_only(left, "1")) {
                    names.push(name);
                }
            }
        }
        let is_found = !names.is_empty();
        if is_found {
            self.first_options.push(names);
        }
        is_found
    }
}

fn names_position(command: &Command) -> bool {
    command.words.iter().any(|word| word.contains("${!"))
}

fn position(name: &str) -> Option<usize> {
    name.parse::<usize>().ok().filter(|index| (1..10).contains(index))
}
