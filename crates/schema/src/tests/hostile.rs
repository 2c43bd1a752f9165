//! Hostile schemas and values. There are no clocks here: without its limit, each of these tests would overflow the
//! stack, fill the memory or not end.

use super::{compile, says, says_of};

fn nested(levels: usize, innermost: &str) -> String {
    "[".repeat(levels) + innermost + &"]".repeat(levels)
}

#[test]
fn patterns_take_linear_time() {
    let text = format!("\"{}!\"", "a".repeat(100_000));
    for pattern in ["(a+)+$", "^(a|aa)+$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)*=(.*)*;"] {
        assert!(says_of(&format!(r#"{{"pattern": "{pattern}"}}"#), &text).contains("must match the pattern"));
    }
    let names = r#"{"patternProperties": {"(a+)+$": false}, "additionalProperties": {"type": "null"}}"#;
    assert!(compile(names).check(&format!("{{{text}: null}}")).is_ok());
}

#[test]
fn references_that_go_round() {
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"allOf": [{"$ref": "#"}]}"##,
        r##"{"anyOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        r##"{"$dynamicRef": "#a", "$dynamicAnchor": "a"}"##,
        r##"{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"}"##,
        r##"{"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}, "unevaluatedProperties": {"$ref": "#"}}"##,
    ] {
        let schema = compile(schema);
        for text in ["{}", r#"{"a": {"a": [{}]}}"#, "[[[1]]]", "5"] {
            // Whether such a schema lets anything through does not matter; the check must end.
            let _ = schema.check(text);
            let _ = schema.check_value(text);
        }
    }
}

#[test]
fn alternatives_that_double_with_every_level() {
    let schema = r##"{"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "type": "array"},
        {"type": "null"}]}"##;
    assert_eq!(
        says(schema, &nested(90, "1")),
        "arguments must fit the schema, but what is wrong is too intricate to say"
    );
    assert!(compile(schema).check(&nested(90, "null")).is_ok());
    let marking =
        r##"{"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}], "unevaluatedItems": false}"##;
    let _ = compile(marking).check(&nested(90, "1"));
}

