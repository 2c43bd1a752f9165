//! Expressions and values that try to take much time, memory or stack.

use mcp_bash_cel::{Budget, Failure, Mistake, Program, Value, Variable};
use proptest::prelude::*;
use serde_json::json;

const VARIABLES: [Variable; 1] = [Variable { name: "args", fields: None }];

/// The units of one evaluation in these tests.
const UNITS: u64 = 250_000;

#[track_caller]
fn costs_too_much(source: &str, args: &serde_json::Value) {
    let program = Program::compile(source, &VARIABLES).expect(source);
    let variables = [Value::from(args)];
    let error = program.evaluate(&variables, &mut Budget::new(UNITS)).expect_err(source);
    assert_eq!(error.failure, Failure::CostExceeded, "{source}");
}

#[test]
fn expressions_that_explode_use_up_their_budget() {
    let list: Vec<u32> = (0..100).collect();
    let args = json!({ "list": list, "text": "ab".repeat(500_000), "short": "ab".repeat(50) });
    for source in [
        "args.list.all(a, args.list.all(b, args.list.all(c, args.list.all(d, true))))",
        "args.list.map(a, args.list.map(b, args.list.map(c, 'x')))",
        "args.list.filter(a, args.list.exists_one(b, args.list.exists(c, c == -1)))",
        "[args.text, args.text].map(a, [a, a].join('')).map(a, [a, a].join('')).map(a, [a, a].join(''))",
        "args.short.replace('', args.short).replace('', args.short).replace('', args.short)",
        "args.text.split('')",
        "args.list.all(a, args.text == args.text)",
        "args.list.all(a, args.text.contains('zzz') || true)",
        "args.list.map(a, args.list + args.list).map(b, b + b).map(c, c + c)",
        // Each of these would be an error or a value if the budget were not checked.
        "args.text.matches('(a|b)*a(a|b){12}c')",
        "args.list.exists(a, 'x'.matches(string(a) + 'y+'))",
        "args.list.all(a, args.list.all(b, args.list.all(c, args.missing)))",
    ] {
        costs_too_much(source, &args);
    }
}

#[test]
fn an_exhausted_budget_is_no_error_that_another_value_outvotes() {
    let args = json!({ "list": (0..1000).collect::<Vec<u32>>() });
    costs_too_much("args.list.all(a, args.list.all(b, args.list.all(c, true))) || true", &args);
}

#[test]
fn patterns_that_would_be_huge_are_refused_when_they_are_compiled() {
    for pattern in ["(((a{1,100}){1,100}){1,100})", "[[:alpha:]]{1,1000}[[:digit:]]{1,1000}", r"\pL{1000}"] {
        let error =
            Program::compile(&format!("args.x.matches(r'{pattern}')"), &VARIABLES).expect_err(pattern);
        assert!(matches!(error.mistake, Mistake::Pattern(_)), "{pattern}: {error}");
    }
}

#[test]
fn depth_and_length_are_limited() {
    for source in [
        "(".repeat(900) + "1" + &")".repeat(900),
        "[".repeat(900) + &"]".repeat(900),
        "!".repeat(1500) + "true",
        "-".repeat(1500) + "1",
        "1".to_owned() + &"+1".repeat(900),
        "args".to_owned() + &".a".repeat(900),
        "args".to_owned() + &"[0]".repeat(600),
        "true ? 1 : ".repeat(150) + "1",
        "[1].all(x, ".repeat(150),
    ] {
        let error = Program::compile(&source, &VARIABLES).expect_err("too deep");
        assert!(matches!(error.mistake, Mistake::TooDeep { .. }), "{error}");
    }
    let error = Program::compile(&"true||".repeat(400), &VARIABLES).expect_err("too long");
    assert_eq!(error.mistake, Mistake::TooLong { length: 2400, most: 2000 });
    // A long chain of conditions is not deep.
    let chain = vec!["args == 1"; 150].join("||");
    Program::compile(&chain, &VARIABLES).expect("a chain");
}

#[test]
fn deep_and_large_arguments_are_compared_within_the_stack() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let program = Program::compile("args == args && args in [args]", &VARIABLES).expect("an expression");
    let variables = [Value::from(&deep)];
    assert_eq!(program.holds(&variables, &mut Budget::new(UNITS)), Ok(true));
    let large = json!({ "text": "x".repeat(1_000_000) });
    let program = Program::compile("args.text.contains('y')", &VARIABLES).expect("an expression");
    assert_eq!(program.holds(&[Value::from(&large)], &mut Budget::new(UNITS)), Ok(false));
}

/// Pieces of expressions, so that many random texts are expressions.
fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "args",
        ".a",
        ".b",
        "[0]",
        "['a']",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "1",
        "2u",
        "1.5",
        "'x'",
        "b'y'",
        "r'\\d+'",
        "null",
        "true",
        "false",
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        ">=",
        "in",
        "&&",
        "||",
        "!",
        ".all(x,",
        ".map(x,",
        ".filter(x,",
        ".exists(x,",
        "x",
        ".size()",
        "size(",
        ".matches(",
        "string(",
        "int(",
        "timestamp(",
        "duration(",
        ".getHours(",
        ".split(",
        ".join(",
        ".replace(",
        ".substring(",
        "has(",
        "`a b`",
        " ",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn anything() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        ".{0,12}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|list| json!(list)),
            prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_and_no_value_cause_a_panic(source in source(), args in anything()) {
        if let Ok(program) = Program::compile(&source, &VARIABLES) {
            let variables = [Value::from(&args)];
            let mut budget = Budget::new(10_000);
            let first = program.evaluate(&variables, &mut budget).map(|value| value.to_string());
            let second = program.evaluate(&variables, &mut Budget::new(10_000)).map(|value| value.to_string());
            prop_assert_eq!(first, second);
            let _ = program.observed(&VARIABLES, &variables);
        }
    }

    #[test]
    fn no_characters_cause_a_panic(source in "\\PC{0,60}") {
        let _ = Program::compile(&source, &VARIABLES);
    }
}
