//! Refused schemas, and why.

use super::compile;
use crate::{Schema, SchemaError};
use std::net::TcpListener;

fn refusal(schema: &str) -> SchemaError {
    Schema::compile(schema).err().unwrap_or_else(|| panic!("{schema} was taken"))
}

#[test]
fn schemas_are_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Schema>();
}

#[test]
fn dialects() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        let schema = compile(&format!(
            r##"{{"$schema": "{dialect}", "definitions": {{"a": {{"type": "string"}}}},
            "properties": {{"a": {{"$ref": "#/definitions/a"}}}}}}"##
        ));
        assert!(schema.check_value(r#"{"a": "x"}"#).is_ok());
        assert!(schema.check_value(r#"{"a": 1}"#).is_err());
    }
    // The dialects differ here: a tuple is written in two ways, and 1.0 was not always an integer.
    let tuple =
        |dialect: &str| compile(&format!(r#"{{"$schema": "{dialect}", "items": [{{"type": "null"}}]}}"#));
    assert!(tuple("http://json-schema.org/draft-07/schema#").check_value("[1]").is_err());
    assert!(matches!(refusal(r#"{"items": [{"type": "null"}]}"#), SchemaError::Invalid(_)));
    let old = compile(r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}"#);
    assert!(old.check_value("1.0").is_err());

    let unknown = refusal(r#"{"$schema": "https://example.com/my-dialect"}"#);
    assert_eq!(unknown, SchemaError::UnknownDialect("https://example.com/my-dialect".to_owned()));
    assert!(unknown.to_string().contains("`https://example.com/my-dialect`"));
}

#[test]
fn formats_describe_and_refuse_nothing() {
    for dialect in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
    {
        let schema = compile(&format!(
            r#"{{"$schema": "{dialect}", "format": "email", "contentEncoding": "base64",
            "contentMediaType": "application/json"}}"#
        ));
        assert!(schema.check_value(r#""not an address""#).is_ok());
    }
}

#[test]
fn a_schema_must_be_one() {
    for (schema, reason) in [
        ("5", "the schema must be a boolean or an object, but 5 (a number) was given"),
        (
            r#"{"type": "strin"}"#,
            "`/type` must be \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\" or \
             an array, but \"strin\" (a string) was given",
        ),
        (
            r#"{"properties": {"a": {"minLength": -1}}}"#,
            "`/properties/a/minLength` must be at least 0, but -1 was given",
        ),
        (r#"{"required": "a"}"#, "`/required` must be an array, but \"a\" (a string) was given"),
        (r#"{"$schema": 5}"#, "`/$schema` must be a string, but 5 (a number) was given"),
    ] {
        assert_eq!(refusal(schema), SchemaError::Invalid(reason.to_owned()));
    }
    assert!(matches!(refusal("{"), SchemaError::NotJson(_)));
    assert!(matches!(refusal(r#"{"maximum": 1e999}"#), SchemaError::NotJson(_)));
    assert!(compile("true").check("{}").is_ok());
    assert!(matches!(refusal(r#"{"$id": "http://["}"#), SchemaError::Invalid(_)));
}

#[test]
fn bounds() {
    let nested = |levels: usize| r#"{"not":"#.repeat(levels) + "{}" + &"}".repeat(levels);
    assert!(Schema::compile(&nested(crate::MAX_SCHEMA_DEPTH - 1)).is_ok());
    assert_eq!(refusal(&nested(crate::MAX_SCHEMA_DEPTH)), SchemaError::TooDeep);
    assert_eq!(refusal(&nested(100_000)), SchemaError::TooDeep);
    let many = |count: usize| format!(r#"{{"anyOf": [{}]}}"#, vec!["{}"; count].join(","));
    assert!(Schema::compile(&many(crate::MAX_SUBSCHEMAS - 1)).is_ok());
    assert_eq!(refusal(&many(crate::MAX_SUBSCHEMAS)), SchemaError::TooManySubschemas);
    let long = format!(r#"{{"description": "{}"}}"#, "x".repeat(crate::MAX_SCHEMA_BYTES));
    assert_eq!(refusal(&long), SchemaError::TooLarge);
}

#[test]
fn nothing_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    for target in [
        format!("http://{address}/schema.json"),
        format!("https://{address}/schema.json#/a"),
        "file:///etc/passwd".to_owned(),
        "schema.json".to_owned(),
        "//example.com/schema.json".to_owned(),
    ] {
        for schema in [
            format!(r#"{{"properties": {{"a": {{"$ref": "{target}"}}}}}}"#),
            format!(r#"{{"properties": {{"a": {{"$dynamicRef": "{target}"}}}}}}"#),
            format!(r#"{{"$defs": {{"unused": {{"$ref": "{target}"}}}}}}"#),
        ] {
            let refusal = refusal(&schema);
            assert!(matches!(refusal, SchemaError::OutsideReference(_)), "{schema}: {refusal:?}");
        }
    }
    let dialect = format!(r#"{{"$schema": "http://{address}/schema.json"}}"#);
    assert!(matches!(refusal(&dialect), SchemaError::UnknownDialect(_)));
    assert!(listener.accept().is_err(), "something asked for a schema");
}

#[test]
fn references_must_lead_somewhere() {
    for (schema, target) in [(r##"{"$ref": "#/$defs/a"}"##, "#/$defs/a"), (r##"{"$ref": "#a"}"##, "#a")] {
        assert_eq!(refusal(schema), SchemaError::DanglingReference(target.to_owned()));
    }
    // A schema may hold others, and refer to them by their address.
    let bundled = r#"{"$ref": "https://example.com/a", "$defs": {"a": {"$id": "https://example.com/a", "type": "null"}}}"#;
    assert!(compile(bundled).check_value("1").is_err());
    // The dialects themselves are known without fetching.
    let meta = r#"{"$ref": "https://json-schema.org/draft/2020-12/schema"}"#;
    assert!(compile(meta).check_value(r#"{"type": "strin"}"#).is_err());
}

#[test]
fn patterns_that_cannot_be_bounded() {
    for pattern in ["(?=a)b", "(?<!a)b", r"(a)\\1"] {
        let refusal = refusal(&format!(r#"{{"properties": {{"a": {{"pattern": "{pattern}"}}}}}}"#));
        let SchemaError::UnboundedPattern { path, pattern: named } = refusal else { panic!("{refusal:?}") };
        assert_eq!(path, "/properties/a/pattern");
        assert_eq!(named, pattern.replace(r"\\", r"\"));
    }
    assert!(matches!(
        refusal(r#"{"patternProperties": {"(?!a)b": true}}"#),
        SchemaError::UnboundedPattern { pattern, .. } if pattern == "(?!a)b"
    ));
    for pattern in ["(", "a{2,1}", "(a{1000}){1000}"] {
        let refusal = refusal(&format!(r#"{{"pattern": "{pattern}"}}"#));
        assert!(matches!(refusal, SchemaError::BadPattern { .. }), "{refusal:?}");
    }
}
