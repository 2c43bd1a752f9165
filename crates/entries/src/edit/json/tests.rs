use super::super::At;
use super::super::splice::{Splice, spliced};
use super::*;
use crate::client::Format;
use proptest::prelude::*;
use serde_json::json;

const STRICT: Dialect = Dialect { comments: false, trailing_commas: false };
const LENIENT: Dialect = Dialect { comments: true, trailing_commas: true };

fn at(dialect: Dialect) -> At {
    At { format: Format::Json(dialect), keys: vec!["mcpServers".into()], is_list: false, escaped: &[] }
}

fn entry() -> Value {
    json!({ "command": "/bin/x", "args": ["--project-root", "/p"] })
}

/// Puts an entry in, compares, and takes it out again.
fn there_and_back(before: &str, expected: &str, dialect: Dialect) {
    let after = at(dialect).with(before, "new", &entry()).unwrap();
    assert_eq!(after, expected);
    assert_eq!(at(dialect).without(&after, "new").unwrap(), before);
}

#[test]
fn an_entry_follows_the_last_one_in_the_same_style() {
    there_and_back(
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"} // first\n\t\t// end\n\t},\n\t\"z\": 1.10\n}",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"}, // first\n\t\t\"new\": {\n\t\t\t\"command\": \"/bin/x\",\n\
         \t\t\t\"args\": [\"--project-root\", \"/p\"]\n\t\t}\n\t\t// end\n\t},\n\t\"z\": 1.10\n}",
        LENIENT,
    );
    there_and_back(
        "{\r\n    \"mcpServers\": {\r\n        \"a\": {},\r\n    },\r\n}\r\n",
        "{\r\n    \"mcpServers\": {\r\n        \"a\": {},\r\n        \"new\": {\r\n            \"command\": \"/bin/x\",\r\n            \
         \"args\": [\"--project-root\", \"/p\"]\r\n        },\r\n    },\r\n}\r\n",
        LENIENT,
    );
    there_and_back(
        r#"{"mcpServers":{"a":{"command":"x"}},"b":[1,2]}"#,
        r#"{"mcpServers":{"a":{"command":"x"},"new":{"command":"/bin/x","args":["--project-root","/p"]}},"b":[1,2]}"#,
        STRICT,
    );
    there_and_back(
        "\u{feff}{ \"mcpServers\": { \"a\": 1 } }",
        "\u{feff}{ \"mcpServers\": { \"a\": 1, \"new\": { \"command\": \"/bin/x\", \"args\": [\"--project-root\", \"/p\"] } } }",
        STRICT,
    );
}

