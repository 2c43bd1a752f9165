//! Option loops: `while … case "$1" in`, `for arg in "$@" … case "$arg" in`, and a single `case "$1" in`.

use super::checks::Checks;
use super::evaluated::Evaluated;
use super::expansion::{expansions, is_all_words, is_only, plain};
use super::flow::{any_command, assignments, children, each_command, mentions};
use super::tree::{Arm, Item, Node};
use crate::argument::ArgumentKind;
use crate::scripts::reading::{Evaluation, ScriptOption, ScriptPositional, ScriptReading, ValueForm};

/// A case over the words of the script.
pub(super) struct WordCase<'t> {
    pub(super) arms: Vec<&'t Arm>,
    /// The name that holds the word: `1`, or a variable.
    pub(super) holder: String,
    /// Whether the loop runs over all words, and cannot take the next one.
    is_each: bool,
    /// The variable of a loop over all words that does more with a word than to compare it.
    used: Option<&'t str>,
    is_loop: bool,
}

/// Reads all option loops. Returns whether there is one.
pub(super) fn read(evaluated: &Evaluated<'_>, checks: &Checks, reading: &mut ScriptReading) -> bool {
    let mut has_loop = false;
    walk(&evaluated.flow.main, evaluated, checks, reading, &mut has_loop);
    has_loop
}

fn walk(
    items: &[Item],
    evaluated: &Evaluated<'_>,
    checks: &Checks,
    reading: &mut ScriptReading,
    has_loop: &mut bool,
) {
    for item in items {
        match word_case(&item.node) {
            Some(case) if is_about_options(&case) || !case.is_loop => {
                *has_loop |= case.is_loop;
                case.read(evaluated, checks, reading);
            }
            _ => {
                for inner in children(&item.node) {
                    walk(inner, evaluated, checks, reading, has_loop);
                }
            }
        }
    }
}

/// Whether a node is a loop that reads options, and what it leaves is read after it.
pub(super) fn is_option_loop(node: &Node) -> bool {
    word_case(node).is_some_and(|case| case.is_loop && is_about_options(&case)) || is_getopts_loop(node)
}

pub(super) fn is_getopts_loop(node: &Node) -> bool {
    let calls = |items: &[Item]| {
        any_command(items, &mut |command| command.words.first().is_some_and(|word| word == "getopts"))
    };
    matches!(node, Node::While { head, body } if calls(head) || calls(body))
}

fn is_about_options(case: &WordCase<'_>) -> bool {
    case.arms
        .iter()
        .flat_map(|arm| &arm.patterns)
        .any(|pattern| pattern.trim_start_matches(['"', '\'']).starts_with('-'))
}

/// The case over the words of the script that a node is, or has as a loop.
pub(super) fn word_case(node: &Node) -> Option<WordCase<'_>> {
    match node {
        Node::Case { subject, arms, .. } if holder(subject).as_deref() == Some("1") => Some(WordCase {
            arms: arms.iter().collect(),
            holder: "1".to_owned(),
            is_each: false,
            used: None,
            is_loop: false,
        }),
        Node::While { body, .. } if !is_getopts_loop(node) => {
            let mut aliases = vec!["1".to_owned()];
            each_command(body, &mut |command| {
                aliases.extend(
                    assignments(command)
                        .iter()
                        .filter(|(_, _, value)| holder(value).as_deref() == Some("1"))
                        .map(|(name, ..)| (*name).to_owned()),
                );
            });
            inner_case(body, &aliases).map(|(arms, holder)| WordCase {
                arms,
                holder,
                is_each: false,
                used: None,
                is_loop: true,
            })
        }
        Node::For { variable, words, body, .. } => {
            let is_all = words.as_ref().is_none_or(|words| matches!(&**words, [word] if is_all_words(word)));
            let (arms, holder) = inner_case(body, std::slice::from_ref(variable)).filter(|_| is_all)?;
            let is_used = body.iter().any(|item| {
                !matches!(item.node, Node::Case { .. }) && mentions(std::slice::from_ref(item), variable)
            });
            Some(WordCase { arms, holder, is_each: true, used: is_used.then_some(variable), is_loop: true })
        }
        _ => None,
    }
}

