//! Strategies: schemas and values for the property tests.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Values close to what the schemas below require, and strings that spell other values.
pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        (-5i64..10).prop_map(Into::into),
        prop_oneof![Just(0.5), Just(-1.25), Just(3.0), Just(1e300)].prop_map(Into::into),
        prop_oneof![
            Just("5"),
            Just("-3"),
            Just("1.50"),
            Just("1e3"),
            Just("true"),
            Just("null"),
            Just("[1, \"2\"]"),
            Just("{\"a\": \"5\", \"b\": [null]}"),
            Just("\"[]\""),
            Just("5 apples"),
            Just(""),
            Just("a"),
        ]
        .prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Into::into),
            vec((name(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("a/b~")].prop_map(str::to_owned)
}

fn kind() -> impl Strategy<Value = Value> {
    let one = prop_oneof![
        Just("null"),
        Just("boolean"),
        Just("integer"),
        Just("number"),
        Just("string"),
        Just("array"),
        Just("object")
    ];
    prop_oneof![
        3 => one.clone().prop_map(|kind| json!(kind)),
        1 => (one.clone(), one).prop_map(|(kind, other)| if kind == other { json!(kind) } else { json!([kind, other]) }),
    ]
}

/// One keyword that requires something by itself.
fn assertion() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        6 => kind().prop_map(|kind| ("type", kind)),
        1 => vec(any_value(), 1..4).prop_map(|values| ("enum", Value::Array(values))),
        1 => any_value().prop_map(|value| ("const", value)),
        1 => (-3i64..6).prop_map(|limit| ("minimum", json!(limit))),
        1 => (-3i64..6).prop_map(|limit| ("exclusiveMaximum", json!(limit))),
        1 => prop_oneof![Just(json!(2)), Just(json!(0.25))].prop_map(|step| ("multipleOf", step)),
        1 => (0u64..4).prop_map(|limit| ("minLength", json!(limit))),
        1 => (0u64..4).prop_map(|limit| ("maxLength", json!(limit))),
        1 => prop_oneof![Just("^[0-9]+$"), Just("a|5"), Just("(a+)+$")].prop_map(|pattern| ("pattern", json!(pattern))),
        1 => (0u64..4).prop_map(|limit| ("minItems", json!(limit))),
        1 => any::<bool>().prop_map(|unique| ("uniqueItems", json!(unique))),
        1 => (0u64..3).prop_map(|limit| ("maxProperties", json!(limit))),
        1 => name().prop_map(|name| ("required", json!([name]))),
        1 => (name(), name()).prop_map(|(one, other)| ("dependentRequired", json!({ one: [other] }))),
        1 => prop_oneof![Just("#"), Just("#/$defs/d"), Just("#/$defs/e")].prop_map(|target| ("$ref", json!(target))),
    ]
}

/// One keyword that applies other schemas.
fn applicator(inner: &BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> + use<> {
    let list = || vec(inner.clone(), 1..4).prop_map(Value::Array);
    let map = || {
        vec((name(), inner.clone()), 1..3).prop_map(|members| Value::Object(members.into_iter().collect()))
    };
    prop_oneof![
        6 => map().prop_map(|map| ("properties", map)),
        2 => inner.clone().prop_map(|schema| ("items", schema)),
        1 => inner.clone().prop_map(|schema| ("additionalProperties", schema)),
        1 => Just(("additionalProperties", json!(false))),
        1 => Just(("unevaluatedProperties", json!(false))),
        1 => inner.clone().prop_map(|schema| ("unevaluatedItems", schema)),
        2 => list().prop_map(|list| ("anyOf", list)),
        2 => list().prop_map(|list| ("oneOf", list)),
        1 => list().prop_map(|list| ("allOf", list)),
        1 => list().prop_map(|list| ("prefixItems", list)),
        1 => inner.clone().prop_map(|schema| ("not", schema)),
        1 => inner.clone().prop_map(|schema| ("if", schema)),
        1 => inner.clone().prop_map(|schema| ("then", schema)),
        1 => inner.clone().prop_map(|schema| ("else", schema)),
        1 => inner.clone().prop_map(|schema| ("contains", schema)),
        1 => inner.clone().prop_map(|schema| ("propertyNames", schema)),
        1 => map().prop_map(|map| ("dependentSchemas", map)),
    ]
}

pub(super) fn any_schema() -> impl Strategy<Value = Value> {
    let object = |keywords: Vec<(&'static str, Value)>| {
        Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let leaf =
        prop_oneof![8 => vec(assertion(), 0..3).prop_map(object), 1 => any::<bool>().prop_map(Value::Bool)];
    let schema = leaf.prop_recursive(3, 24, 3, move |inner| {
        (vec(applicator(&inner.boxed()), 1..4), vec(assertion(), 0..2))
            .prop_map(move |(one, other)| object(one.into_iter().chain(other).collect()))
    });
    (schema.clone(), schema.clone(), schema).prop_map(|(root, one, other)| {
        let mut root = if let Value::Object(root) = root { root } else { Map::new() };
        root.insert("$defs".to_owned(), json!({ "d": one, "e": other }));
        Value::Object(root)
    })
}

/// Texts near JSON and near schemas.
pub(super) fn near_schema() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just("\"type\""),
        Just("\"$ref\""),
        Just("\"$id\""),
        Just("\"$schema\""),
        Just("\"properties\""),
        Just("\"object\""),
        Just("\"#\""),
        Just("\"#/x\""),
        Just("\"\\ud800\""),
        Just("\"http://json-schema.org/draft-07/schema#\""),
        Just("1e999"),
        Just("-0"),
        Just("true"),
        Just("null"),
    ];
    vec(token, 0..14).prop_map(|tokens| tokens.concat())
}

