//! Makefile targets that people call. Its text is read only as far as needed to find them; make is not run.

use crate::argument::{Argument, ArgumentKind};
use crate::effect::Effect;
use crate::name::{argument_name, tool_name};
use crate::plain_text::plain_text;
use crate::shell_text::runs_what_follows;
use crate::unset_variables::{is_known_to_make, used};
use crate::word::{fixed, group, place};
use crate::{FileLocation, Imported, Tool};
use mcp_bash_hazards::{Control, control};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The names under which make finds a file by itself.
const USUAL: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Longer than anyone writes a recipe by hand, in bytes.
const LONGEST_RECIPE: usize = 64 * 1024;

/// More targets than anyone writes by hand.
const MOST_RULES: usize = 2000;

pub fn read(text: &str, file: FileLocation<'_>) -> Imported {
    let makefile = Makefile::read(text);
    let mut imported = Imported::default();
    for line in &makefile.included {
        imported.leave_out(line, "other files are not followed; import them by themselves");
    }
    for (target, why) in &makefile.unnameable {
        imported.leave_out(target, *why);
    }
    let are_marked = |rule: &&Rule| rule.help.is_some() || makefile.phony.contains(&rule.name);
    let only_marked = makefile.rules.iter().any(|rule| are_marked(&rule));
    for rule in &makefile.rules {
        if imported.is_full() {
            break;
        }
        if only_marked && !are_marked(&rule) {
            imported.leave_out(&rule.name, "it has no `## help` and is not .PHONY: a file that make builds");
        } else if let Some(name) = tool_name(&rule.name) {
            let tool = makefile.tool(rule, name, file, &mut imported);
            imported.tools.push(tool);
        } else {
            imported.leave_out(&rule.name, "its name has no letter or digit that a tool's name may have");
        }
    }
    imported
}

#[derive(Default)]
struct Makefile {
    /// In the order of the file, one for each target.
    rules: Vec<Rule>,
    /// The index of each target.
    by_name: BTreeMap<String, usize>,
    phony: BTreeSet<String>,
    /// All variables, as they are written.
    variables: BTreeMap<String, Variable>,
    included: Vec<String>,
    /// Names that are set for one target, in a loop or by `define`.
    set_elsewhere: BTreeSet<String>,
    /// Targets that cannot be named on the command line, and why.
    unnameable: Vec<(String, &'static str)>,
}

#[derive(Default)]
struct Rule {
    name: String,
    help: Option<String>,
    /// Its prerequisites and its recipe, as text.
    text: String,
    /// The lines of its recipe.
    recipe: Vec<String>,
    needs: Vec<String>,
}

impl Rule {
    /// Adds to its text. An overlong recipe is not read to its end.
    fn add(&mut self, text: &str) {
        if self.text.len() < LONGEST_RECIPE {
            self.text.push_str(text);
        }
    }

    fn add_line(&mut self, line: &str) {
        if self.text.len() < LONGEST_RECIPE {
            self.recipe.push(line.to_owned());
        }
        self.add(line);
    }
}

#[derive(Default)]
struct Variable {
    value: String,
    /// Whether it is assigned with `?=`, which is how an author says that it may be set from outside.
    may_be_set: bool,
    comment: String,
}

impl Makefile {
    fn read(text: &str) -> Self {
        let mut makefile = Self::default();
        let mut comment: Option<String> = None;
        let mut current: Vec<usize> = Vec::new();
        let mut is_define = false;
        for line in logical_lines(text) {
            let line = &*line;
            if is_define {
                is_define = line.trim() != "endef";
                continue;
            }
            if line.starts_with('\t') {
                for rule in &current {
                    makefile.rules[*rule].add_line(line);
                }
                continue;
            }
            let trimmed = line.trim();
            if trimmed.is_empty() {
                comment = None;
            } else if let Some(words) = trimmed.strip_prefix('#') {
                comment = Some(words.trim_start_matches('#').trim().to_owned());
            } else if trimmed.split_whitespace().next() == Some("define") {
                is_define = true;
                makefile.set_elsewhere.extend(trimmed.split_whitespace().nth(1).map(str::to_owned));
            } else if let Some((name, variable)) = variable(line) {
                let comment = comment.take().unwrap_or_default();
                makefile.variables.insert(name, Variable { comment, ..variable });
            } else if let Some(words) = trimmed.strip_prefix("include ").or(trimmed.strip_prefix("-include "))
            {
                makefile.included.push(format!("include {}", words.trim()));
            } else {
                current = makefile.rule(line, comment.take());
            }
        }
        makefile
    }

