//! Properties that hold for all values and all arguments.

use std::ffi::OsString;

use proptest::prelude::*;
use serde_json::Value;

fn jq(arguments: &[&str], input: &str) -> (String, u8) {
    let mut stdout = Vec::new();
    let arguments = arguments.iter().map(OsString::from);
    let code = mcp_bash_jq::run(arguments, input.as_bytes(), &mut stdout, std::io::sink());
    (String::from_utf8(stdout).expect("output is UTF-8"), code)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_000_000_i64..1_000_000_000_000).prop_map(Value::from),
        // The one control character that only jq escapes is left out.
        "[^\u{7f}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec(("[a-z\"\\\\é\n]{0,6}", inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn identity_writes_its_input(value in value()) {
        let text = value.to_string();
        prop_assert_eq!(jq(&["-c", "."], &text), (format!("{text}\n"), 0));
        let pretty = serde_json::to_string_pretty(&value).expect("it is JSON");
        prop_assert_eq!(jq(&["-c", "."], &pretty), (format!("{text}\n"), 0));
    }

    #[test]
    fn no_arguments_and_no_input_panic(
        flags in prop::collection::vec("-{1,2}[a-zA-Z0-9]{0,6}|\\PC{0,12}", 0..4),
        program in "[\\[\\](){}.|,:;\"\\\\$@?/a-f0-9 =+*-]{0,20}",
        input in "[\\[\\]{},:\"\\\\a-z0-9.eE+ -]{0,24}",
    ) {
        let mut arguments: Vec<&str> = flags.iter().map(String::as_str).collect();
        arguments.push(&program);
        let (_, code) = jq(&arguments, &input);
        prop_assert!(code <= 5);
    }
}

#[test]
fn deep_input_is_refused_and_deep_values_are_cut() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(jq(&["-c", "."], &deep), (format!("{deep}\n"), 0));
    let (output, code) = jq(&["-c", "."], &"[".repeat(200_000));
    assert_eq!((output.as_str(), code), ("", 5));
    let (output, code) = jq(&["-n", "reduce range(100000) as $i (null; [.]) | tojson | length > 10000"], "");
    assert_eq!((output.as_str(), code), ("true\n", 0));
}