#[test]
fn more_stack_than_a_thread_has() {
    let wraps: [fn(String) -> String; 5] = [
        |inner| format!(r#"{{"anyOf": [{inner}, {{"type": "boolean"}}]}}"#),
        |inner| format!(r#"{{"oneOf": [{{"type": "boolean"}}, {inner}]}}"#),
        |inner| format!(r#"{{"allOf": [{{"type": ["string", "array"]}}, {inner}]}}"#),
        |inner| format!(r#"{{"if": {{"type": "array"}}, "then": {inner}}}"#),
        |inner| format!(r#"{{"not": {inner}}}"#),
    ];
    for wrap in wraps {
        let items = (0..25).fold(r##"{"$ref": "#"}"##.to_owned(), |inner, _| wrap(inner));
        let schema = compile(&format!(r#"{{"type": "array", "items": {items}}}"#));
        let _ = schema.check(&nested(90, r#""x""#));
    }
}

#[test]
fn a_long_chain_of_references() {
    let chain = |length: usize| {
        let links: Vec<_> =
            (0..length).map(|link| format!(r##""d{link}": {{"$ref": "#/$defs/d{}"}}"##, link + 1)).collect();
        let links = links.join(",");
        format!(
            r##"{{"items": {{"$ref": "#/$defs/d0"}}, "type": "array",
            "$defs": {{{links}, "d{length}": {{"anyOf": [{{"$ref": "#"}}, {{"type": "null"}}]}}}}}}"##
        )
    };
    for length in [90, 200, 9_000] {
        let schema = compile(&chain(length));
        assert!(schema.check_value("[null]").is_ok());
        assert!(schema.check_value("[[5]]").is_err());
        let _ = schema.check(&nested(90, "5"));
    }
}

#[test]
fn many_values() {
    let zeros = vec!["0"; 900_000].join(",");
    assert_eq!(
        says_of(r#"{"items": {"type": "array"}}"#, &format!("[{zeros}]")),
        "`/x/0` must be an array, but 0 (a number) was given"
    );
    assert_eq!(
        says_of("{}", &format!("[{zeros},{zeros}]")),
        "arguments must not hold more than 1000000 values"
    );
    let strings: Vec<_> = (0..20_000).map(|each| format!("\"{each}\"")).collect();
    let schema = compile(r#"{"properties": {"x": {"items": {"type": "integer"}, "uniqueItems": true}}}"#);
    let given = format!(r#"{{"x": [{}]}}"#, strings.join(","));
    let expected = format!(r#"{{"x": [{}]}}"#, strings.join(",").replace('"', ""));
    assert_eq!(schema.check(&given).unwrap().text, expected);
}

#[test]
fn unique_items_that_are_hard_to_tell_apart() {
    // Arrays of empty arrays: a hash over their leaves would be the same for all of them.
    let shapes: Vec<String> = (0..20_000u32)
        .map(|number| {
            (0..16).map(|bit| if number >> bit & 1 == 1 { "[[]]" } else { "[]" }).collect::<Vec<_>>()
        })
        .map(|bits| format!("[{}]", bits.join(",")))
        .collect();
    let schema = compile(r#"{"uniqueItems": true}"#);
    assert!(schema.check_value(&format!("[{}]", shapes.join(","))).is_ok());
    assert!(schema.check_value(&format!("[{},{}]", shapes.join(","), shapes[7])).is_err());
}

#[test]
fn a_long_string_that_is_looked_at_from_everywhere() {
    let schema = r##"{"anyOf": [{"items": {"$ref": "#"}, "pattern": "^(x+x+)+y$", "minLength": 1},
        {"items": {"$ref": "#"}, "pattern": "^(x+x+)+y$", "maxLength": 5}]}"##;
    let long = format!("\"{}\"", "x".repeat(200_000));
    assert!(says(schema, &nested(60, &long)).starts_with("arguments "));
}

#[test]
fn definitions_that_double_without_recursion() {
    let wraps: [fn(usize) -> String; 3] = [
        |next| format!(r##"{{"allOf": [{{"$ref": "#/$defs/d{next}"}}, {{"$ref": "#/$defs/d{next}"}}]}}"##),
        |next| {
            format!(
                r##"{{"anyOf": [{{"not": {{"$ref": "#/$defs/d{next}"}}}}, {{"$ref": "#/$defs/d{next}"}}]}}"##
            )
        },
        |next| format!(r##"{{"if": {{"$ref": "#/$defs/d{next}"}}, "then": {{"$ref": "#/$defs/d{next}"}}}}"##),
    ];
    for wrap in wraps {
        let links: Vec<_> = (0..60).map(|link| format!(r#""d{link}": {}"#, wrap(link + 1))).collect();
        let schema = format!(
            r##"{{"$ref": "#/$defs/d0", "$defs": {{{}, "d60": {{"type": "array"}}}}}}"##,
            links.join(",")
        );
        assert!(compile(&schema).check_value("[]").is_ok());
        let _ = compile(&schema).check_value("5");
        let marking = schema.replacen('{', r#"{"unevaluatedItems": false, "#, 1);
        let _ = compile(&marking).check_value("[[1]]");
    }
}

#[test]
fn a_long_chain_of_references_with_company() {
    let links: Vec<_> = (0..4_000)
        .map(|link| format!(r##""d{link}": {{"$ref": "#/$defs/d{}", "type": "integer"}}"##, link + 1))
        .collect();
    let chain = format!(
        r##"{{"items": {{"$ref": "#/$defs/d0"}}, "$defs": {{{}, "d4000": {{"minimum": 3}}}}}}"##,
        links.join(",")
    );
    let schema = compile(&chain);
    assert!(schema.check_value("[3]").is_ok());
    assert!(schema.check_value("[2]").is_err());
    // Far too much work for many elements, so that it ends without a verdict.
    let _ = schema.check_value(&format!("[{}]", vec!["3"; 50_000].join(",")));
}

#[test]
fn dynamic_references_that_double_with_every_level() {
    let schema = r##"{"$dynamicAnchor": "n", "anyOf": [{"type": "array", "items": {"$dynamicRef": "#n"}},
        {"items": {"$dynamicRef": "#n"}, "type": "array"}, {"type": "null"}]}"##;
    assert!(says(schema, &nested(90, "1")).starts_with("arguments "));
    assert!(compile(schema).check(&nested(90, "null")).is_ok());
}

#[test]
fn a_long_list_of_choices_for_many_values() {
    let choices: Vec<_> = (0..9_000).map(|choice| format!("[{choice}]")).collect();
    let schema = compile(&format!(r#"{{"items": {{"enum": [{}]}}}}"#, choices.join(",")));
    assert!(schema.check_value("[[8999]]").is_ok());
    let _ = schema.check_value(&format!("[{}]", vec!["[-1]"; 100_000].join(",")));
}

#[test]
fn more_violations_than_fit_into_memory() {
    let names: Vec<_> = (0..50_000).map(|name| format!("\"{name}\"")).collect();
    let schema = compile(&format!(r#"{{"items": {{"required": [{}]}}}}"#, names.join(",")));
    let problems = schema.check_value(&format!("[{}]", vec!["{}"; 100_000].join(","))).unwrap_err();
    assert!(problems.len() <= 21, "{}", problems.len());
    // Every alternative refuses every member.
    let closed = vec![r#"{"additionalProperties": false}"#; 5_000].join(",");
    let members: Vec<_> = names.iter().map(|name| format!("{name}: 1")).collect();
    let schema = compile(&format!(r#"{{"anyOf": [{closed}]}}"#));
    assert!(schema.check_value(&format!("{{{}}}", members.join(","))).is_err());
}
