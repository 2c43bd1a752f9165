//! Policy files: YAML becomes rules, or errors with their places.

use crate::decide::Policy;
use crate::error::{PolicyError, Problem};
use crate::limits::{LONGEST_FILE, MOST_REDACTIONS, MOST_RULES};
use crate::message::Message;
use crate::place;
use crate::pointer::Pointer;
use crate::redact::Redaction;
use crate::request::{ARGS, Kind, PROMPT, RESOURCE, ROOTS, TOOL, VARIABLES};
use crate::rule::{Effect, Rule};
use mcp_bash_cel::{Program, Search};
use mcp_bash_yaml::{Fields, Node, Tree, items, text};
use serde_json::Value;

const KEYS: [&str; 3] = ["version", "default", "rules"];
const RULE_KEYS: [&str; 6] = ["name", "when", "allow", "deny", "confirm", "redact"];

/// The longest name of a rule.
const LONGEST_NAME: usize = 64;

fn at(node: &Node, problem: Problem) -> PolicyError {
    PolicyError { line: Some(node.line), column: Some(node.column), problem: problem.into() }
}

fn nowhere(problem: Problem) -> PolicyError {
    PolicyError { line: None, column: None, problem: problem.into() }
}

impl Policy {
    /// Reads a policy; or returns everything that is wrong in it, in the order of the file.
    pub fn parse(file: &[u8]) -> Result<Self, Vec<PolicyError>> {
        let length = file.len() as u64;
        if length > LONGEST_FILE {
            return Err(vec![nowhere(Problem::TooLarge(length))]);
        }
        let file = std::str::from_utf8(file).map_err(|_| vec![nowhere(Problem::NotText)])?;
        let file = file.trim_start_matches('\u{feff}');
        let node = Node::read(file).map_err(|wrong| vec![wrong.into()])?;
        Reader { file, errors: Vec::new() }.policy(&node)
    }
}

struct Reader<'f> {
    file: &'f str,
    errors: Vec<PolicyError>,
}

impl Reader<'_> {
    fn policy(mut self, node: &Node) -> Result<Policy, Vec<PolicyError>> {
        if matches!(node.value, Tree::Plain(Value::Null)) {
            return Err(vec![nowhere(Problem::Empty)]);
        }
        let fields = Fields::of(node, "a policy", &KEYS).map_err(|wrong| vec![wrong.into()])?;
        self.version(fields.get("version"));
        let allows_by_default = self.default(fields.get("default"));
        let rules = if let Some(rules) = fields.get("rules") {
            self.rules(rules)
        } else {
            let missing = Problem::Missing("rules", "write `rules: []` for a policy with no rules");
            self.errors.push(nowhere(missing));
            Vec::new()
        };
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let named = std::array::from_fn(|variable| rules.iter().any(|rule| rule.names(variable)));
        Ok(Policy { allows_by_default, rules, named })
    }

    fn version(&mut self, node: Option<&Node>) {
        let Some(node) = node else {
            self.errors.push(nowhere(Problem::Missing("version", "write `version: 1`")));
            return;
        };
        if node.to_value() != 1 {
            self.errors.push(at(node, Problem::Version(node.to_value().to_string())));
        }
    }

    fn default(&mut self, node: Option<&Node>) -> bool {
        let Some(node) = node else {
            let remedy = "write `default: allow` or `default: deny` for requests that no rule decides";
            self.errors.push(nowhere(Problem::Missing("default", remedy)));
            return false;
        };
        match node.to_value().as_str() {
            Some("allow") => true,
            Some("deny") => false,
            other => {
                let written = other.map_or_else(|| node.to_value().to_string(), str::to_owned);
                self.errors.push(at(node, Problem::Default(written)));
                false
            }
        }
    }

    fn rules(&mut self, node: &Node) -> Vec<Rule> {
        let listed = match items(node, "rules") {
            Ok(listed) => listed,
            Err(wrong) => {
                self.errors.push(wrong.into());
                return Vec::new();
            }
        };
        if listed.len() > MOST_RULES {
            self.errors.push(at(node, Problem::TooManyRules(listed.len())));
            return Vec::new();
        }
        let mut rules: Vec<Rule> = Vec::new();
        for (number, node) in (1..).zip(listed) {
            match self.rule(node, number) {
                Ok(rule) => {
                    if let Some(other) = rules.iter().find(|other| other.name == rule.name) {
                        let (name, line) = (rule.name.clone(), other.line);
                        self.errors.push(at(node, Problem::DuplicateName { name, line }));
                    }
                    rules.push(rule);
                }
                Err(error) => self.errors.push(error),
            }
        }
        rules
    }

    fn rule(&self, node: &Node, number: usize) -> Result<Rule, PolicyError> {
        let fields = Fields::of(node, "a rule", &RULE_KEYS)?;
        let name = match fields.get("name") {
            Some(named) => rule_name(named)?,
            None => format!("rule {number}"),
        };
        let when = fields.get("when").map(|when| self.expression(&name, when)).transpose()?;
        let effect = effect(node, &name, &fields)?;
        let mut rule = Rule { name, line: node.line, when, kinds: Vec::new(), effect };
        rule.kinds = Kind::ALL.into_iter().filter(|kind| applies_to(*kind, &rule)).collect();
        if rule.kinds.is_empty() {
            let found =
                [TOOL, RESOURCE, PROMPT, ARGS, ROOTS].into_iter().filter(|variable| rule.names(*variable));
            let mut found = found.map(|variable| VARIABLES[variable].name);
            let (first, second) = (found.next().unwrap_or_default(), found.next().unwrap_or_default());
            return Err(at(node, Problem::NoSubject { rule: rule.name, first, second }));
        }
        Ok(rule)
    }

    fn expression(&self, rule: &str, node: &Node) -> Result<Program, PolicyError> {
        let source = text(node, "when")?;
        Program::compile(&source, &VARIABLES).map_err(|error| {
            let (line, column) = place::of(self.file, node, error.at);
            let problem = Problem::Expression { rule: rule.to_owned(), error: error.into() };
            PolicyError { line: Some(line), column: Some(column), problem: problem.into() }
        })
    }
}

