//! Schema of a mapping: whether the mapping and the `inputSchema` of its tool fit together, and the schema of a tool that
//! has none.

use super::template::{Part, Template};
use super::words::Words;
use super::{Mapping, Variable};
use mcp_bash_hazards::HARMLESS;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// One place in which an argument is used.
struct Use<'a> {
    argument: &'a str,
    shape: Shape,
    place: Place,
    /// The key of the metadata that uses it.
    key: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Value,
    List,
    Flag,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A word that is always present.
    Word,
    /// Words that are left out if the argument is absent.
    Group,
    /// A variable or standard input, which can also be absent.
    Beside,
}

fn uses(mapping: &Mapping) -> Vec<Use<'_>> {
    let mut all = Vec::new();
    let key = mapping.words_key();
    for words in &mapping.words {
        match words {
            Words::Word(word) => push(&mut all, &word.template, Place::Word, key),
            Words::Group(words) => {
                for word in words {
                    push(&mut all, &word.template, Place::Group, key);
                }
            }
            Words::Repeated { list, .. } => {
                all.push(Use { argument: list, shape: Shape::List, place: Place::Group, key });
            }
            Words::Flag { argument, .. } => {
                all.push(Use { argument, shape: Shape::Flag, place: Place::Group, key });
            }
        }
    }
    for Variable { value, .. } in &mapping.variables {
        push(&mut all, value, Place::Beside, "env");
    }
    if let Some(input) = &mapping.input {
        push(&mut all, input, Place::Beside, "stdin");
    }
    all
}

fn push<'a>(all: &mut Vec<Use<'a>>, template: &'a Template, place: Place, key: &'static str) {
    all.extend(template.parts.iter().filter_map(|part| {
        let (argument, shape) = match part {
            Part::Fixed(_) => return None,
            Part::Argument(name) => (name, Shape::Value),
            Part::Each(name) => (name, Shape::List),
        };
        Some(Use { argument, shape, place, key })
    }));
}

/// The schema of a tool whose author has written none: texts, lists of texts and flags, required unless they can be left
/// out.
pub(super) fn derive(mapping: &Mapping) -> Result<Box<RawValue>, String> {
    let uses = uses(mapping);
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for used in &uses {
        let of_it = || uses.iter().filter(|other| other.argument == used.argument);
        if properties.contains_key(used.argument) {
            continue;
        }
        let mut text = json!({ "type": "string" });
        if mapping.is_restricted(used.argument) {
            text["pattern"] = HARMLESS.into();
        }
        let schema = if of_it().any(|used| used.shape == Shape::Flag) {
            json!({ "type": "boolean" })
        } else if of_it().any(|used| used.shape == Shape::List) {
            json!({ "type": "array", "items": text })
        } else {
            text
        };
        properties.insert(used.argument.to_owned(), schema);
        if of_it().any(|used| used.place != Place::Group) {
            required.push(used.argument);
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    RawValue::from_string(schema.to_string()).map_err(|error| error.to_string())
}

/// The possible values of an argument, by the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number.
    Number,
    /// True or false, or one of the values that the author lists.
    Choice,
}

/// The arguments that cannot be arbitrary text.
pub(super) fn kinds(schema: &RawValue) -> Vec<(String, Kind)> {
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let kind = |schema: &Value| match schema["type"].as_str() {
        _ if schema["enum"].is_array() || schema.get("const").is_some() => Some(Kind::Choice),
        Some("boolean") => Some(Kind::Choice),
        Some("integer" | "number") => Some(Kind::Number),
        _ => None,
    };
    // The elements of a list become words.
    let of = |schema: &Value| match schema["type"].as_str() {
        Some("array") => kind(&schema["items"]),
        _ => kind(schema),
    };
    properties.filter_map(|(name, schema)| Some((name.clone(), of(schema)?))).collect()
}

/// Reports what does not fit, and returns the schema's defaults for absent arguments, as JSON texts by name.
pub(super) fn fit(mapping: &Mapping, schema: &RawValue) -> Result<Vec<(String, String)>, String> {
    let schema: Value =
        serde_json::from_str(schema.get()).map_err(|error| format!("`inputSchema`: {error}"))?;
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let is_required = |name: &str| {
        schema["required"].as_array().is_some_and(|required| required.iter().any(|known| known == name))
    };
    // Other keywords may say more about the arguments than we can see here.
    let is_open = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some());
    let (mut problems, mut defaults) = (Vec::new(), Vec::new());
    for used in uses(mapping) {
        let (key, name) = (used.key, used.argument);
        let property = properties.get(name);
        let default = property.and_then(|property| property.get("default")).filter(|value| !value.is_null());
        if let Some(default) = default
            && !defaults.iter().any(|(known, _)| known == name)
        {
            defaults.push((name.to_owned(), default.to_string()));
        }
        let wanted = match used.shape {
            Shape::Value => None,
            Shape::List => Some("array"),
            Shape::Flag => Some("boolean"),
        };
        let declared = property.and_then(|property| property["type"].as_str());
        if property.is_none() && !is_open {
            problems.push(format!(
                "`{key}` uses the argument `{name}`, which `inputSchema` does not have ({}); correct one of the two",
                listed(properties)
            ));
        } else if let (Some(wanted), Some(declared)) = (wanted, declared)
            && wanted != declared
        {
            problems.push(format!(
                "`{key}` uses `{name}` as {}, and `inputSchema` says its type is \"{declared}\"; correct one of the two",
                if wanted == "array" { "a list" } else { "a flag" }
            ));
        } else if used.place == Place::Word
            && used.shape == Shape::Value
            && !is_open
            && !is_required(name)
            && default.is_none()
        {
            problems.push(format!(
                "`{key}` uses `{name}` in a word that is always there, and `inputSchema` does not require it; put the word \
                 in brackets with its flag to leave both out ([\"--{name}\", \"{{{name}}}\"]), name it in `required`, or \
                 give it a `default`"
            ));
        }
    }
    for (name, _) in &mapping.unrestricted {
        if !uses(mapping).iter().any(|used| used.argument == name) {
            problems.push(format!(
                "`unrestrictedArguments` names `{name}`, which nothing uses; correct the name"
            ));
        }
    }
    problems.dedup();
    if problems.is_empty() { Ok(defaults) } else { Err(problems.join("; ")) }
}

fn listed(properties: &Map<String, Value>) -> String {
    if properties.is_empty() {
        return "it has none".to_owned();
    }
    let names: Vec<String> = properties.keys().map(|name| format!("`{name}`")).collect();
    format!("it has {}", names.join(", "))
}

/// The arguments of the schema that nothing uses, and whether each occurs in a text with double braces, as in a prompt.
pub(super) fn unused(mapping: &Mapping, schema: &RawValue) -> Vec<(String, bool)> {
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let uses = uses(mapping);
    let names = schema["properties"].as_object().into_iter().flat_map(Map::keys);
    let unused = names.filter(|name| !uses.iter().any(|used| used.argument == *name));
    let has_two_braces = |name: &str| {
        let place = format!("{{{{{name}}}}}");
        mapping.written.iter().any(|(_, text)| text.contains(&place))
    };
    unused.map(|name| (name.clone(), has_two_braces(name))).collect()
}
