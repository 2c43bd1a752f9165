//! Fields of a map, read by name: unknown ones and those of the wrong type are refused with their place.

use crate::{Key, Node, Tree, Wrong};
use mcp_bash_spelling::nearest_or_longer;

/// The members of a map, all with known names.
pub struct Fields<'n>(&'n [(Key, Node)]);

impl<'n> Fields<'n> {
    /// The members of `node`, which is `what`. Those not in `known` are refused.
    pub fn of(node: &'n Node, what: &str, known: &[&str]) -> Result<Self, Wrong> {
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
                return Err(key.wrong(problem));
            }
        }
        Ok(Self(members))
    }

    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.0.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// The result of `read` for a member, if it is present.
    pub fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'n Node, &str) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        self.get(name).map(|node| read(node, name)).transpose()
    }

    /// The same with a default for a missing member.
    pub fn or_default<T: Default>(
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
pub fn kind(node: &Node) -> &'static str {
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
pub fn text(node: &Node, name: &str) -> Result<String, Wrong> {
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
pub fn texts(node: &Node, name: &str) -> Result<Vec<String>, Wrong> {
    match &node.value {
        Tree::List(items) => items.iter().map(|item| text(item, name)).collect(),
        _ => Ok(vec![text(node, name)?]),
    }
}

pub fn items<'n>(node: &'n Node, name: &str) -> Result<&'n [Node], Wrong> {
    match &node.value {
        Tree::List(items) => Ok(items),
        _ => Err(node.wrong(format!("`{name}` must be a list, and is {}", kind(node)))),
    }
}

pub fn members<'n>(node: &'n Node, name: &str) -> Result<&'n [(Key, Node)], Wrong> {
    match &node.value {
        Tree::Map(members) => Ok(members),
        _ => Err(node.wrong(format!("`{name}` must be a map, and is {}", kind(node)))),
    }
}

pub fn truth(node: &Node, name: &str) -> Result<bool, Wrong> {
    node.to_value().as_bool().ok_or_else(|| node.wrong(format!("`{name}` must be `true` or `false`")))
}

pub fn whole_number(node: &Node, name: &str) -> Result<i64, Wrong> {
    node.to_value().as_i64().ok_or_else(|| node.wrong(format!("`{name}` must be a whole number")))
}

pub fn number(node: &Node, name: &str) -> Result<f64, Wrong> {
    node.to_value().as_f64().ok_or_else(|| node.wrong(format!("`{name}` must be a number")))
}
