//! Contradictions: schemas that no value fits.

use super::compile;
use super::strategies::{any_schema, any_value};
use crate::{Contradictions, Schema, contradictions};
use proptest::prelude::*;
use serde_json::json;

fn found(schema: &str) -> Contradictions {
    compile(schema);
    contradictions(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[test]
fn each_common_contradiction_is_found_with_its_place() {
    for (schema, pointer, problem) in [
        (
            json!({ "minimum": 5, "maximum": 3, "type": "number" }),
            "",
            "`minimum` 5 and `maximum` 3 leave none",
        ),
        (json!({ "exclusiveMinimum": 3, "maximum": 3, "type": "integer" }), "", "leave none"),
        (
            json!({ "type": "string", "minLength": 9, "maxLength": 1 }),
            "",
            "`minLength` 9 is above `maxLength` 1",
        ),
        (json!({ "type": "array", "minItems": 2, "maxItems": 1 }), "", "`minItems` 2 is above `maxItems` 1"),
        (json!({ "type": "array", "minItems": 1, "items": false }), "", "none fits `items`"),
        (json!({ "type": "array", "contains": false }), "", "nothing fits `contains`"),
        (json!({ "enum": [] }), "", "`enum` is empty"),
        (json!({ "type": "string", "enum": [1, 2] }), "", "no value of `enum` has the type \"string\""),
        (json!({ "type": "integer", "const": 1.5 }), "", "no value of `const` has the type \"integer\""),
        (json!({ "enum": ["a"], "const": "b" }), "", "`const` is \"b\", which is not in `enum`"),
        (json!({ "allOf": [{ "type": "string" }, { "type": "null" }] }), "", "exclude each other"),
        (json!({ "not": {} }), "", "`not` refuses everything"),
        (json!({ "type": "object", "required": ["a"], "properties": { "a": false } }), "", "`a` is required"),
        (
            json!({ "type": "object", "required": ["b"], "properties": { "a": {} }, "additionalProperties": false }),
            "",
            "`b` is required, but not in `properties`",
        ),
        (
            json!({ "type": "object", "required": ["a", "b"], "maxProperties": 1 }),
            "",
            "2 properties are required",
        ),
    ] {
        let found = found(&schema.to_string());
        assert!(found.is_never, "{schema}");
        let first = &found.found[0];
        assert_eq!(first.pointer, pointer, "{schema}");
        assert!(first.problem.contains(problem), "{schema}: {}", first.problem);
    }
}

#[test]
fn a_contradiction_deep_inside_counts_for_the_whole_only_where_it_is_required() {
    let never = json!({ "type": "integer", "minimum": 2, "maximum": 1 });
    let inside = |required: &[&str]| {
        let pet = json!({ "type": "object", "required": required, "properties": { "a/b": never } });
        found(&json!({ "type": "object", "required": ["pet"], "properties": { "pet": pet } }).to_string())
    };
    let optional = inside(&[]);
    assert!(!optional.is_never);
    assert_eq!(optional.found[0].pointer, "/properties/pet/properties/a~1b");
    let required = inside(&["a/b"]);
    assert!(required.is_never);
    assert_eq!(required.found.len(), 3, "{required:?}");
}

#[test]
fn satisfiable_schemas_are_not_reported() {
    for schema in [
        json!(true),
        json!({ "properties": { "gone": false } }),
        json!({ "not": { "minimum": 2, "maximum": 1 } }),
        json!({ "if": { "minimum": 2, "maximum": 1 }, "then": false }),
        json!({ "type": "object", "required": ["x1"], "patternProperties": { "^x": {} }, "additionalProperties": false }),
        json!({ "type": ["string", "number"], "enum": [1, "a", null] }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "enum": [],
            "definitions": { "a": {} } }),
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "const": 1, "type": "string" }),
    ] {
        assert_eq!(found(&schema.to_string()), Contradictions::default(), "{schema}");
    }
}

#[test]
fn a_type_that_cannot_be_does_not_condemn_the_others() {
    let found = found(r#"{"minimum": 2, "maximum": 1}"#);
    assert!(!found.is_never);
    assert_eq!(found.found[0].problem, "no number fits, since `minimum` 2 and `maximum` 1 leave none");
}

#[test]
fn a_hostile_schema_gets_a_short_answer() {
    let many: Vec<_> = (0..5000).map(|_| json!({ "minLength": 2, "maxLength": 1 })).collect();
    assert_eq!(found(&json!({ "anyOf": many }).to_string()).found.len(), 20);
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(60), "}".repeat(60));
    assert_eq!(found(&deep), Contradictions::default());
    assert!(contradictions(&r#"{"items":"#.repeat(10_000)).is_err());
}

proptest! {
    #[test]
    fn no_value_fits_a_schema_that_is_called_never(schema in any_schema(), value in any_value()) {
        let text = schema.to_string();
        if let (Ok(compiled), Ok(found)) = (Schema::compile(&text), contradictions(&text)) {
            let fits = compiled.check_value(&value.to_string()).is_ok();
            prop_assert!(!(found.is_never && fits), "{value} fits {text}: {found:?}");
        }
    }
}
