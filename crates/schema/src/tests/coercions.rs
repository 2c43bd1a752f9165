//! Coercions: what is corrected in arguments, and what is left alone.

use super::{compile, says};
use std::borrow::Cow;

/// The text of the arguments after the check.
fn becomes(schema: &str, arguments: &str) -> String {
    let checked = compile(schema).check(arguments).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert!(checked.is_coerced(), "{arguments} was not changed");
    checked.text.into_owned()
}

#[test]
fn matching_values_are_returned_unchanged() {
    let schema =
        compile(r#"{"properties": {"s": {"type": ["string", "integer"]}, "i": {"type": "integer"}}}"#);
    for text in [
        r#"  {"z":1.10, "s" : "5","big":123456789012345678901234567890,"e":1E+2}  "#,
        r#"{"i": 5.0}"#,
        r#"{"i": 1e2}"#,
        r#"{"i": 123456789012345678901234567890}"#,
        "{}",
    ] {
        let checked = schema.check(text).unwrap();
        assert!(matches!(checked.text, Cow::Borrowed(same) if std::ptr::eq(same, text)), "{text}");
    }
}

#[test]
fn only_the_wrong_values_are_replaced() {
    let schema = r#"{"properties": {"n": {"type": "integer"}, "o": {"properties": {"b": {"type": "boolean"}}},
        "l": {"items": {"type": "number"}}}}"#;
    assert_eq!(
        becomes(
            schema,
            r#" { "z": 1.10,"n" :"5", "o":{"b": "true" , "k":[ 1,2 ]}, "l": ["1.50", 2.0,"-3e2"], "\u0061": 1E2} "#
        ),
        r#"{ "z": 1.10,"n" :5, "o":{"b": true , "k":[ 1,2 ]}, "l": [1.50, 2.0,-3e2], "\u0061": 1E2}"#
    );
}