fn effect(node: &Node, name: &str, fields: &Fields<'_>) -> Result<Effect, PolicyError> {
    let rule = || name.to_owned();
    let given: Vec<(&'static str, &Node)> = ["allow", "deny", "confirm", "redact"]
        .into_iter()
        .filter_map(|key| fields.get(key).map(|node| (key, node)))
        .collect();
    match given[..] {
        [] => Err(at(node, Problem::NoEffect { rule: rule() })),
        [("allow", value)] if value.to_value() == true => Ok(Effect::Allow),
        [("allow", value)] => Err(at(value, Problem::Allow { rule: rule() })),
        [("redact", value)] => redactions(name, value).map(|redactions| Effect::Redact(redactions.into())),
        [(key, value)] => {
            let written = text(value, key)?;
            if written.trim().is_empty() || value.to_value().is_boolean() {
                return Err(at(value, Problem::NoMessage { rule: rule(), key }));
            }
            let message = Message::parse(name, &written).map_err(|problem| at(value, problem))?;
            Ok(if key == "deny" { Effect::Deny(message) } else { Effect::Confirm(message) })
        }
        [(first, _), (second, value), ..] => {
            Err(at(value, Problem::TwoEffects { rule: rule(), first, second }))
        }
    }
}

/// Whether requests of a kind have all the variables that a rule names.
fn applies_to(kind: Kind, rule: &Rule) -> bool {
    let absent: &[usize] = match kind {
        Kind::Tool => &[RESOURCE, PROMPT],
        Kind::Resource => &[TOOL, PROMPT, ARGS, ROOTS],
        Kind::Prompt => &[TOOL, RESOURCE, ROOTS],
    };
    !absent.iter().any(|variable| rule.names(*variable))
}

fn rule_name(node: &Node) -> Result<String, PolicyError> {
    let name = text(node, "name")?;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        let shown = name.chars().take(LONGEST_NAME).collect();
        return Err(at(node, Problem::BadName(shown)));
    }
    Ok(name)
}

fn redactions(rule: &str, node: &Node) -> Result<Vec<Redaction>, PolicyError> {
    let rule = || rule.to_owned();
    let Tree::List(entries) = &node.value else { return Err(at(node, Problem::Redact { rule: rule() })) };
    if entries.is_empty() {
        return Err(at(node, Problem::Redact { rule: rule() }));
    }
    if entries.len() > MOST_REDACTIONS {
        return Err(at(node, Problem::TooManyRedactions { rule: rule(), count: entries.len() }));
    }
    let redaction = |entry: &Node| match &entry.value {
        Tree::Plain(Value::String(pointer)) => {
            let parsed = Pointer::parse(pointer).map(Redaction::Pointer);
            parsed.ok_or_else(|| at(entry, Problem::Pointer { rule: rule(), pointer: pointer.clone() }))
        }
        Tree::Map(_) => {
            let fields = Fields::of(entry, "an entry of `redact`", &["pattern"])?;
            let source = fields.get("pattern").ok_or_else(|| at(entry, Problem::Redact { rule: rule() }))?;
            let written = text(source, "pattern")?;
            let pattern = Search::compile(&written)
                .map_err(|error| at(source, Problem::Pattern { rule: rule(), error }))?;
            if pattern.finds_empty_text() {
                return Err(at(source, Problem::EmptyMatch { rule: rule(), pattern: written }));
            }
            Ok(Redaction::Pattern(Box::new(pattern)))
        }
        _ => Err(at(entry, Problem::Redact { rule: rule() })),
    };
    entries.iter().map(redaction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_published_schema_has_the_keys_that_are_read() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../schemas/policy.schema.json")).unwrap();
        let described = |object: &Value| -> BTreeSet<String> {
            object["properties"].as_object().unwrap().keys().cloned().collect()
        };
        let read = |keys: &[&str]| keys.iter().map(ToString::to_string).collect();
        assert_eq!(described(&schema), read(&KEYS));
        assert_eq!(described(&schema["$defs"]["rule"]), read(&RULE_KEYS));
    }
}
