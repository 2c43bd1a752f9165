//! Calls whose arguments have several results, and names a program gives anew.

use crate::check;

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
