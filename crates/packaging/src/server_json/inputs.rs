//! What users are asked for: arguments of a package, variables of its environment, headers of requests, and the variables within
//! these. And the URLs that contain the answers.

use super::found::Found;
use serde_json::{Map, Value};

const TEXTS: [&str; 4] = ["description", "value", "default", "placeholder"];
const TRUTHS: [&str; 2] = ["isRequired", "isSecret"];
const FORMATS: [&str; 4] = ["string", "number", "boolean", "filepath"];
const INPUT_KEYS: [&str; 8] =
    ["description", "value", "default", "placeholder", "isRequired", "isSecret", "format", "choices"];

/// A list of variables or headers, each with a name. Returns the names.
pub(super) fn check_named<'e>(place: &str, value: Option<&'e Value>, found: &mut Found) -> Vec<&'e str> {
    let mut names = Vec::new();
    for (at, input) in found.list(place, value).iter().enumerate() {
        let place = format!("{place}[{at}]");
        let Some(members) = found.members(&place, input, &[&INPUT_KEYS, &["name", "variables"]]) else {
            continue;
        };
        names.extend(check_name(&place, members, found));
        check_input_with_variables(&place, members, found);
    }
    names
}

/// A list of arguments. Returns the names by which a URL may refer to them.
pub(super) fn check_arguments<'e>(place: &str, value: Option<&'e Value>, found: &mut Found) -> Vec<&'e str> {
    let mut names = Vec::new();
    for (at, argument) in found.list(place, value).iter().enumerate() {
        let place = format!("{place}[{at}]");
        let own: &[&str] = match argument["type"].as_str() {
            Some("positional") => &["type", "valueHint", "isRepeated", "variables"],
            Some("named") => &["type", "name", "isRepeated", "variables"],
            _ => {
                found.add(&place, "`type` must be positional or named");
                continue;
            }
        };
        let Some(members) = found.members(&place, argument, &[&INPUT_KEYS, own]) else { continue };
        if own.contains(&"name") {
            names.extend(check_name(&place, members, found));
        } else {
            check_text(&place, members, "valueHint", found);
            names.extend(members.get("valueHint").and_then(Value::as_str));
            if !members.contains_key("valueHint") && !members.contains_key("value") {
                found.add(&place, "a positional argument needs a `value`, or a `valueHint` for its user");
            }
        }
        check_truth(&place, members, "isRepeated", found);
        check_input_with_variables(&place, members, found);
    }
    names
}

/// Variables by name. Returns the names.
pub(super) fn check_variables<'e>(place: &str, value: Option<&'e Value>, found: &mut Found) -> Vec<&'e str> {
    let Some(value) = value else { return Vec::new() };
    let Some(variables) = value.as_object() else {
        found.add(place, "expected an object, with a member for each variable");
        return Vec::new();
    };
    for (name, variable) in variables {
        let place = format!("{place}.{name}");
        if let Some(members) = found.members(&place, variable, &[&INPUT_KEYS]) {
            check_input(&place, members, found);
        }
    }
    variables.keys().map(String::as_str).collect()
}

/// A URL may contain `{NAME}` for what users are asked for. The registry refuses other names.
pub(super) fn check_names_in_url(place: &str, url: &str, known: &[&str], found: &mut Found) {
    for part in url.split('{').skip(1) {
        let name = part.split('}').next().unwrap_or_default();
        if !known.contains(&name) {
            found.add(place, &format!("`url` contains {{{name}}}, and nothing of that name is declared"));
        }
    }
}

fn check_input_with_variables(place: &str, members: &Map<String, Value>, found: &mut Found) {
    check_input(place, members, found);
    check_variables(&format!("{place}.variables"), members.get("variables"), found);
}

fn check_input(place: &str, members: &Map<String, Value>, found: &mut Found) {
    for key in TEXTS {
        check_text(place, members, key, found);
    }
    for key in TRUTHS {
        check_truth(place, members, key, found);
    }
    if let Some(format) = members.get("format")
        && !format.as_str().is_some_and(|format| FORMATS.contains(&format))
    {
        found.add(place, &format!("`format` must be one of {}", FORMATS.join(", ")));
    }
    if let Some(choices) = members.get("choices")
        && !choices.as_array().is_some_and(|choices| choices.iter().all(Value::is_string))
    {
        found.add(place, "`choices` must be a list of texts");
    }
}

fn check_name<'e>(place: &str, members: &'e Map<String, Value>, found: &mut Found) -> Option<&'e str> {
    let name = members.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    if name.is_none() {
        found.add(place, "it has no `name`");
    }
    name
}

fn check_text(place: &str, members: &Map<String, Value>, key: &str, found: &mut Found) {
    if members.get(key).is_some_and(|value| !value.is_string()) {
        found.add(place, &format!("`{key}` must be a text"));
    }
}

fn check_truth(place: &str, members: &Map<String, Value>, key: &str, found: &mut Found) {
    if members.get(key).is_some_and(|value| !value.is_boolean()) {
        found.add(place, &format!("`{key}` must be true or false"));
    }
}
