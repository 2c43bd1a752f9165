//! Refused schemas: keywords and forms that clients or model APIs do not accept.

use super::recursion::recursive;
use crate::declarations::header_parameters;
use crate::declarations::refusals::names::shown;
use crate::declarations::refusals::rules::{self, Rule};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The keywords that the Gemini API knows in `parameters`.
const KNOWN_TO_GEMINI: [&str; 27] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "default",
    "defs",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "ref",
    "required",
    "title",
    "type",
];

/// Keywords that hold one schema, keywords that hold several by name, and keywords that hold a list.
const ONE: [&str; 11] = [
    "additionalProperties",
    "additionalItems",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
const LISTED: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords for which `true` and `false` are usual.
const SWITCHES: [&str; 4] =
    ["additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties"];

/// Part of a schema that some client or API refuses.
pub(super) struct Refused {
    pub(super) rule: &'static Rule,
    /// A JSON Pointer to the first place.
    pub(super) pointer: String,
    /// What is there, if the rule does not say it.
    pub(super) what: Vec<String>,
    /// How many places there are.
    pub(super) count: usize,
}

/// Everything refused in the schema of arguments, each once.
pub(super) fn refused_input(schema: &Value) -> Vec<Refused> {
    let mut found = Found::default();
    if let Value::Object(root) = schema {
        for (words, rule) in
            [(&LISTED[..3], &rules::ROOT_COMBINATOR), (&["enum", "not"][..], &rules::ROOT_ENUM)]
        {
            for word in words.iter().filter(|word| root.contains_key(**word)) {
                found.add(rule, &format!("/{word}"), Some(format!("`{word}`")));
            }
        }
    }
    found.walk(schema);
    found.in_order()
}

/// Everything refused in the schema of a result, which no model API sees.
pub(super) fn refused_output(schema: &Value) -> Vec<Refused> {
    let mut found = Found::default();
    if let Some(Value::Object(members)) = schema.get("properties") {
        for (name, _) in members.iter().filter(|(_, schema)| schema.is_boolean()) {
            found.add(&rules::BOOLEAN_ARGUMENT, &format!("/properties/{}", escaped(name)), None);
        }
    }
    found.in_order()
}

#[derive(Default)]
struct Found {
    refused: BTreeMap<&'static str, Refused>,
    /// References inside the schema: the place and the target of each.
    references: Vec<(String, String)>,
}

impl Found {
    fn add(&mut self, rule: &'static Rule, pointer: &str, what: Option<String>) {
        let refused = self.refused.entry(rule.what).or_insert_with(|| Refused {
            rule,
            pointer: pointer.to_owned(),
            what: Vec::new(),
            count: 0,
        });
        refused.count += 1;
        refused.what.extend(what.filter(|what| !refused.what.contains(what)));
    }

    fn in_order(self) -> Vec<Refused> {
        self.refused.into_values().collect()
    }

    fn walk(&mut self, schema: &Value) {
        let mut left = vec![(String::new(), schema)];
        while let Some((pointer, schema)) = left.pop() {
            let Value::Object(schema) = schema else { continue };
            self.look_at(&pointer, schema);
            for (word, value) in schema {
                let below = format!("{pointer}/{}", escaped(word));
                match value {
                    Value::Object(_) if ONE.contains(&&**word) => left.push((below, value)),
                    Value::Bool(_) if ONE.contains(&&**word) && !SWITCHES.contains(&&**word) => {
                        self.add(&rules::BOOLEAN_SCHEMA, &below, None);
                    }
                    Value::Object(named) if NAMED.contains(&&**word) => {
                        left.extend(
                            named.iter().map(|(name, value)| (format!("{below}/{}", escaped(name)), value)),
                        );
                    }
                    Value::Array(listed) if LISTED.contains(&&**word) || word == "items" => {
                        let listed = listed.iter().enumerate();
                        left.extend(listed.map(|(index, value)| (format!("{below}/{index}"), value)));
                    }
                    _ => {}
                }
            }
        }
        let references = std::mem::take(&mut self.references);
        if let Some(pointer) = recursive(&references) {
            self.add(&rules::RECURSIVE_SCHEMA, pointer, None);
        }
    }

    /// Checks one schema, without the schemas inside it.
    fn look_at(&mut self, pointer: &str, schema: &Map<String, Value>) {
        match schema.get("type") {
            Some(Value::Array(types)) => {
                self.add(&rules::TYPE_LIST, &format!("{pointer}/type"), None);
                if types.iter().any(|kind| kind == "array") && !schema.contains_key("items") {
                    self.add(&rules::ARRAY_WITHOUT_ITEMS, pointer, None);
                }
            }
            Some(kind) if kind == "array" && !schema.contains_key("items") => {
                self.add(&rules::ARRAY_WITHOUT_ITEMS, pointer, None);
            }
            _ => {}
        }
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let place = format!("{pointer}/$ref");
            match reference.strip_prefix('#') {
                Some(target) => self.references.push((place, target.to_owned())),
                None => self.add(&rules::REMOTE_REFERENCE, &place, None),
            }
        }
        // Every client must know the annotation, and must not pass it to a model.
        let is_passed_on = |word: &str| word != header_parameters::ANNOTATION;
        let unknown = schema.keys().filter(|word| !KNOWN_TO_GEMINI.contains(&&***word));
        for word in unknown.filter(|word| is_passed_on(word)) {
            // At the root, a more severe finding covers these.
            if pointer.is_empty() && ["oneOf", "allOf", "not"].contains(&&**word) {
                continue;
            }
            let what = Some(format!("`{}`", shown(word)));
            self.add(&rules::UNKNOWN_TO_GEMINI, &format!("{pointer}/{}", escaped(word)), what);
        }
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        for (name, value) in properties {
            let place = format!("{pointer}/properties/{}", escaped(name));
            let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
            if name.is_empty() || name.len() > 64 || !name.chars().all(is_fit) {
                self.add(&rules::PROPERTY_NAME, &place, Some(format!("`{}`", shown(name))));
            }
            if value.is_boolean() {
                let rule = if pointer.is_empty() { &rules::BOOLEAN_ARGUMENT } else { &rules::BOOLEAN_SCHEMA };
                self.add(rule, &place, None);
            }
        }
    }
}

