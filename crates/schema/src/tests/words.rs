//! Wording: the words for every keyword.

use super::{compile, says, says_of};

#[test]
fn types() {
    let integer = r#"{"type": "integer"}"#;
    assert_eq!(says_of(integer, r#""five""#), r#"`/x` must be an integer, but "five" (a string) was given"#);
    assert_eq!(says_of(integer, "5.5"), "`/x` must be an integer, but 5.5 (a number) was given");
    assert_eq!(says_of(integer, "[null]"), "`/x` must be an integer, but [null] (an array) was given");
    let several = r#"{"type": ["null", "integer", "array"]}"#;
    assert_eq!(
        says_of(several, "true"),
        "`/x` must be an integer, an array or null, but true (a boolean) was given"
    );
    assert_eq!(
        says(r#"{"additionalProperties": {"type": "string"}}"#, r#"{"a": null}"#),
        "`/a` must be a string, but null was given"
    );
}

#[test]
fn the_whole_has_a_name() {
    assert_eq!(
        says(r#"{"type": "object"}"#, "[1]"),
        "arguments must be an object, but [1] (an array) was given"
    );
    let problems = compile(r#"{"type": "object"}"#).check_value("5").unwrap_err();
    assert_eq!(problems[0].to_string(), "the value must be an object, but 5 (a number) was given");
    assert_eq!(problems[0].path(), "");
    assert_eq!(problems[0].expected(), "must be an object");
    assert_eq!(problems[0].given(), Some("5 (a number)"));
}

#[test]
fn names() {
    assert_eq!(says(r#"{"required": ["city", "a/b"]}"#, "{}"), "`/city` is required\n`/a~1b` is required");
    let closed = r#"{"properties": {"a": true, "b": true}, "additionalProperties": false}"#;
    assert_eq!(says(closed, r#"{"extra": 1}"#), "`/extra` is not allowed; known are `a`, `b`");
    let closed = r#"{"properties": {"a": true}, "unevaluatedProperties": false}"#;
    assert_eq!(says(closed, r#"{"extra": 1}"#), "`/extra` is not allowed; known is `a`");
    assert_eq!(says(r#"{"additionalProperties": false}"#, r#"{"extra": 1}"#), "`/extra` is not allowed");
    assert_eq!(
        says(r#"{"propertyNames": {"maxLength": 2}}"#, r#"{"long": 1}"#),
        "arguments must not have a member named `long`: the name must be at most 2 characters long"
    );
    for keyword in
        [r#""dependentRequired""#, r#""$schema": "http://json-schema.org/draft-07/schema#", "dependencies""#]
    {
        assert_eq!(
            says(&format!(r#"{{{keyword}: {{"card": ["address"]}}}}"#), r#"{"card": 1}"#),
            "`/address` is required when `/card` is given"
        );
    }
}

#[test]
fn listed_values() {
    assert_eq!(
        says_of(r#"{"enum": ["red", "green"]}"#, r#""blue""#),
        r#"`/x` must be one of "red", "green", but "blue" was given"#
    );
    assert_eq!(says_of(r#"{"enum": [1]}"#, "2"), "`/x` must be 1, but 2 was given");
    assert_eq!(says_of(r#"{"const": {"a": 1}}"#, "[]"), r#"`/x` must be {"a":1}, but [] was given"#);
    let many: Vec<_> = (0..100).map(|each| each.to_string()).collect();
    let said = says_of(&format!(r#"{{"enum": [{}]}}"#, many.join(",")), "-1");
    assert!(said.ends_with("28, 29, 70 others, but -1 was given"), "{said}");
}

#[test]
fn numbers() {
    for (schema, value, expected) in [
        (r#"{"minimum": 3}"#, "2", "`/x` must be at least 3, but 2 was given"),
        (r#"{"maximum": 3.5}"#, "4", "`/x` must be at most 3.5, but 4 was given"),
        (r#"{"exclusiveMinimum": 3}"#, "3", "`/x` must be greater than 3, but 3 was given"),
        (r#"{"exclusiveMaximum": 3}"#, "3", "`/x` must be less than 3, but 3 was given"),
        (r#"{"multipleOf": 5}"#, "7", "`/x` must be a multiple of 5, but 7 was given"),
        (r#"{"multipleOf": 0.5}"#, "0.3", "`/x` must be a multiple of 0.5, but 0.3 was given"),
        (
            r#"{"maximum": 9007199254740993}"#,
            "9007199254740994",
            "`/x` must be at most 9007199254740993, but 9007199254740994 was given",
        ),
        (r#"{"maximum": 5}"#, "1e400", "`/x` must be at most 5, but 1e400 was given"),
    ] {
        assert_eq!(says_of(schema, value), expected);
    }
}

#[test]
fn strings() {
    for (schema, value, expected) in [
        (r#"{"minLength": 3}"#, r#""é""#, r#"`/x` must be at least 3 characters long, but "é" has 1"#),
        (r#"{"maxLength": 1}"#, r#""ab""#, r#"`/x` must be at most 1 character long, but "ab" has 2"#),
        (
            r#"{"pattern": "^[a-z]+$"}"#,
            r#""A B""#,
            r#"`/x` must match the pattern `^[a-z]+$`, but "A B" was given"#,
        ),
    ] {
        assert_eq!(says_of(schema, value), expected);
    }
}

#[test]
fn arrays_and_objects() {
    for (schema, value, expected) in [
        (r#"{"minItems": 2}"#, "[1]", "`/x` must have at least 2 items, but has 1"),
        (r#"{"maxItems": 1}"#, "[1, 2]", "`/x` must have at most 1 item, but has 2"),
        (
            r#"{"uniqueItems": true}"#,
            "[1, 2, 1.0]",
            "`/x` must not hold the same item twice, but `/x/2` repeats `/x/0`",
        ),
        (
            r#"{"contains": {"const": 1}}"#,
            "[2]",
            "`/x` must contain as many matching items as `contains` asks for",
        ),
        (r#"{"prefixItems": [true], "items": false}"#, "[1, 2]", "`/x/1` is not allowed"),
        (
            r#"{"prefixItems": [true], "unevaluatedItems": false}"#,
            "[1, 2]",
            "`/x` must not have its last 1 item",
        ),
        (r#"{"minProperties": 1}"#, "{}", "`/x` must have at least 1 member, but has 0"),
        (r#"{"maxProperties": 0}"#, r#"{"a": 1}"#, "`/x` must have at most 0 members, but has 1"),
        (
            r#"{"items": {"required": ["name"]}}"#,
            r#"[{"name": 1}, {}, {"name": 2}]"#,
            "`/x/1/name` is required",
        ),
    ] {
        assert_eq!(says_of(schema, value), expected);
    }
}

#[test]
fn combinations() {
    for (schema, value, expected) in [
        ("false", "1", "`/x` is not allowed"),
        (
            r#"{"not": {"type": "integer"}}"#,
            "5",
            r#"`/x` must not fit `{"type":"integer"}`, but 5 was given"#,
        ),
        (r#"{"allOf": [{"minimum": 3}, {"minimum": 3}]}"#, "2", "`/x` must be at least 3, but 2 was given"),
        (
            r#"{"if": {"minimum": 3}, "then": {"multipleOf": 2}, "else": {"minimum": 0}}"#,
            "5",
            "`/x` must be a multiple of 2, but 5 was given",
        ),
        (
            r#"{"oneOf": [{"type": "integer"}, {"minimum": 3}]}"#,
            "5",
            "`/x` must fit exactly one of its alternatives, but 5 fits more than one",
        ),
    ] {
        assert_eq!(says_of(schema, value), expected);
    }
    assert_eq!(says("false", "{}"), "arguments must not be given, as the schema allows no value");
    let refers = r##"{"properties": {"p": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"minLength": 2}}}"##;
    assert_eq!(says(refers, r#"{"p": "x"}"#), r#"`/p` must be at least 2 characters long, but "x" has 1"#);
}

#[test]
fn alternatives() {
    for (schema, value, expected) in [
        (
            r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#,
            r#""five""#,
            r#"`/x` must be an integer or null, but "five" (a string) was given"#,
        ),
        (
            r#"{"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}"#,
            r#""d""#,
            r#"`/x` must be "a", "b" or "c", but "d" was given"#,
        ),
        (
            r#"{"anyOf": [{"enum": ["a"]}, {"anyOf": [{"type": "null"}, {"type": "array"}]}]}"#,
            "5",
            r#"`/x` must be "a", an array or null, but 5 (a number) was given"#,
        ),
        (
            r#"{"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]}"#,
            r#""five""#,
            r#"`/x` must be at most 2 characters long, but "five" has 4"#,
        ),
        (
            r#"{"anyOf": [{"minimum": 5}, {"multipleOf": 3}]}"#,
            "1",
            "`/x` must fit one of the alternatives (`/x` must be at least 5; or `/x` must be a multiple of 3), \
             but 1 was given",
        ),
    ] {
        assert_eq!(says_of(schema, value), expected);
    }
}

#[test]
fn the_alternative_that_was_meant() {
    let shapes = r#"{"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}]}"#;
    assert_eq!(says_of(shapes, r#"{"kind": "circle"}"#), "`/x/r` is required");
    assert_eq!(
        says_of(shapes, r#"{"kind": "line", "r": 1}"#),
        r#"`/x/kind` must be "circle" or "square", but "line" was given"#
    );
    assert_eq!(
        says_of(shapes, "{}"),
        "`/x` must fit one of the alternatives (`/x/kind` is required), but {} was given"
    );
}

#[test]
fn what_cannot_be_read() {
    for (text, expected) in [
        (r#"{"a": 1"#, "arguments must be JSON, but the text ends too early"),
        (
            r#"{"a": 1, "a": 2}"#,
            "arguments must name every member of an object once, but `a` appears more than once",
        ),
        (r#"{"a": "\ud800"}"#, "arguments must not hold half of a surrogate pair"),
    ] {
        assert_eq!(says("{}", text), expected);
    }
}

#[test]
fn no_sentence_is_long_and_no_list_endless() {
    let long = format!("{:?}", "x".repeat(1_000_000));
    let said = says_of(r#"{"type": "integer"}"#, &long);
    assert!(said.len() < 200, "{said}");
    let key = "k".repeat(100_000);
    let said = says(r#"{"additionalProperties": false}"#, &format!(r#"{{"{key}": 1}}"#));
    assert!(said.len() < 300, "{said}");

    let elements = ["0"; 50].join(",");
    let said = says_of(r#"{"items": {"type": "array"}}"#, &format!("[{elements}]"));
    assert_eq!(said.lines().count(), 21);
    assert!(
        said.ends_with("`/x/19` must be an array, but 0 (a number) was given\nand 30 more problems"),
        "{said}"
    );
    let members: Vec<_> = (0..22).map(|each| format!(r#""k{each}": 1"#)).collect();
    let said = says(r#"{"additionalProperties": false}"#, &format!("{{{}}}", members.join(",")));
    assert!(said.ends_with("`/k19` is not allowed\nand 2 more problems"), "{said}");
}