/// The arms of all cases over these names, and the first of the names.
fn inner_case<'t>(items: &'t [Item], holders: &[String]) -> Option<(Vec<&'t Arm>, String)> {
    let mut found: Option<(Vec<&'t Arm>, String)> = None;
    for item in items {
        let inner = match &item.node {
            Node::Case { subject, arms, .. } => holder(subject)
                .filter(|name| holders.contains(name))
                .map(|name| (arms.iter().collect::<Vec<_>>(), name)),
            // An inner loop has words of its own.
            Node::While { .. } | Node::For { .. } => None,
            node => children(node).into_iter().find_map(|inner| inner_case(inner, holders)),
        };
        let Some((arms, name)) = inner else { continue };
        match &mut found {
            Some((known, _)) => known.extend(arms),
            None => found = Some((arms, name)),
        }
    }
    found
}

/// The name in `$1`, `"${1:-}"`, `"${arg%%=*}"`.
fn holder(word: &str) -> Option<String> {
    let found = expansions(word);
    let [one] = &*found else { return None };
    let is_whole = matches!(one.rest, "" | ":-" | "-" | "%%=*" | "%=*") && !one.is_inner;
    let starts = word.trim_start_matches('"').starts_with('$')
        && word.trim_end_matches('"').ends_with([one.name.chars().last()?, '}']);
    (is_whole && starts).then(|| one.name.to_owned())
}

impl WordCase<'_> {
    fn read(&self, evaluated: &Evaluated<'_>, checks: &Checks, reading: &mut ScriptReading) {
        let mut choices = Vec::new();
        let mut has_open_end = true;
        let mut others = Vec::new();
        for arm in &self.arms {
            let ends = evaluated.flow.ends(&arm.body);
            let evaluation = evaluated.use_in(&arm.body, &self.holder);
            let mut names = Names::default();
            for pattern in &arm.patterns {
                match plain(pattern) {
                    Some(pattern) => names.read(&pattern, ends),
                    None => names.unclear.push(pattern.clone()),
                }
            }
            for pattern in &names.unclear {
                reading.gap(format!("it takes options like `{pattern}`, which the draft does not have"));
            }
            if names.passes_on && self.is_loop {
                reading.gap("it also takes options that it does not name, and the draft does not have them");
            }
            if names.is_rest {
                has_open_end = !ends;
                if self.is_loop && !ends {
                    others.push((arm, evaluation));
                }
            }
            choices.extend(names.words.iter().cloned());
            for names in names.told_apart(mentions(&arm.body, &self.holder) || arm.body.is_empty()) {
                self.options(&names, arm, evaluation, checks, reading);
            }
        }
        if !self.is_loop && !reading.options.is_empty() && is_about_options(self) {
            let has_real = reading.options.iter().any(|option| !option.is_idle());
            if has_real {
                reading.doubt("it looks for these options in its first word only, so one of them at a time");
            }
        }
        let known = reading.positionals.len();
        self.words(choices, has_open_end, checks, reading);
        for positional in &mut reading.positionals[known..] {
            let of_others = others.iter().filter_map(|(_, evaluation)| *evaluation).max();
            positional.evaluation = of_others.max(evaluated.use_of(&self.holder));
        }
        for (arm, evaluation) in others {
            self.rest(arm, evaluation, checks, reading);
        }
        if let Some(name) = self.used.filter(|_| reading.positionals.is_empty()) {
            let list = ArgumentKind::List(Vec::new());
            let list = ScriptPositional::new(name, list, checks.counts().0 > 0);
            reading.positionals.push(ScriptPositional { evaluation: evaluated.use_of(name), ..list });
        }
    }

    fn options(
        &self,
        names: &Names,
        arm: &Arm,
        evaluation: Option<Evaluation>,
        checks: &Checks,
        reading: &mut ScriptReading,
    ) {
        let variable = self.variable(&arm.body);
        let is_required = variable.as_ref().is_some_and(|(name, _)| checks.not_empty.contains(name));
        let (name, is_repeated) = variable.map_or((None, false), |(name, repeated)| (Some(name), repeated));
        let mut entered: Option<ScriptOption> = None;
        if !names.plain.is_empty() {
            let takes = !self.is_each && Self::takes_next(&arm.body);
            let option = if takes {
                ScriptOption {
                    is_required,
                    is_repeated,
                    ..ScriptOption::with_value(names.plain.clone(), ValueForm::NextWord)
                }
            } else {
                ScriptOption::flag(names.plain.clone())
            };
            if self.is_each && mentions(&arm.body, "2") {
                reading.doubt(format!("`{}` reads another word in a way that is not clear", names.plain[0]));
            }
            entered = Some(ScriptOption { variable: name.clone(), evaluation, ..option });
        }
        if !names.joined.is_empty() || !names.attached.is_empty() {
            let form = if names.joined.is_empty() { ValueForm::Attached } else { ValueForm::Joined };
            let all: Vec<String> = names.joined.iter().chain(&names.attached).cloned().collect();
            let option = ScriptOption {
                is_required,
                is_repeated,
                variable: name,
                evaluation,
                ..ScriptOption::with_value(all, form)
            };
            match entered.as_mut().filter(|entered| entered.value.is_some()) {
                Some(entered) => {
                    entered
                        .names
                        .extend(option.names.iter().filter(|name| !names.plain.contains(name)).cloned());
                    if form == ValueForm::Joined {
                        entered.value = Some(ValueForm::Joined);
                    }
                }
                None => enter(option, reading),
            }
        }
        if let Some(option) = entered {
            enter(option, reading);
        }
    }

    /// Whether the body of an arm takes the word after the option.
    fn takes_next(body: &[Item]) -> bool {
        let (mut has_shifted, mut takes) = (false, mentions(body, "2"));
        each_command(body, &mut |command| {
            let is_shift = command.words.first().is_some_and(|word| word == "shift");
            if is_shift {
                let count = command.words.get(1).and_then(|count| count.parse::<usize>().ok()).unwrap_or(1);
                has_shifted |= count > 0;
                takes |= count > 1;
            } else if assignments(command).iter().any(|(name, ..)| name.contains("prev")) {
                // The next round of the loop takes it.
                takes = true;
            } else if has_shifted {
                takes |=
                    command.words.iter().any(|word| expansions(word).iter().any(|found| found.name == "1"));
            }
        });
        takes
    }

    /// The variable that an option sets, and whether it collects several values.
    fn variable(&self, body: &[Item]) -> Option<(String, bool)> {
        let mut found: Option<(String, bool, bool)> = None;
        each_command(body, &mut |command| {
            for (name, appends, value) in assignments(command) {
                let used = expansions(value);
                let has_value =
                    used.iter().any(|used| ["1", "2", "OPTARG", &self.holder].contains(&used.name));
                let collects = has_value
                    && (appends || used.iter().any(|used| used.name == name || used.name.is_empty()));
                let is_better = found.as_ref().is_none_or(|(_, known, _)| !known && has_value);
                if is_better && name != self.holder && name != "IFS" {
                    found = Some((name.to_owned(), has_value, collects));
                }
            }
        });
        found.map(|(name, _, collects)| (name, collects))
    }

    /// Words without a dash: commands of the script.
    fn words(&self, choices: Vec<String>, has_open_end: bool, checks: &Checks, reading: &mut ScriptReading) {
        if choices.iter().all(String::is_empty) || self.is_each {
            return;
        }
        let is_required = checks.counts().0 > 0 || !has_open_end && !choices.contains(&String::new());
        let choices: Vec<String> = choices.into_iter().filter(|choice| !choice.is_empty()).collect();
        if !reading.positionals.is_empty() {
            return;
        }
        let positional = match (self.is_loop, has_open_end) {
            // A loop takes as many of them as there are.
            (true, false) => {
                ScriptPositional::new("words", ArgumentKind::List(choices), checks.counts().0 > 0)
            }
            (true, true) => {
                reading.doubt("its words and its options are read in the same loop");
                ScriptPositional::new("command", ArgumentKind::Text, is_required)
            }
            (false, false) => ScriptPositional::new("command", ArgumentKind::OneOf(choices), is_required),
            (false, true) => {
                let description = format!("{}, or another word", choices.join(", "));
                let command = ScriptPositional::new("command", ArgumentKind::Text, is_required);
                ScriptPositional { description, ..command }
            }
        };
        reading.positionals.push(positional);
    }

    /// The arm for all other words: what it does with them.
    fn rest(&self, arm: &Arm, evaluation: Option<Evaluation>, checks: &Checks, reading: &mut ScriptReading) {
        let leaves =
            any_command(&arm.body, &mut |command| command.words.first().is_some_and(|word| word == "break"));
        if leaves {
            return;
        }
        let mut named = Vec::new();
        let mut list = None;
        each_command(&arm.body, &mut |command| {
            for (name, appends, value) in assignments(command) {
                let used = expansions(value);
                if !used.iter().any(|used| used.name == self.holder || used.name == "1") {
                    continue;
                }
                if appends || used.iter().any(|used| used.name == name) {
                    list = Some(name.to_owned());
                } else if is_only(value, &self.holder) || is_only(value, "1") {
                    named.push(name.to_owned());
                }
            }
        });
        let is_mentioned = || mentions(&arm.body, &self.holder) || mentions(&arm.body, "1");
        let mut enter = |name: String, kind: ArgumentKind| {
            let is_required = checks.not_empty.contains(&name);
            let positional = ScriptPositional::new(name, kind, is_required);
            reading.positionals.push(ScriptPositional { evaluation, ..positional });
        };
        if let Some(name) = list {
            enter(name, ArgumentKind::List(Vec::new()));
        } else if !named.is_empty() {
            named.dedup();
            for name in named {
                enter(name, ArgumentKind::Text);
            }
        } else if is_mentioned() {
            enter("args".to_owned(), ArgumentKind::List(Vec::new()));
        }
    }
}

