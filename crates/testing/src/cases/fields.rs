//! Fields of a case file, read by name: unknown ones and those of the wrong type are refused with their line.

use crate::cases::case::Pattern;
use crate::cases::node::{Key, Node, Tree, Wrong};
use mcp_bash_spelling::nearest_or_longer;
use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// The members of a map, all with known names.
pub(crate) struct Fields<'n>(&'n [(Key, Node)]);

impl<'n> Fields<'n> {
    /// The members of `node`, which is `what`. Those not in `known` are refused.
    pub(crate) fn of(node: &'n Node, what: &str, known: &[&str]) -> Result<Self, Wrong> {
        let Tree::Map(members) = &node.value else {
            return Err(node.wrong(format!("{what} is written as `key: value`; this is {}", kind(node))));
        };
        for (key, _) in members {
            if !known.contains(&&*key.name) {
                let meant = nearest_or_longer(&key.name, known);
                let remedy = meant.map_or_else(
                    || format!("it may have {}", list_of(known)),
                    |meant| format!("did you mean `{meant}`?"),
                );
                let problem = format!("{what} has no key `{}`; {remedy}", key.name);
                return Err(Wrong { line: Some(key.line), problem });
            }
        }
        Ok(Self(members))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.0.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// The result of `read` for a member, if it is present.
    pub(crate) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'n Node, &str) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        self.get(name).map(|node| read(node, name)).transpose()
    }

    /// The same with a default for a missing member.
    pub(crate) fn or_default<T: Default>(
        &self,
        name: &str,
        read: impl FnOnce(&'n Node, &str) -> Result<T, Wrong>,
    ) -> Result<T, Wrong> {
        self.optional(name, read).map(Option::unwrap_or_default)
    }
}

fn list_of(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The type of a value, for people.
pub(crate) fn kind(node: &Node) -> &'static str {
    use serde_json::Value;
    match &node.value {
        Tree::List(_) => "a list",
        Tree::Map(_) => "a map",
        Tree::Plain(Value::Null) => "nothing",
        Tree::Plain(Value::Bool(_)) => "a truth value",
        Tree::Plain(Value::Number(_)) => "a number",
        Tree::Plain(_) => "a text",
    }
}

/// A text. Integers and booleans keep their spelling as text; other values may not, and need quotes.
pub(crate) fn text(node: &Node, name: &str) -> Result<String, Wrong> {
    use serde_json::Value;
    match &node.value {
        Tree::Plain(Value::String(text)) => Ok(text.clone()),
        Tree::Plain(Value::Bool(value)) => Ok(value.to_string()),
        Tree::Plain(Value::Number(number)) if !number.is_f64() => Ok(number.to_string()),
        Tree::Plain(Value::Number(_)) => {
            Err(node.wrong(format!("`{name}` must be a text; put quotes around it")))
        }
        _ => Err(node.wrong(format!("`{name}` must be a text, and is {}", kind(node)))),
    }
}

/// A text, or a list of them.
pub(crate) fn texts(node: &Node, name: &str) -> Result<Vec<String>, Wrong> {
    match &node.value {
        Tree::List(items) => items.iter().map(|item| text(item, name)).collect(),
        _ => Ok(vec![text(node, name)?]),
    }
}

pub(crate) fn items<'n>(node: &'n Node, name: &str) -> Result<&'n [Node], Wrong> {
    match &node.value {
        Tree::List(items) => Ok(items),
        _ => Err(node.wrong(format!("`{name}` must be a list, and is {}", kind(node)))),
    }
}

pub(crate) fn members<'n>(node: &'n Node, name: &str) -> Result<&'n [(Key, Node)], Wrong> {
    match &node.value {
        Tree::Map(members) => Ok(members),
        _ => Err(node.wrong(format!("`{name}` must be a map, and is {}", kind(node)))),
    }
}

pub(crate) fn truth(node: &Node, name: &str) -> Result<bool, Wrong> {
    node.to_value().as_bool().ok_or_else(|| node.wrong(format!("`{name}` must be `true` or `false`")))
}

pub(crate) fn whole_number(node: &Node, name: &str) -> Result<i64, Wrong> {
    node.to_value().as_i64().ok_or_else(|| node.wrong(format!("`{name}` must be a whole number")))
}

pub(crate) fn number(node: &Node, name: &str) -> Result<f64, Wrong> {
    node.to_value().as_f64().ok_or_else(|| node.wrong(format!("`{name}` must be a number")))
}

/// A regular expression, or a list of them.
pub(crate) fn patterns(node: &Node, name: &str) -> Result<Vec<Pattern>, Wrong> {
    match &node.value {
        Tree::List(items) => items.iter().map(|item| pattern(item, name)).collect(),
        _ => Ok(vec![pattern(node, name)?]),
    }
}

pub(crate) fn pattern(node: &Node, name: &str) -> Result<Pattern, Wrong> {
    let written = text(node, name)?;
    // In results these stand for folders, and a `$` in a pattern is the end of the text.
    let literal = written.replace("${dir}", r"\$\{dir\}").replace("${project}", r"\$\{project\}");
    match Regex::new(&literal) {
        Ok(regex) => Ok(Pattern { written, regex }),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Err(node.wrong(format!("`{name}` is no regular expression: {reason}")))
        }
    }
}

/// A path that stays below the folder of the case.
pub(crate) fn inner_path(key: &Key) -> Result<String, Wrong> {
    let is_inside = !key.name.is_empty()
        && !key.name.contains('\0')
        && Path::new(&key.name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_inside {
        return Ok(key.name.clone());
    }
    let problem = format!("`{}` leads out of the folder of the case; paths are relative to it", key.name);
    Err(Wrong { line: Some(key.line), problem })
}

/// Variables of an environment.
pub(crate) fn environment(node: &Node, name: &str) -> Result<BTreeMap<String, String>, Wrong> {
    let variables = members(node, name)?.iter().map(|(Key { name, line }, value)| {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        let value = text(value, name)?;
        if is_name && !value.contains('\0') {
            return Ok((name.clone(), value));
        }
        Err(Wrong { line: Some(*line), problem: format!("`{name}` cannot be a variable of the environment") })
    });
    variables.collect()
}