/// A name, escaped for a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(schema: &Value) -> Vec<(String, &'static str)> {
        refused_input(schema).into_iter().map(|refused| (refused.pointer, refused.rule.what)).collect()
    }

    #[test]
    fn every_client_accepts_a_plain_schema() {
        let plain = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Where", "pattern": "^/" },
                "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 3 },
                "kind": { "enum": ["a", "b"], "default": "a" },
                "deep": { "type": "object", "properties": { "a.b-c": { "type": "integer", "minimum": 0 } } },
                "one": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/n" }] }
            },
            "$defs": { "n": { "type": "number" } },
            "required": ["path"],
            "additionalProperties": false
        });
        assert!(told(&plain).is_empty(), "{:?}", told(&plain));
    }

    #[test]
    fn each_thing_is_found_at_its_place() {
        let within = |inner: Value| json!({ "type": "object", "properties": { "x": inner } });
        let cases = [
            (json!({ "type": "object", "anyOf": [] }), "/anyOf", &rules::ROOT_COMBINATOR),
            (json!({ "type": "object", "oneOf": [] }), "/oneOf", &rules::ROOT_COMBINATOR),
            (json!({ "type": "object", "not": {} }), "/not", &rules::ROOT_ENUM),
            (within(json!({ "type": "array" })), "/properties/x", &rules::ARRAY_WITHOUT_ITEMS),
            (within(json!({ "type": ["string", "null"] })), "/properties/x/type", &rules::TYPE_LIST),
            (within(json!({ "const": 1 })), "/properties/x/const", &rules::UNKNOWN_TO_GEMINI),
            (json!({ "type": "object", "$schema": "…" }), "/$schema", &rules::UNKNOWN_TO_GEMINI),
            (within(json!(true)), "/properties/x", &rules::BOOLEAN_ARGUMENT),
            (
                within(json!({ "type": "array", "items": true })),
                "/properties/x/items",
                &rules::BOOLEAN_SCHEMA,
            ),
            (
                within(json!({ "type": "array", "items": { "$ref": "#" } })),
                "/properties/x/items/$ref",
                &rules::RECURSIVE_SCHEMA,
            ),
            (within(json!({ "$ref": "https://a/b" })), "/properties/x/$ref", &rules::REMOTE_REFERENCE),
            (json!({ "properties": { "a b/c": {} } }), "/properties/a b~1c", &rules::PROPERTY_NAME),
        ];
        for (schema, pointer, rule) in cases {
            assert_eq!(told(&schema), [(pointer.to_owned(), rule.what)], "{schema}");
        }
    }
}