#[test]
fn through_references_conditions_and_maps() {
    for (schema, given, expected) in [
        (
            r##"{"properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}"##,
            r#"{"n": "5"}"#,
            r#"{"n": 5}"#,
        ),
        (r#"{"additionalProperties": {"type": "integer"}}"#, r#"{"n": "5"}"#, r#"{"n": 5}"#),
        (r#"{"patternProperties": {"^n": {"type": "integer"}}}"#, r#"{"n": "5"}"#, r#"{"n": 5}"#),
        (r#"{"allOf": [{"properties": {"n": {"type": "integer"}}}]}"#, r#"{"n": "5"}"#, r#"{"n": 5}"#),
        (
            r#"{"if": {"required": ["n"]}, "then": {"properties": {"n": {"type": "integer"}}}}"#,
            r#"{"n": "5"}"#,
            r#"{"n": 5}"#,
        ),
        (r#"{"properties": {"n": {"enum": [1, 2]}}}"#, r#"{"n": "2"}"#, r#"{"n": 2}"#),
        (r#"{"properties": {"n": {"const": true}}}"#, r#"{"n": "true"}"#, r#"{"n": true}"#),
        (r#"{"properties": {"n": {"type": "string"}}}"#, r#"{"n": 5}"#, r#"{"n": "5"}"#),
        (
            r#"{"properties": {"n": {"type": "string", "enum": ["true", "false"]}}}"#,
            r#"{"n": true}"#,
            r#"{"n": "true"}"#,
        ),
    ] {
        assert_eq!(becomes(schema, given), expected, "{schema}");
    }
}

#[test]
fn strings_that_spell_containers() {
    let schema =
        r#"{"properties": {"l": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object"}}}"#;
    assert_eq!(
        becomes(schema, r#"{"l": "[1, \"2\", 3]", "o": "{\"a\": 1.10}"}"#),
        r#"{"l": [1, 2, 3], "o": {"a": 1.10}}"#
    );
    // The content of the string must fit, too.
    assert!(says(schema, r#"{"l": "[1, \"x\"]"}"#).starts_with("`/l` must be an array, but \"["));
}

#[test]
fn alternatives_only_where_there_is_no_doubt() {
    let optional = r#"{"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}"#;
    assert_eq!(becomes(optional, r#"{"n": "5"}"#), r#"{"n": 5}"#);
    assert_eq!(becomes(optional, r#"{"n": "null"}"#), r#"{"n": null}"#);
    let either = r#"{"properties": {"n": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}}}"#;
    assert_eq!(becomes(either, r#"{"n": "true"}"#), r#"{"n": true}"#);
    let inside = r#"{"properties": {"n": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["i"],
        "properties": {"i": {"type": "integer"}}}]}}}"#;
    assert_eq!(becomes(inside, r#"{"n": {"i": "5"}}"#), r#"{"n": {"i": 5}}"#);

    // A string is allowed here, just not this one: making it a number is not our decision.
    let string =
        r#"{"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 3}]}}}"#;
    assert_eq!(says(string, r#"{"n": "5"}"#), r#"`/n` must be at least 3 characters long, but "5" has 1"#);
    // Which of the two objects is meant is unknown.
    let two = r#"{"properties": {"n": {"anyOf": [
        {"type": "object", "properties": {"i": {"type": "integer"}}, "required": ["i"]},
        {"type": "object", "properties": {"i": {"type": "boolean"}}, "required": ["i"]}]}}}"#;
    assert!(says(two, r#"{"n": {"i": "5"}}"#).contains("must fit one of the alternatives"));
}

#[test]
fn null_for_an_optional_property_is_nothing() {
    let schema = r#"{"properties": {"a": {"type": "string"}, "b": {"enum": ["x"]}, "c": {"type": ["string", "null"]},
        "d": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "r": {"type": "string"}}, "required": ["r"]}"#;
    for (given, expected) in [
        (r#"{"a": null, "r": "x"}"#, r#"{"r": "x"}"#),
        (r#"{ "r": "x", "a": null }"#, r#"{ "r": "x" }"#),
        (r#"{"a": null, "b": null, "r": "x", "d": null, "z": 1}"#, r#"{"r": "x", "z": 1}"#),
        (r#"{"c": null, "a": null, "r": "x"}"#, r#"{"c": null, "r": "x"}"#),
        (r#"{"a":null,"r":5}"#, r#"{"r":"5"}"#),
    ] {
        assert_eq!(becomes(schema, given), expected);
    }
    assert_eq!(becomes(r#"{"properties": {"a": {"type": "string"}}}"#, r#"{ "a": null }"#), "{  }");
    assert_eq!(says(schema, r#"{"r": null}"#), "`/r` must be a string, but null was given");
    // Beside a real mistake it is not worth mentioning.
    assert_eq!(
        says(schema, r#"{"a": null, "b": null, "d": null, "r": {}}"#),
        "`/r` must be a string, but {} (an object) was given"
    );
    let both = says(schema, r#"{"a": null, "b": "y", "r": null}"#);
    assert!(both.contains("`/r`") && both.contains("`/b`") && !both.contains("`/a`"), "{both}");
    // In a map every name is the caller's, and an array has no optional elements.
    says(r#"{"additionalProperties": {"type": "string"}}"#, r#"{"a": null}"#);
    says(r#"{"properties": {"l": {"items": {"type": "string"}}}}"#, r#"{"l": [null]}"#);
}

#[test]
fn all_or_nothing() {
    let schema = r#"{"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}"#;
    assert_eq!(
        says(schema, r#"{"a": "5", "b": "five"}"#),
        "`/a` must be an integer, but \"5\" (a string) was given\n\
         `/b` must be an integer, but \"five\" (a string) was given"
    );
    // The number is right in type, but too large.
    assert_eq!(
        says(r#"{"properties": {"a": {"type": "integer", "maximum": 3}}}"#, r#"{"a": "5"}"#),
        "`/a` must be an integer, but \"5\" (a string) was given"
    );
    // Two parts of the schema disagree.
    says(
        r#"{"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"type": "boolean"}}}]}"#,
        r#"{"a": "5"}"#,
    );
}

#[test]
fn output_is_never_changed() {
    let schema = compile(r#"{"type": "integer"}"#);
    assert!(schema.check_value("5").is_ok());
    let problems = schema.check_value(r#""5""#).unwrap_err();
    assert_eq!(problems[0].to_string(), "the value must be an integer, but \"5\" (a string) was given");
}
