//! Schema of a mapping: whether the mapping and the `inputSchema` of its tool fit together, and the schema of a tool that
//! has none.

use super::error::MappingError;
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
    place: UsePlace,
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
enum UsePlace {
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
            Words::Word(word) => push(&mut all, &word.template, UsePlace::Word, key),
            Words::Group(words) => {
                for word in words {
                    push(&mut all, &word.template, UsePlace::Group, key);
                }
            }
            Words::Repeated { list, .. } => {
                all.push(Use { argument: list, shape: Shape::List, place: UsePlace::Group, key });
            }
            Words::Flag { argument, .. } => {
                all.push(Use { argument, shape: Shape::Flag, place: UsePlace::Group, key });
            }
        }
    }
    for Variable { value, .. } in &mapping.variables {
        push(&mut all, value, UsePlace::Beside, "env");
    }
    if let Some(input) = &mapping.input {
        push(&mut all, input, UsePlace::Beside, "stdin");
    }
    all
}

fn push<'a>(all: &mut Vec<Use<'a>>, template: &'a Template, place: UsePlace, key: &'static str) {
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
pub(super) fn derive(mapping: &Mapping) -> Result<Box<RawValue>, MappingError> {
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
        if of_it().any(|used| used.place != UsePlace::Group) {
            required.push(used.argument);
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    RawValue::from_string(schema.to_string()).map_err(MappingError::not_json("inputSchema"))
}

/// The possible values of an argument, by the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// A number.
    Number,
    /// True or false, or one of the values that the author lists.
    Choice,
}

/// The arguments that cannot be arbitrary text.
pub(super) fn kinds(schema: &RawValue) -> Vec<(String, ValueKind)> {
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let kind = |schema: &Value| match schema["type"].as_str() {
        _ if schema["enum"].is_array() || schema.get("const").is_some() => Some(ValueKind::Choice),
        Some("boolean") => Some(ValueKind::Choice),
        Some("integer" | "number") => Some(ValueKind::Number),
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
pub(super) fn fit(mapping: &Mapping, schema: &RawValue) -> Result<Vec<(String, String)>, MappingError> {
    let schema: Value = serde_json::from_str(schema.get()).map_err(MappingError::not_json("inputSchema"))?;
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
            let known = properties.keys().cloned().collect();
            problems.push(MappingError::UnknownArgument { key, name: name.to_owned(), known });
        } else if let (Some(wanted), Some(declared)) = (wanted, declared)
            && wanted != declared
        {
            let used = if wanted == "array" { "a list" } else { "a flag" };
            let (name, declared) = (name.to_owned(), declared.to_owned());
            problems.push(MappingError::OtherType { key, name, used, declared });
        } else if used.place == UsePlace::Word
            && used.shape == Shape::Value
            && !is_open
            && !is_required(name)
            && default.is_none()
        {
            problems.push(MappingError::NotRequired { key, name: name.to_owned() });
        }
    }
    for (name, _) in &mapping.unrestricted {
        if !uses(mapping).iter().any(|used| used.argument == name) {
            problems.push(MappingError::UnusedExemption(name.clone()));
        }
    }
    problems.dedup();
    if problems.is_empty() { Ok(defaults) } else { Err(MappingError::Several(problems)) }
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