    /// Records the targets of a rule, and returns those that we import.
    fn rule(&mut self, line: &str, comment: Option<String>) -> Vec<usize> {
        let Some((targets, rest)) = line.split_once(':') else { return Vec::new() };
        if targets.contains(['=', '(', '{', '$', '#', '"']) {
            let is_rule =
                targets.contains('$') && !targets.contains(['=', '#', '"']) && has_whole_references(targets);
            if is_rule && self.unnameable.len() < MOST_RULES {
                self.unnameable
                    .push((targets.trim().to_owned(), "its name has variables, which only make knows"));
            }
            return Vec::new();
        }
        let (rest, help) = match rest.split_once("##") {
            Some((rest, help)) => (rest, Some(help.trim().to_owned())),
            None => (rest.split('#').next().unwrap_or_default(), None),
        };
        let (needs, own_recipe) = rest.split_once(';').unwrap_or((rest, ""));
        let needs = needs.trim_start_matches([':', '&']);
        if targets.trim() == ".PHONY" {
            self.phony.extend(needs.split_whitespace().map(str::to_owned));
            return Vec::new();
        }
        // A variable for one target, not a rule.
        if let Some((name, _)) = needs.split_once('=') {
            let name = name.trim_end_matches(['?', ':', '+', '!', ' ']).rsplit(' ').next();
            self.set_elsewhere.extend(name.map(str::to_owned));
            return Vec::new();
        }
        let help = help.or(comment).map(|words| plain_text(&words)).filter(|words| !words.is_empty());
        for name in targets.split_whitespace().filter(|name| name.starts_with('-')).take(100) {
            if self.unnameable.len() < MOST_RULES {
                self.unnameable.push((name.to_owned(), "make takes its name for an option"));
            }
        }
        let names = targets.split_whitespace().filter(|name| is_callable(name));
        let mut entered = Vec::new();
        for name in names.take(100) {
            let index = match self.by_name.get(name) {
                Some(index) => *index,
                None if self.rules.len() == MOST_RULES => continue,
                None => {
                    self.rules.push(Rule { name: name.to_owned(), ..Rule::default() });
                    self.by_name.insert(name.to_owned(), self.rules.len() - 1);
                    self.rules.len() - 1
                }
            };
            let rule = &mut self.rules[index];
            rule.help = rule.help.take().or_else(|| help.clone());
            rule.needs.extend(needs.split_whitespace().map(str::to_owned));
            rule.add(rest);
            rule.add_line(own_recipe);
            entered.push(index);
        }
        entered
    }

    fn tool(&self, rule: &Rule, name: String, file: FileLocation<'_>, imported: &mut Imported) -> Tool {
        let mut command = vec![fixed("make")];
        if !file.folder.is_empty() {
            command.extend(["--no-print-directory", "-C", file.folder].map(fixed));
        }
        if !USUAL.contains(&file.file) {
            command.extend(["-f", file.file].map(fixed));
        }
        command.push(fixed(&rule.name));
        let mut arguments = Vec::new();
        let (rules, variables) = self.used_by(rule);
        let unset = self.unset(&rules, &variables);
        for (variable, argument) in self.arguments(&variables).into_iter().chain(unset) {
            if control(&variable) == Control::Decides || self.runs(&variable, &rules) {
                imported.leave_out(format!("{} {variable}", rule.name), "make would run its value");
                continue;
            }
            command.push(word(&variable, &argument));
            arguments.push(argument);
        }
        Tool {
            name,
            origin: rule.name.clone(),
            description: match &rule.help {
                Some(help) => help.clone(),
                None => format!("Runs the target `{}` of {}", rule.name, file.file),
            },
            arguments,
            command,
            effect: Effect::of_recipe(&rule.name),
            ..Tool::default()
        }
    }

