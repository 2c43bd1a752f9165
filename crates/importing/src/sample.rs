//! Sample call of a draft: values for its arguments, and the command that they must become.

use crate::argument::{Argument, ArgumentKind};
use crate::tool::Tool;
use serde_json::{Map, Value, json};

/// A call, and what would be run.
#[derive(Debug, PartialEq)]
pub struct Sample {
    pub arguments: Value,
    pub command: Vec<String>,
    pub variables: Map<String, Value>,
    pub stdin: Option<String>,
}

impl Tool {
    /// A call with all its arguments, or with the required ones only.
    pub fn sample(&self, has_all: bool) -> Sample {
        let given = |argument: &&Argument| has_all || argument.is_required;
        let values: Map<String, Value> = self
            .arguments
            .iter()
            .filter(given)
            .map(|argument| (argument.name.clone(), argument.kind.sample()))
            .collect();
        let command = self.command.iter().flat_map(|element| words(element, &values)).collect();
        let variables = self
            .environment
            .iter()
            .filter_map(|(name, template)| Some((name.clone(), filled(template, &values)?.into())))
            .collect();
        let stdin = self.input.as_ref().and_then(|template| filled(template, &values));
        Sample { arguments: values.into(), command, variables, stdin }
    }
}

impl ArgumentKind {
    fn sample(&self) -> Value {
        match self {
            Self::Text | Self::HarmlessText | Self::Line => json!("text"),
            Self::Integer | Self::Number => json!(1),
            Self::Boolean => json!(true),
            Self::OneOf(choices) => json!(choices.first()),
            Self::List(choices) if !choices.is_empty() => json!(choices.iter().take(2).collect::<Vec<_>>()),
            Self::List(_) | Self::HarmlessList => json!(["one", "two"]),
            Self::Integers => json!([1, 2]),
        }
    }
}

/// The words that an element of a command becomes.
fn words(element: &Value, values: &Map<String, Value>) -> Vec<String> {
    match element {
        Value::String(word) => spread(word, values).unwrap_or_default(),
        Value::Object(flag) => {
            let is_set = flag["if"].as_str().and_then(|name| values.get(name)) == Some(&Value::Bool(true));
            if is_set { vec![flag["flag"].as_str().unwrap_or_default().to_owned()] } else { Vec::new() }
        }
        Value::Array(group) => {
            let texts: Vec<&str> = group.iter().filter_map(Value::as_str).collect();
            if let [name, value, "..."] = &*texts {
                let list = value.trim_matches(['{', '}']);
                let elements = values.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
                return elements.iter().flat_map(|element| [plain(name), shown(element)]).collect();
            }
            let all: Option<Vec<Vec<String>>> = texts.iter().map(|word| spread(word, values)).collect();
            all.unwrap_or_default().concat()
        }
        _ => Vec::new(),
    }
}

/// A word with its argument filled in: once for each element of a list. `None` if the argument is absent.
fn spread(word: &str, values: &Map<String, Value>) -> Option<Vec<String>> {
    let Some((prefix, name)) = placeholder(word) else { return Some(vec![plain(word)]) };
    match name.strip_suffix("...") {
        Some(list) => Some(
            values.get(list)?.as_array()?.iter().map(|element| prefix.clone() + &shown(element)).collect(),
        ),
        None => Some(vec![prefix + &shown(values.get(name)?)]),
    }
}

/// The text before a placeholder at the end of a word, and its name.
fn placeholder(word: &str) -> Option<(String, &str)> {
    let inner = word.strip_suffix('}')?;
    let start = inner.rfind('{')?;
    let is_escaped = inner.ends_with('}') || inner[..start].ends_with('{');
    (!is_escaped).then(|| (plain(&inner[..start]), &inner[start + 1..]))
}

/// All placeholders of a text filled in; `None` if an argument is absent.
fn filled(template: &str, values: &Map<String, Value>) -> Option<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, following) = after.split_once('}')?;
        text.push_str(before);
        text.push_str(&shown(values.get(name)?));
        rest = following;
    }
    Some(text + rest)
}

fn plain(word: &str) -> String {
    word.replace("{{", "{").replace("}}", "}")
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
