//! Drafts: what each of them means by its keywords, and where references lead.

use super::compile;
use crate::{Schema, SchemaError};
use serde_json::{Value, json};

const DRAFT_4: &str = "http://json-schema.org/draft-04/schema#";
const DRAFT_6: &str = "http://json-schema.org/draft-06/schema#";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
const DRAFT_2019: &str = "https://json-schema.org/draft/2019-09/schema";
const DRAFT_2020: &str = "https://json-schema.org/draft/2020-12/schema";

/// Whether a value fits a schema in a draft.
fn fits(draft: &str, mut schema: Value, value: &Value) -> bool {
    schema["$schema"] = json!(draft);
    compile(&schema.to_string()).check_value(&value.to_string()).is_ok()
}

#[test]
fn a_keyword_means_nothing_before_its_draft() {
    for (schema, value, since) in [
        (json!({ "const": 1 }), json!(2), DRAFT_6),
        (json!({ "contains": { "const": 1 } }), json!([2]), DRAFT_6),
        (json!({ "propertyNames": { "maxLength": 1 } }), json!({ "ab": 1 }), DRAFT_6),
        (json!({ "if": { "type": "integer" }, "then": { "enum": [1] } }), json!(2), DRAFT_7),
        (json!({ "dependentRequired": { "a": ["b"] } }), json!({ "a": 1 }), DRAFT_2019),
        (json!({ "dependentSchemas": { "a": { "required": ["b"] } } }), json!({ "a": 1 }), DRAFT_2019),
        (json!({ "unevaluatedProperties": false }), json!({ "a": 1 }), DRAFT_2019),
        (json!({ "unevaluatedItems": false }), json!([1]), DRAFT_2019),
        (json!({ "prefixItems": [{ "type": "null" }] }), json!([1]), DRAFT_2020),
    ] {
        let mut has_begun = false;
        for draft in [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020] {
            has_begun |= draft == since;
            assert_eq!(fits(draft, schema.clone(), &value), !has_begun, "{draft} {schema}");
        }
    }
}

#[test]
fn keywords_that_changed() {
    let exclusive = json!({ "minimum": 3, "exclusiveMinimum": true });
    assert!(!fits(DRAFT_4, exclusive.clone(), &json!(3)) && fits(DRAFT_4, exclusive, &json!(4)));
    let tuple = json!({ "items": [{ "type": "null" }], "additionalItems": { "type": "string" } });
    for draft in [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019] {
        assert!(fits(draft, tuple.clone(), &json!([null, "a"])), "{draft}");
        assert!(!fits(draft, tuple.clone(), &json!([null, 1])), "{draft}");
        assert!(!fits(draft, tuple.clone(), &json!(["a"])), "{draft}");
    }
    let range = json!({ "contains": { "const": 1 }, "minContains": 0, "maxContains": 1 });
    assert!(!fits(DRAFT_7, range.clone(), &json!([])) && fits(DRAFT_2019, range.clone(), &json!([])));
    assert!(fits(DRAFT_7, range.clone(), &json!([1, 1])) && !fits(DRAFT_2019, range, &json!([1, 1])));
    // What `contains` matches counts as evaluated since 2020-12.
    let seen = json!({ "contains": { "const": 1 }, "unevaluatedItems": false });
    assert!(!fits(DRAFT_2019, seen.clone(), &json!([1])) && fits(DRAFT_2020, seen, &json!([1])));
}

#[test]
fn a_reference_stands_alone_in_older_drafts() {
    let schema = json!({ "$ref": "#/definitions/a", "maximum": 2, "definitions": { "a": { "minimum": 1 } } });
    for draft in [DRAFT_4, DRAFT_6, DRAFT_7] {
        assert!(fits(draft, schema.clone(), &json!(3)) && !fits(draft, schema.clone(), &json!(0)), "{draft}");
    }
    for draft in [DRAFT_2019, DRAFT_2020] {
        assert!(
            !fits(draft, schema.clone(), &json!(3)) && !fits(draft, schema.clone(), &json!(0)),
            "{draft}"
        );
    }
}

#[test]
fn addresses_and_names() {
    let text = json!({ "type": "string" });
    for (draft, schema) in [
        (
            DRAFT_4,
            json!({ "id": "http://x/a", "allOf": [{ "$ref": "b" }], "definitions": { "b": { "id": "http://x/b" } } }),
        ),
        (DRAFT_4, json!({ "$ref": "#n", "definitions": { "b": { "id": "#n" } } })),
        (DRAFT_7, json!({ "$ref": "#n", "definitions": { "b": { "$id": "#n" } } })),
        (
            DRAFT_7,
            json!({ "$id": "http://x/y/", "allOf": [{ "$ref": "../b" }], "definitions": { "b": { "$id": "../b" } } }),
        ),
        (DRAFT_2019, json!({ "$ref": "#n", "definitions": { "b": { "$anchor": "n" } } })),
        (
            DRAFT_2020,
            json!({ "$ref": "urn:b#n", "definitions": { "b": { "$id": "urn:b", "$anchor": "n" } } }),
        ),
        (
            DRAFT_2020,
            json!({ "$ref": "#/definitions/b" , "definitions": { "b": { "$dynamicAnchor": "n" } } }),
        ),
        (
            DRAFT_2020,
            json!({ "$ref": "#/definitions/a~1%25b", "definitions": { "b": {}, "a/%b": { "$ref": "#/definitions/b" } } }),
        ),
    ] {
        let mut schema = schema;
        for (name, value) in text.as_object().unwrap() {
            schema["definitions"]["b"][name] = value.clone();
        }
        assert!(fits(draft, schema.clone(), &json!("a")), "{schema}");
        assert!(!fits(draft, schema.clone(), &json!(1)), "{schema}");
    }
}