/// Schemas whose parts have names and refer to each other, correctly or not.
pub(super) fn named_schema() -> impl Strategy<Value = Value> {
    let address = || {
        prop_oneof![
            Just("#"),
            Just("#a"),
            Just("a"),
            Just("#/$defs/a"),
            Just("#/properties/b/items"),
            Just("#/%7E"),
            Just("http://x/y"),
            Just("http://x/y#a"),
            Just("urn:x:y"),
            Just(".."),
            Just("?q"),
            Just(""),
            Just("//"),
            Just("%"),
            Just("http://["),
            Just("https://json-schema.org/draft/2020-12/schema"),
            Just("http://json-schema.org/draft-07/schema#"),
            Just("https://json-schema.org/draft/2019-09/schema"),
        ]
        .prop_map(|address| json!(address))
    };
    let keyword = || {
        prop_oneof![
            Just("$id"),
            Just("id"),
            Just("$ref"),
            Just("$dynamicRef"),
            Just("$recursiveRef"),
            Just("$anchor"),
            Just("$dynamicAnchor"),
            Just("$schema"),
        ]
    };
    let marks = move || vec((keyword(), address()), 0..3);
    let leaf = marks().prop_map(|marks| assemble(marks, Vec::new()));
    let named = leaf.prop_recursive(3, 16, 3, move |inner| {
        let holder =
            prop_oneof![Just("$defs"), Just("properties"), Just("definitions"), Just("dependentSchemas")];
        let part = (holder, prop_oneof![Just("a"), Just("b"), Just("$id")], inner);
        (marks(), vec(part, 0..3)).prop_map(|(marks, parts)| assemble(marks, parts))
    });
    (named, any::<bool>()).prop_map(|(mut schema, recursive)| {
        if recursive {
            schema["$recursiveAnchor"] = json!(true);
        }
        schema
    })
}

fn assemble(marks: Vec<(&'static str, Value)>, parts: Vec<(&'static str, &'static str, Value)>) -> Value {
    let mut schema: Map<String, Value> =
        marks.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (holder, name, part) in parts {
        schema.entry(holder).or_insert_with(|| json!({}))[name] = part;
    }
    schema.into()
}

/// A value, and the same value with some of its parts in another type: numbers as strings that spell them, containers
/// as strings that hold them, strings as the numbers they spell.
pub(super) fn misspelled() -> impl Strategy<Value = (Value, Value)> {
    (any_value(), vec(any::<bool>(), 64)).prop_map(|(value, choices)| {
        let given = misspell(&value, &mut choices.into_iter().cycle());
        (value, given)
    })
}

fn misspell(value: &Value, choices: &mut impl Iterator<Item = bool>) -> Value {
    let inner: Value = match value {
        Value::Array(elements) => elements.iter().map(|element| misspell(element, choices)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), misspell(value, choices))).collect()
        }
        other => other.clone(),
    };
    match inner {
        _ if !choices.next().unwrap_or_default() => inner,
        Value::String(string) if matches!(string.as_str(), "5" | "-3" | "true") => string.parse().unwrap(),
        Value::String(_) => inner,
        other => Value::String(other.to_string()),
    }
}

/// A schema that accepts values of the same types as `value` and its parts.
pub(super) fn schema_for(value: &Value) -> Value {
    match value {
        Value::Null => json!({ "type": "null" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Value::Number(_) => json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
        Value::String(_) => json!({ "type": "string" }),
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(schema_for).collect();
            if elements.is_empty() {
                json!({ "type": "array", "maxItems": 0 })
            } else {
                json!({ "type": "array", "prefixItems": elements })
            }
        }
        Value::Object(members) => {
            let properties: Map<_, _> =
                members.iter().map(|(name, value)| (name.clone(), schema_for(value))).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
    }
}
