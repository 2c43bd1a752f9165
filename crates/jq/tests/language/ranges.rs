//! `range`, and the filters that take some of many results.

use crate::{check, jq};

#[test]
fn without_a_step_nothing_comes() {
    check(&[
        ("range(0; 10; 0)", "null", ""),
        ("range(10; 0; 0)", "null", ""),
        ("range(1; 1; 0)", "null", ""),
        ("range(0; 10; null)", "null", ""),
        ("range(0; 1; nan)", "null", ""),
        ("[range(1; 0; nan)]", "null", "[1]"),
        ("[range(nan)], [range(0; nan)], [range(nan; 1)]", "null", "[]\n[]\n[]"),
    ]);
}

#[test]
fn steps_lead_towards_the_end() {
    check(&[
        ("[range(0; 10; 3)], [range(10; 0; -3)], [range(0; 10; -3)]", "null", "[0,3,6,9]\n[10,7,4,1]\n[]"),
        ("[range(5; 0)], [range(-1)], [range(2.5)]", "null", "[]\n[]\n[0,1,2]"),
        ("[range(0, 1; 3, 4)]", "null", "[0,1,2,0,1,2,3,1,2,1,2,3]"),
        ("[limit(3; range(0; infinite))]", "null", "[0,1,2]"),
        ("[limit(3; range(\"a\"; \"b\"; \"c\"))]", "null", "[\"a\",\"ac\",\"acc\"]"),
    ]);
    for filter in ["range(\"a\")", "range(0; null)", "range(0; \"a\"; \"b\")"] {
        assert_eq!(jq(filter, "null").2, 5, "{filter}");
    }
}

#[test]
fn counts_may_be_odd() {
    check(&[
        ("[limit(0; error)], [limit(1.5; 1, 2, 3)]", "null", "[]\n[1,2]"),
        ("[skip(0; 1, 2)], [skip(1.5; 1, 2, 3)], [skip(5; 1, 2)]", "null", "[1,2]\n[2,3]\n[]"),
        ("[nth(1.5; 1, 2, 3)], [nth(5; 1, 2)]", "null", "[2]\n[]"),
    ]);
    for filter in ["limit(-1; 1)", "skip(-1; 1)", "nth(-1; 1)", "limit(null; 1)", "skip(nan; 1)"] {
        assert_eq!(jq(filter, "null").2, 5, "{filter}");
    }
}