#[test]
fn missing_objects_above_the_servers_are_created() {
    let put = |text: &str| at(LENIENT).with(text, "new", &entry()).unwrap();
    let alone = "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"/bin/x\",\n      \
                 \"args\": [\"--project-root\", \"/p\"]\n    }\n  }\n}";
    assert_eq!(put(""), format!("{alone}\n"));
    assert_eq!(put("// mine"), format!("// mine\n{alone}\n"));
    assert_eq!(put("{}"), alone);
    assert_eq!(put("{ }\n"), format!("{alone}\n"));
    assert_eq!(put("{\n  \"mcpServers\": {}\n}"), alone);
    assert_eq!(
        put("{\n    \"a\": 1\n}\n"),
        "{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"new\": {\n            \"command\": \"/bin/x\",\n            \
         \"args\": [\"--project-root\", \"/p\"]\n        }\n    }\n}\n"
    );
    assert_eq!(
        put("{\n  \"mcpServers\": {\n    // none yet\n  }\n}"),
        alone.replace("\"mcpServers\": {", "\"mcpServers\": {\n    // none yet")
    );
    assert_eq!(
        put(r#"{"a":1,"mcpServers":{}}"#),
        r#"{"a":1,"mcpServers":{"new":{"command":"/bin/x","args":["--project-root","/p"]}}}"#
    );
}

#[test]
fn an_entry_of_the_same_name_is_replaced_in_its_place() {
    let before =
        "{\n  \"mcpServers\": {\n    \"new\": {\"command\": \"old\"}, // mine\n    \"b\": {}\n  }\n}\n";
    let after = at(LENIENT).with(before, "new", &entry()).unwrap();
    assert_eq!(
        after,
        "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"/bin/x\",\n      \"args\": [\"--project-root\", \"/p\"]\n    \
         }, // mine\n    \"b\": {}\n  }\n}\n"
    );
}

#[test]
fn members_are_taken_out_from_anywhere() {
    let without = |text: &str| at(LENIENT).without(text, "b").unwrap();
    for (before, after) in [
        (r#"{"mcpServers":{"b":1,"a":2}}"#, r#"{"mcpServers":{"a":2}}"#),
        (r#"{"mcpServers": {"b": 1, "a": 2}}"#, r#"{"mcpServers": {"a": 2}}"#),
        (r#"{"mcpServers":{"a":2,"b":1}}"#, r#"{"mcpServers":{"a":2}}"#),
        (r#"{"mcpServers":{ "b":1 }}"#, r#"{"mcpServers":{}}"#),
        (r#"{"mcpServers":{}}"#, r#"{"mcpServers":{}}"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":{"b":1}}"#),
        ("", ""),
        (
            "{\"mcpServers\": {\n  \"a\": 1, // one\n  // two\n  \"b\": 2 // three\n}}",
            "{\"mcpServers\": {\n  \"a\": 1 // one\n  // two // three\n}}",
        ),
        ("{\"mcpServers\": {\n  // why\n  \"b\": 2\n}}", "{\"mcpServers\": {\n  // why\n}}"),
    ] {
        assert_eq!(without(before), after, "{before}");
    }
}

#[test]
fn broken_text_is_refused_with_its_place() {
    for (text, told) in [
        ("{\n  \"a\": 1,\n}", "line 3, column 1: there is a comma before the closing brace"),
        ("{\n  // x\n}", "line 2, column 3: comments are not allowed here"),
        ("{\"a\": [1,]}", "line 1, column 10: there is a comma before the closing bracket"),
        ("{\"a\" 1}", "line 1, column 6: a colon is missing"),
        ("{\"a\": 1 \"b\": 2}", "line 1, column 9: a comma is missing"),
        ("{\"a\": [1 2]}", "line 1, column 10: a comma is missing"),
        ("{\"a\": nil}", "line 1, column 7: a value is expected"),
        ("{\"a\": \"x", "line 1, column 7: a text does not end"),
        ("{\"a\": \"\\x\"}", "line 1, column 7: a text is not written as JSON wants it"),
        ("{\"a\": {", "line 1, column 8: it ends too early"),
        ("{\"a\"", "line 1, column 5: a colon is missing"),
        ("{a: 1}", "line 1, column 2: a name in quotes or a closing brace is expected"),
        ("{} {}", "line 1, column 4: something follows the end of the document"),
        ("{\"ä\": \\", "line 1, column 7: a value is expected"),
    ] {
        let error = at(STRICT).with(text, "new", &entry()).unwrap_err();
        assert_eq!(error, EditError::Broken(told.into()), "{text}");
    }
    let error = at(LENIENT).with("{ /* ", "new", &entry()).unwrap_err();
    assert_eq!(error, EditError::Broken("line 1, column 3: a comment does not end".into()));
    let deep = format!("{{\"a\": {}}}", "[".repeat(100_000));
    assert!(matches!(at(STRICT).with(&deep, "new", &entry()), Err(EditError::Broken(_))));
    for text in ["[]", "1", r#"{"mcpServers": []}"#, r#"{"mcpServers": null}"#] {
        assert_eq!(at(STRICT).with(text, "new", &entry()), Err(EditError::NotAnObject), "{text}");
    }
    let twice = r#"{"mcpServers": {}, "mcpServers": {"a": 1}}"#;
    assert_eq!(at(STRICT).with(twice, "new", &entry()), Err(EditError::Twice("mcpServers".into())));
}

/// White space and comments, as users put them between the parts of a text.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // \"x\": {},\n".to_owned()),
        1 => Just("/* } , */".to_owned()),
        1 => Just("\n/* two\nlines */ ".to_owned()),
    ]
}

/// The text of any JSON value with comments.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1.10e5".to_owned()),
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just(r#""a \" // \\ { , \u00e9""#.to_owned()),
        "[a-zé{},:/*]{0,6}".prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let item =
            (gap(), inner.clone(), gap()).prop_map(|(before, item, after)| format!("{before}{item}{after}"));
        let list = (prop::collection::vec(item, 0..3), any::<bool>(), gap());
        prop_oneof![
            list.prop_map(|(items, comma, gap)| {
                let comma = if comma && !items.is_empty() { "," } else { "" };
                format!("[{}{comma}{gap}]", items.join(","))
            }),
            object(inner),
        ]
    })
}

/// An object with different names.
fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (gap(), gap(), gap(), inner, gap());
    (prop::collection::vec(member, 0..4), any::<bool>(), gap()).prop_map(|(members, comma, gap)| {
        let comma = if comma && !members.is_empty() { "," } else { "" };
        let members = members.iter().enumerate().map(|(index, (a, b, c, value, d))| {
            // The first one leads to the servers if it is an object.
            let name = if index == 0 { "mcpServers".to_owned() } else { format!("k{index}") };
            format!("{a}{name:?}{b}:{c}{value}{d}")
        });
        format!("{{{}{comma}{gap}}}", members.collect::<Vec<_>>().join(","))
    })
}

fn is_space(text: &str) -> bool {
    text.trim().is_empty()
}

proptest! {
    #[test]
    fn whatever_a_text_holds_stays_byte_for_byte(text in (gap(), object(value()), gap()).prop_map(|(a, b, c)| format!("{a}{b}{c}"))) {
        let at = at(LENIENT);
        let before = at.parse(&text).unwrap();
        let splices = match put(&text, LENIENT, &["mcpServers", "new"], &entry(), &[]) {
            Ok(splices) => splices,
            Err(error) => {
                prop_assert_eq!(error, EditError::NotAnObject);
                prop_assert!(!before["mcpServers"].is_object());
                return Ok(());
            }
        };
        // Nothing is removed except white space between braces.
        prop_assert!(splices.iter().all(|splice| is_space(&text[splice.range.clone()])), "{splices:?}");
        let after = at.with(&text, "new", &entry()).unwrap();
        prop_assert_eq!(&spliced(&text, &splices), &after);
        prop_assert_eq!(&at.parse(&after).unwrap()["mcpServers"]["new"], &entry());
        // And back: what is left has the same values, and all comments.
        let back = at.without(&after, "new").unwrap();
        let has_others = before["mcpServers"].as_object().is_some_and(|members| !members.is_empty());
        if has_others {
            prop_assert_eq!(&back, &text);
        }
        prop_assert_eq!(back.matches("/*").count(), text.matches("/*").count());
        prop_assert_eq!(back.matches("//").count(), text.matches("//").count());
    }

    #[test]
    fn taking_out_any_member_leaves_a_text_that_can_be_read(text in object(value()), strict in any::<bool>()) {
        let dialect = if strict { Dialect { trailing_commas: false, ..LENIENT } } else { LENIENT };
        let at = At { keys: Vec::new(), ..at(dialect) };
        let Ok(before) = at.parse(&text) else { return Ok(()) };
        for name in ["mcpServers", "k1", "k3"] {
            let splices: Vec<Splice> = take(&text, dialect, &[name]).unwrap();
            let after = at.parse(&spliced(&text, &splices)).unwrap();
            let mut expected = before.clone();
            expected.as_object_mut().unwrap().shift_remove(name);
            prop_assert_eq!(after, expected);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", junk in "[{}\\[\\]\",:/*\\\\ \na1é-]{0,40}") {
        for text in [text, junk] {
            let _ = at(LENIENT).with(&text, "new", &entry());
            let _ = at(STRICT).without(&text, "new");
        }
    }
}
