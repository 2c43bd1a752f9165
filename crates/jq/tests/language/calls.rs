//! Calls whose arguments have several results, and names that a program redefines.

use crate::{check, jq};

#[test]
fn the_last_argument_varies_slowest() {
    check(&[
        ("[pow(2,3; 1,2)]", "null", "[2,3,4,9]"),
        ("[fma(1,2; 3,4; 5,6)]", "null", "[8,11,9,13,9,12,10,14]"),
        (
            r#"[setpath(["a"],["b"]; 1,2)]|map(tojson)|join(" ")"#,
            "null",
            r#""{\"a\":1} {\"b\":1} {\"a\":2} {\"b\":2}""#,
        ),
    ]);
}

#[test]
fn a_filter_of_the_program_may_have_a_known_name() {
    check(&[
        ("def pow(a; b): [a, b]; pow(1,2; 3,4)", "null", "[1,2,3,4]"),
        ("def length: 1, 2; reduce range(2) as $x (0; length)", "null", "2"),
        ("def f(length): [foreach range(2) as $x (0; length)]; f(1, 2)", "null", "[1,2,1,2]"),
    ]);
}

#[test]
fn endless_recursion_is_reported() {
    let recursions = [
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f: f | f; f",
        "def f: try f catch .; f",
        "def f: .a |= f; f",
    ];
    for filter in recursions {
        let (stdout, stderr, code) = jq(&format!("1, ({filter})"), "null");
        assert_eq!((stdout.as_str(), code), ("1\n", 5), "{filter}");
        assert!(stderr.contains("calls itself too often"), "{filter}: {stderr}");
    }
    check(&[("def f: if . == 0 then 0 else (. - 1 | f) + 1 end; f", "10000", "10000")]);
}

#[test]
fn long_programs_stay_quick() {
    let count = 5000;
    let sum = format!("1{}", "+1".repeat(count));
    assert_eq!(jq(&sum, "null").0, format!("{}\n", count + 1));
    let list = format!("[1{}]|length", ",1".repeat(count));
    assert_eq!(jq(&list, "null").0, format!("{}\n", count + 1));
    let object = format!("{}1{}|[..]|length", "{a:".repeat(count), "}".repeat(count));
    assert_eq!(jq(&object, "null").0, format!("{}\n", count + 1));
    check(&[("[1,2,(3,4),5,6,7]", "null", "[1,2,3,4,5,6,7]"), ("[(1,2,3)+(10,20,30)]|length", "null", "9")]);
}