#[test]
fn only_schemas_have_addresses() {
    // What looks like a schema in a list of values is none, so its address and its name do not exist.
    let schema = json!({ "enum": [{ "$id": "http://x/a", "$anchor": "n" }], "$ref": "#n" });
    assert!(matches!(Schema::compile(&schema.to_string()), Err(SchemaError::DanglingReference(_))));
    let schema = json!({ "enum": [{ "$id": "http://x/a" }], "$ref": "http://x/a" });
    assert!(matches!(Schema::compile(&schema.to_string()), Err(SchemaError::OutsideReference(_))));
}

#[test]
fn a_reference_to_an_unknown_place_makes_a_schema_of_it() {
    let schema = |minimum: Value| json!({ "$ref": "#/x-own/a", "x-own": { "a": { "minimum": minimum } } });
    assert!(fits(DRAFT_2020, schema(json!(1)), &json!(2)) && !fits(DRAFT_2020, schema(json!(1)), &json!(0)));
    let refusal = Schema::compile(&schema(json!("1")).to_string()).err().unwrap();
    let expected = "`/x-own/a/minimum` must be a number, but \"1\" (a string) was given";
    assert_eq!(refusal, SchemaError::Invalid(expected.to_owned()));
}

#[test]
fn dynamic_references_lead_to_the_outermost_schema() {
    let tree = json!({ "$id": "http://x/tree", "$dynamicAnchor": "node",
        "properties": { "children": { "items": { "$dynamicRef": "#node" } } } });
    let strict = json!({ "$id": "http://x/strict", "$dynamicAnchor": "node", "$ref": "tree",
        "unevaluatedProperties": false, "$defs": { "tree": tree } });
    let misspelled = json!({ "children": [{ "childs": [] }] });
    assert!(fits(DRAFT_2020, tree, &misspelled) && !fits(DRAFT_2020, strict, &misspelled));

    let tree = json!({ "$id": "http://x/tree", "$recursiveAnchor": true,
        "properties": { "children": { "items": { "$recursiveRef": "#" } } } });
    let strict = json!({ "$id": "http://x/strict", "$recursiveAnchor": true, "$ref": "tree",
        "unevaluatedProperties": false, "$defs": { "tree": tree } });
    assert!(fits(DRAFT_2019, tree, &misspelled) && !fits(DRAFT_2019, strict, &misspelled));
}

#[test]
fn an_embedded_schema_may_be_of_another_draft() {
    let schema = |items: Value| json!({ "$ref": "http://x/old", "$defs": { "old": { "$id": "http://x/old", "$schema": DRAFT_7, "items": items } } });
    let tuple = json!([{ "type": "null" }]);
    assert!(fits(DRAFT_2020, schema(tuple.clone()), &json!([null])));
    assert!(!fits(DRAFT_2020, schema(tuple), &json!([1])));
    let refusal = Schema::compile(&schema(json!(5)).to_string()).err().unwrap();
    assert!(refusal.to_string().contains("`/$defs/old/items` must be"), "{refusal}");
}

#[test]
fn a_schema_may_require_a_schema() {
    for draft in [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020] {
        let schema = compile(&json!({ "properties": { "schema": { "$ref": draft } } }).to_string());
        assert!(schema.check_value(r#"{"schema": {"type": "string", "minLength": 1}}"#).is_ok(), "{draft}");
        let problems = schema.check_value(r#"{"schema": {"items": {"minLength": -1}}}"#).unwrap_err();
        assert_eq!(problems[0].to_string(), "`/schema/items/minLength` must be at least 0, but -1 was given");
    }
}

#[test]
fn the_parts_of_a_meta_schema_have_addresses() {
    for (part, fitting, unfitting) in [
        ("2020-12/meta/validation", json!({ "title": 5, "items": 5 }), json!({ "minLength": -1 })),
        ("2020-12/meta/applicator", json!({ "minLength": -1 }), json!({ "items": { "not": 5 } })),
        ("2020-12/meta/unevaluated", json!({ "items": 5 }), json!({ "unevaluatedItems": 5 })),
        ("2019-09/meta/core", json!({ "format": 5 }), json!({ "$recursiveAnchor": 5 })),
        ("2019-09/meta/format", json!({ "title": 5 }), json!({ "format": 5 })),
    ] {
        let schema = json!({ "$ref": format!("https://json-schema.org/draft/{part}") });
        assert!(fits(DRAFT_2020, schema.clone(), &fitting), "{part}");
        assert!(!fits(DRAFT_2020, schema, &unfitting), "{part}");
    }
    let schema = json!({ "$ref": "https://json-schema.org/draft/2020-12/meta/other" });
    assert!(matches!(Schema::compile(&schema.to_string()), Err(SchemaError::OutsideReference(_))));
}

#[test]
fn a_name_that_occurs_twice_in_a_schema_counts_once() {
    let schema = compile(r#"{"type": "string", "type": "integer"}"#);
    assert!(schema.check_value("1").is_ok() && schema.check_value("\"a\"").is_err());
    assert!(matches!(Schema::compile(r#"{"type": "string", "type": 5}"#), Err(SchemaError::Invalid(_))));
}