    /// The rule and all that it needs, and the variables that they use, directly or through other variables.
    fn used_by<'m>(&'m self, rule: &'m Rule) -> (Vec<&'m Rule>, BTreeSet<&'m str>) {
        let (mut rules, mut seen_rules) = (vec![rule], BTreeSet::from([&*rule.name]));
        let (mut texts, mut used, mut all) = (Vec::new(), BTreeSet::new(), Vec::new());
        while let Some(rule) = rules.pop() {
            all.push(rule);
            texts.push(&*rule.text);
            let needed = rule.needs.iter().filter_map(|name| self.by_name.get(name));
            rules
                .extend(needed.map(|index| &self.rules[*index]).filter(|rule| seen_rules.insert(&rule.name)));
        }
        while let Some(text) = texts.pop() {
            for name in references(text) {
                if let Some((name, variable)) = self.variables.get_key_value(name)
                    && used.insert(&**name)
                {
                    texts.push(&variable.value);
                }
            }
        }
        (all, used)
    }

    /// The arguments for those variables that may be set.
    fn arguments(&self, used: &BTreeSet<&str>) -> Vec<(String, Argument)> {
        let settable = used.iter().filter_map(|name| {
            let variable = self.variables.get(*name).filter(|variable| variable.may_be_set)?;
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            is_name.then_some(())?;
            Some(((*name).to_owned(), variable.argument(argument_name(name)?)))
        });
        settable.collect()
    }

    /// The arguments for variables that the rules use and the file never sets (`$(VERSION)`).
    fn unset(&self, rules: &[&Rule], variables: &BTreeSet<&str>) -> Vec<(String, Argument)> {
        let values = variables.iter().filter_map(|name| Some(&*self.variables.get(*name)?.value));
        let texts = rules.iter().map(|rule| &*rule.text).chain(values);
        let names: BTreeSet<&str> = texts.flat_map(used).collect();
        let is_unset = |name: &&str| {
            !self.variables.contains_key(*name)
                && !self.set_elsewhere.contains(*name)
                && !is_known_to_make(name)
        };
        let argument = |name: &str| {
            let mut argument = Argument::new(argument_name(name)?, ArgumentKind::HarmlessText);
            "The file uses this variable and does not set it".clone_into(&mut argument.description);
            Some((name.to_owned(), argument))
        };
        names.into_iter().filter(is_unset).filter_map(argument).collect()
    }

    /// Whether make or a shell would run the value of a variable: as a command or code of a recipe, as an included
    /// file, or as part of a variable that decides what is run.
    fn runs(&self, name: &str, rules: &[&Rule]) -> bool {
        let is_run_in =
            |text: &str| self.expanded(text, name).is_none_or(|text| run_in(&text).any(|run| run == name));
        let mentions = |text: &str| {
            self.expanded(text, name).is_none_or(|text| references(&text).any(|used| used == name))
        };
        let decides = |(variable, value): (&String, &Variable)| {
            (control(variable) == Control::Decides || variable.starts_with('.')) && mentions(&value.value)
        };
        // Its beginning is not a command, but `$(shell …)` in it is.
        let calls =
            |value: &Variable| value.value.contains("$(shell") && is_run_in(&format!("_ {}", value.value));
        rules.iter().flat_map(|rule| &rule.recipe).any(|line| is_run_in(line))
            || self.included.iter().any(|line| mentions(line))
            || self.variables.iter().any(decides)
            || self.variables.values().any(calls)
    }

    /// The text with the values of all variables but one filled in, as make would do it; `None` if it gets longer than
    /// anyone writes.
    fn expanded(&self, text: &str, except: &str) -> Option<String> {
        let mut text = text.to_owned();
        // Values have references of their own, which may be circular.
        for _ in 0..8 {
            let mut next = String::new();
            let mut parts = text.split('$');
            next.push_str(parts.next().unwrap_or_default());
            for part in parts {
                let reference = references_at(part).filter(|(name, _)| *name != except);
                match reference.and_then(|(name, rest)| Some((self.variables.get(name)?, rest))) {
                    Some((variable, rest)) => next.extend([&*variable.value, rest]),
                    None => next.extend(["$", part]),
                }
                if next.len() > LONGEST_RECIPE {
                    return None;
                }
            }
            if next == text {
                break;
            }
            text = next;
        }
        Some(text)
    }
}

