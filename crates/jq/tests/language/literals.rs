//! Constants in the text of a filter.

use crate::{check, jq};

#[test]
fn a_number_may_begin_or_end_with_its_point() {
    check(&[
        ("[.1, 1., 1.e2, .5e1, .5e-1, 1.E+2]", "null", "[0.1,1,1E+2,5,0.05,1E+2]"),
        (".5+.5, 1.+1., -.5, -1.", "null", "1\n2\n-0.5\n-1"),
        ("{a:.1,b:1.} | .a", "null", "0.1"),
        (".[.1], .[1.:], .[.5:1.]", "[1,2,3]", "1\n[2,3]\n[1]"),
        ("\"\\(.1) \\(1.)\"", "null", "\"0.1 1\""),
        ("if .1 then 1. else 2. end", "null", "1"),
        ("[range(.1;1.;.5)], (.1|tojson), .1//.2", "null", "[0.1,0.6]\n\"0.1\"\n0.1"),
        ("1.as $x|$x, .5as $x|$x", "null", "1\n0.5"),
        ("def f: .25; f", "null", "0.25"),
    ]);
}

#[test]
fn points_elsewhere_stay_what_they_are() {
    check(&[
        ("\"1. .5\", \"a.1\"", "null", "\"1. .5\"\n\"a.1\""),
        (".a1.b2 # 1. and .5", "{\"a1\":{\"b2\":3}}", "3"),
        ("..", "1", "1"),
        (".[0].a, .[1.5].a", "[{\"a\":1},{\"a\":2}]", "1\n2"),
    ]);
    for filter in [".a.1", ".[0].1", "1..2", "1.2.3", ".1.2", ". .5", "1.foo", "1.5.", "1.e"] {
        assert_eq!(jq(filter, "null").2, 3, "{filter}");
    }
}

#[test]
fn a_constant_key_that_is_not_a_string_does_not_compile() {
    for filter in
        ["{(0): 1}", "{a: ., (true): 1}", "{(null): 1}?", ". as {(0): $x} | $x", "try {a: {(1): 2}} catch ."]
    {
        let (stdout, stderr, code) = jq(filter, "null");
        assert_eq!((stdout.as_str(), code), ("", 3), "{filter}");
        assert!(stderr.contains("as object key at <top-level>, line 1, column "), "{filter}: {stderr}");
    }
    check(&[("{(\"a\", \"b\"): 1}, {(1|tostring): 1}", "null", "{\"a\":1}\n{\"b\":1}\n{\"1\":1}")]);
}