/// Enters an option. One that takes a value in one form and none in another (`--prefix`, `--prefix=DIR`) is two.
fn enter(option: ScriptOption, reading: &mut ScriptReading) {
    let known =
        reading.options.iter().find(|known| known.names.iter().any(|name| option.names.contains(name)));
    if known.is_some_and(|known| known.value.is_some() != option.value.is_some()) {
        reading.options.push(option);
    } else {
        reading.add(option);
    }
}

/// The patterns of one arm.
#[derive(Debug, Default)]
struct Names {
    plain: Vec<String>,
    /// `--name=*`
    joined: Vec<String>,
    /// `-n*`
    attached: Vec<String>,
    words: Vec<String>,
    unclear: Vec<String>,
    /// Whether it stands for all other words.
    is_rest: bool,
    passes_on: bool,
}

impl Names {
    /// Names that are options of their own: letters without a long name, many long names, or names whose arm looks at
    /// which of them it is.
    fn told_apart(self, is_looked_at: bool) -> Vec<Self> {
        let long: Vec<&String> = self.plain.iter().filter(|name| name.starts_with("--")).collect();
        let is_whole = |name: &&&String| {
            !long.iter().any(|other| other.len() > name.len() && other.starts_with(&***name))
        };
        let whole = long.iter().filter(is_whole).take(3).count();
        let has_values = !self.joined.is_empty() || !self.attached.is_empty();
        let are_many = whole > 2 || long.is_empty() && self.plain.len() > 1 || is_looked_at && whole > 1;
        if has_values || !are_many {
            return vec![self];
        }
        self.plain.into_iter().map(|name| Self { plain: vec![name], ..Self::default() }).collect()
    }

