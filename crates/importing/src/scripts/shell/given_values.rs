//! Given values: whether a script evaluates what a tool gives to it, as a word, in a variable, on its standard input, or as
//! a member of its arguments.

use super::checks::Checks;
use super::evaluated::{Evaluated, Use};
use super::flow::Flow;
use super::json_arguments::INPUT;
use super::place::WORD_OF_LOOP;
use super::{getopts, option_loop, tree};
use crate::scripts::reading::{Evaluation, ScriptOption, ScriptPositional, ScriptReading};
use std::collections::BTreeMap;

/// As many words as are looked at.
const MOST_WORDS: usize = 40;

/// Which values a shell script evaluates as numbers or as names of variables. A caller who chooses such a value freely can
/// run a command with it. Values that the script checks itself are not among them.
#[derive(Debug, Default)]
pub struct ShellEvaluations {
    uses: BTreeMap<String, Use>,
    options: Vec<ScriptOption>,
    positionals: Vec<ScriptPositional>,
}

/// A value that is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluatedValue {
    pub evaluation: Evaluation,
    pub line: Option<usize>,
}

/// A word that a script is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenWord<'a> {
    /// The text before the value, or the whole word if it has none.
    pub text: &'a str,
    pub has_value: bool,
    /// Whether it is a word for each element of a list.
    pub is_list: bool,
    /// The group that it is present or absent with.
    pub group: Option<usize>,
}

impl ShellEvaluations {
    /// Nothing is found in a text that cannot be read to its end.
    pub fn of(text: &str) -> Self {
        let Some(items) = tree::parse(text) else { return Self::default() };
        let flow = Flow::of(&items);
        let evaluated = Evaluated::of(&flow, text);
        let uses = evaluated.unchecked();
        if uses.is_empty() {
            return Self::default();
        }
        let checks = Checks::of(&flow);
        let mut reading = ScriptReading::default();
        option_loop::read(&evaluated, &checks, &mut reading);
        getopts::read(&evaluated, &checks, &mut reading);
        Self { uses, options: reading.options, positionals: reading.positionals }
    }

    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    pub fn of_variable(&self, name: &str) -> Option<EvaluatedValue> {
        let is_variable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.use_of(name).filter(|_| is_variable)
    }

    /// The text on its standard input.
    pub fn of_input(&self) -> Option<EvaluatedValue> {
        self.use_of(INPUT)
    }

    /// Members of the arguments as JSON, as paths with dots; `[]` at the end for the elements of a list. Those that it reads
    /// from standard input are only there if the arguments are.
    pub fn of_members(&self, with_input: bool) -> Vec<(&str, EvaluatedValue)> {
        let member = |name: &'_ str| -> Option<(usize, usize)> {
            let inner = name.strip_prefix('{')?.strip_suffix('}')?;
            let from_input = inner.starts_with('<');
            (!from_input || with_input).then_some((1 + usize::from(from_input), name.len() - 1))
        };
        let mut all: Vec<(&str, EvaluatedValue)> = Vec::new();
        for (name, found) in &self.uses {
            if let Some((from, to)) = member(name)
                && !all.iter().any(|(known, _)| *known == &name[from..to])
            {
                all.push((&name[from..to], value(*found)));
            }
        }
        all
    }

    /// The words that are evaluated, by their indices. A word whose place depends on the call is not judged.
    pub fn of_words(&self, words: &[GivenWord<'_>]) -> Vec<(usize, EvaluatedValue)> {
        let mut found = Vec::new();
        let mut at = Some(1);
        let mut option: Option<&ScriptOption> = None;
        for (index, word) in words.iter().enumerate() {
            let evaluated = if let Some(option) = option.take() {
                self.of_option(option)
            } else if word.text.starts_with('-') && word.text.len() > 1 {
                let (name, value) = word.text.split_once('=').unwrap_or((word.text, ""));
                let short = word.text.get(..2).unwrap_or_default();
                let is_joined = word.has_value && value.is_empty() && word.text.ends_with('=');
                if word.text == "--" && !self.options.is_empty() {
                    None
                } else if let Some(known) = self.option(name).filter(|_| !word.has_value || is_joined) {
                    option = Some(known).filter(|known| !word.has_value && known.value.is_some());
                    if word.has_value { self.of_option(known) } else { None }
                } else if let Some(known) =
                    self.option(short).filter(|_| word.has_value && word.text == short)
                {
                    self.of_option(known)
                } else {
                    // Whether the script knows such an option is not known.
                    at = after(at.filter(|_| self.options.is_empty()), words, index);
                    None
                }
            } else {
                let evaluated = self.of_position(at, word.is_list);
                at = after(at, words, index);
                evaluated
            };
            found.extend(evaluated.filter(|_| word.has_value).map(|evaluated| (index, evaluated)));
        }
        found
    }

    fn option(&self, name: &str) -> Option<&ScriptOption> {
        self.options.iter().find(|option| option.names.iter().any(|known| known == name))
    }

    fn of_option(&self, option: &ScriptOption) -> Option<EvaluatedValue> {
        let by_variable = option.variable.as_deref().and_then(|name| self.use_of(name));
        // What the arm of the option itself evaluates has no line of its own.
        let direct = option.evaluation.filter(|_| option.variable.is_none());
        by_variable.or(direct.map(|evaluation| EvaluatedValue { evaluation, line: None }))
    }

    fn of_position(&self, at: Option<usize>, is_list: bool) -> Option<EvaluatedValue> {
        let at = at.filter(|at| *at <= MOST_WORDS);
        let last = if is_list { MOST_WORDS } else { at.unwrap_or_default() };
        let own = at.and_then(|at| (at..=last).find_map(|at| self.use_of(&at.to_string())));
        let by_loop = || {
            let positional = self
                .positionals
                .get(at?.checked_sub(1)?)
                .or_else(|| self.positionals.last().filter(|positional| positional.kind.is_list()))?;
            self.use_of(&positional.name)
        };
        own.or_else(|| self.use_of("@")).or_else(by_loop).or_else(|| self.use_of(WORD_OF_LOOP))
    }

    fn use_of(&self, name: &str) -> Option<EvaluatedValue> {
        self.uses.get(name).copied().map(value)
    }
}

/// The position after a word, if it is the same in each call.
fn after(at: Option<usize>, words: &[GivenWord<'_>], index: usize) -> Option<usize> {
    let word = &words[index];
    let ends_group = word.group.is_some() && words.get(index + 1).is_none_or(|next| next.group != word.group);
    at.filter(|_| !word.is_list && !ends_group).map(|at| at + 1)
}

fn value(found: Use) -> EvaluatedValue {
    EvaluatedValue { evaluation: found.evaluation, line: Some(found.line).filter(|line| *line > 0) }
}
