//! What holds for any schema and any value.

use crate::{Schema, is_object_schema, provider_warnings};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Values that are near to what the schemas below ask for, and strings that spell other values.
fn any_value() -> impl Strategy<Value = Value> {
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

/// One keyword that asks for something by itself.
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
fn applicator(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> {
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

fn any_schema() -> impl Strategy<Value = Value> {
    let object = |keywords: Vec<(&'static str, Value)>| {
        Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let leaf =
        prop_oneof![8 => vec(assertion(), 0..3).prop_map(object), 1 => any::<bool>().prop_map(Value::Bool)];
    let schema = leaf.prop_recursive(3, 24, 3, move |inner| {
        (vec(applicator(inner.boxed()), 1..4), vec(assertion(), 0..2))
            .prop_map(move |(one, other)| object(one.into_iter().chain(other).collect()))
    });
    (schema.clone(), schema.clone(), schema).prop_map(|(root, one, other)| {
        let mut root = if let Value::Object(root) = root { root } else { Map::new() };
        root.insert("$defs".to_owned(), json!({ "d": one, "e": other }));
        Value::Object(root)
    })
}

/// Texts near JSON and near schemas.
fn near_schema() -> impl Strategy<Value = String> {
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

/// The problems without what the whole value is called.
fn told(problems: &[crate::Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.to_string().replace("the value", "arguments")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_check_keeps_its_promises(schema in any_schema(), value in any_value()) {
        let compiled = Schema::compile(&schema.to_string()).unwrap();
        let text = value.to_string();
        match (compiled.check_value(&text), compiled.check(&text)) {
            (Ok(()), checked) => prop_assert_eq!(checked.unwrap().text, Cow::Borrowed(text.as_str())),
            (Err(_), Ok(checked)) => {
                prop_assert!(checked.is_coerced());
                prop_assert!(compiled.check_value(&checked.text).is_ok(), "{}", checked.text);
            }
            (Err(problems), Err(same)) => {
                prop_assert_eq!(told(&problems), told(&same));
                prop_assert!(!problems.is_empty() && problems.len() <= 21);
                for problem in &problems {
                    prop_assert!(problem.to_string().len() < 2000, "{}", problem);
                }
            }
        }
    }

    #[test]
    fn a_tree_is_seen_as_a_value_is(schema in any_schema(), value in any_value()) {
        let ours = Schema::compile(&schema.to_string()).unwrap().check_value(&value.to_string()).is_ok();
        let theirs = jsonschema::options().should_validate_formats(false).build(&schema).unwrap().is_valid(&value);
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn what_is_not_replaced_keeps_its_spelling(before in "[1-9][0-9]{0,30}(\\.[0-9]{1,20})?", count in 0i64..1000) {
        let schema = Schema::compile(r#"{"properties": {"n": {"type": "integer"}}}"#).unwrap();
        let text = format!(r#"{{"a" :{before} ,"n": "{count}", "z":[ {before}]}}"#);
        let expected = format!(r#"{{"a" :{before} ,"n": {count}, "z":[ {before}]}}"#);
        prop_assert_eq!(schema.check(&text).unwrap().text, expected);
    }

    #[test]
    fn no_text_makes_it_panic(schema in near_schema(), value in near_schema()) {
        provider_warnings(&schema);
        is_object_schema(&schema);
        if let Ok(schema) = Schema::compile(&schema) {
            let _ = schema.check(&value);
            let _ = schema.check_value(&value);
        }
    }
}