    fn read(&mut self, pattern: &str, ends: bool) {
        let is_name =
            |name: &str| !name.contains(['*', '?', '[', ']']) && name.trim_start_matches('-').len() < 60;
        match pattern {
            "*" | "?*" => self.is_rest = true,
            // The end of options, or a case that only cuts a value off.
            "--" | "-" | "-*=*" | "--*=*" | "*=*" => {}
            "-*" | "-?*" | "--*" | "-?" | "--?*" | "-[!-]*" => self.passes_on |= !ends,
            _ if !pattern.starts_with('-') => {
                if is_name(pattern) {
                    self.words.push(pattern.to_owned());
                } else if !ends {
                    self.is_rest = true;
                }
            }
            _ if is_name(pattern) => self.plain.push(pattern.to_owned()),
            _ => self.read_glob(pattern, ends),
        }
    }

    fn read_glob(&mut self, pattern: &str, ends: bool) {
        let joined = ["=*", "=?*"].iter().find_map(|end| pattern.strip_suffix(end));
        let attached = ["?*", "*", "[0-9]*"]
            .iter()
            .find_map(|end| pattern.strip_suffix(end))
            .filter(|name| name.len() == 2);
        let class = pattern.strip_prefix("-[").and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = joined.filter(|name| !name.contains(['*', '?', '['])) {
            self.joined.push(name.to_owned());
        } else if let Some(name) = attached {
            self.attached.push(name.to_owned());
        } else if let Some(class) =
            class.filter(|class| class.chars().all(|letter| letter.is_ascii_alphanumeric()))
        {
            self.plain.extend(class.chars().map(|letter| format!("-{letter}")));
        } else if !ends {
            self.unclear.push(pattern.to_owned());
        }
    }
}