/// The name in `(NAME)` or `{NAME}` at the beginning of a text, and what follows.
fn references_at(text: &str) -> Option<(&str, &str)> {
    let (inner, close) = match text.split_at_checked(1)? {
        ("(", inner) => (inner, ')'),
        ("{", inner) => (inner, '}'),
        _ => return None,
    };
    inner.split_once(close)
}

/// The variables whose value would be run in a line of a recipe: of make, and as a shell knows them (`$$NAME`).
fn run_in(line: &str) -> impl Iterator<Item = &str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let places =
        line.match_indices('$').filter(|(index, _)| runs_what_follows(line[..*index].trim_end_matches('$')));
    places.map(move |(index, _)| {
        let name = line[index..].trim_start_matches(['$', '(', '{']);
        &name[..name.find(|letter| !is_letter(letter)).unwrap_or(name.len())]
    })
}

impl Variable {
    fn argument(&self, name: String) -> Argument {
        let is_number =
            !self.value.is_empty() && self.value.len() < 10 && self.value.bytes().all(|b| b.is_ascii_digit());
        let kind = if is_number { ArgumentKind::Integer } else { ArgumentKind::HarmlessText };
        let default = plain_text(self.value.trim());
        let description = match (self.comment.is_empty(), default.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("Default: {default}"),
            (false, true) => plain_text(&self.comment),
            (false, false) => format!("{} (default: {default})", plain_text(&self.comment)),
        };
        Argument { description, ..Argument::new(name, kind) }
    }
}

fn word(variable: &str, argument: &Argument) -> Value {
    group(&[format!("{variable}={}", place(&argument.name))])
}

/// Whether every `$(` and `${` of a text is closed in it: otherwise its colon is inside a call, and does not make a
/// rule.
fn has_whole_references(text: &str) -> bool {
    let count = |signs: [char; 2]| text.matches(signs).count();
    !text.starts_with([' ', '\t']) && count(['(', '{']) == count([')', '}'])
}

/// Whether a target can be named on the command line, and is not a pattern or one of make's own.
fn is_callable(name: &str) -> bool {
    !name.starts_with(['.', '-', '/']) && !name.contains(['%', '=', '*', '?', '\\', '|'])
}

/// `NAME ?= value`, with any assignment operator.
fn variable(line: &str) -> Option<(String, Variable)> {
    let (left, value) = line.split_once('=')?;
    let may_be_set = left.ends_with('?');
    let left = left.trim_end_matches(['?', ':', '+', '!']).trim();
    let left = left.strip_prefix("export ").or(left.strip_prefix("override ")).unwrap_or(left).trim();
    let is_name = !left.is_empty() && !left.contains([' ', '\t', ':', '$', '#', '(']);
    let value = value.split(" #").next().unwrap_or_default().trim().to_owned();
    is_name.then(|| (left.to_owned(), Variable { value, may_be_set, comment: String::new() }))
}

/// The variables that a text refers to: `$(NAME)` and `${NAME}`, also `$(NAME:.c=.o)` and those inside calls.
fn references(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let inner = text.split('$').skip(1).filter_map(|rest| rest.strip_prefix(['(', '{']));
    inner.map(move |rest| &rest[..rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len())])
}

/// Logical lines, with continuation lines joined. Lines of recipes keep their tab.
fn logical_lines(text: &str) -> Vec<String> {
    let (mut lines, mut whole) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(part) = line.strip_suffix('\\') {
            whole.push_str(part);
            whole.push(' ');
        } else {
            whole.push_str(line);
            lines.push(std::mem::take(&mut whole));
        }
    }
    lines.push(whole);
    lines
}

#[cfg(test)]
mod tests;
