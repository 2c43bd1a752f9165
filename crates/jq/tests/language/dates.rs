//! Dates that are given in parts.

use crate::{check, jq};

#[test]
fn missing_parts_count_as_zero() {
    check(&[
        ("mktime", "[2024,8,21]", "1726876800"),
        (r#"strftime("%Y-%m-%dT%H:%M:%SZ")"#, "[2024,2,15]", r#""2024-03-15T00:00:00Z""#),
        ("todate", "[2024,2,15,10,11]", r#""2024-03-15T10:11:00Z""#),
    ]);
}

#[test]
fn parts_that_are_too_large_run_over() {
    check(&[
        ("todate", "[2024,13,1]", r#""2025-02-01T00:00:00Z""#),
        ("todate", "[2024,2,32]", r#""2024-04-01T00:00:00Z""#),
        ("todate", "[2024,2,15,25,61,61]", r#""2024-03-16T02:02:01Z""#),
        ("mktime", "[2024,-1,1]", "1701388800"),
    ]);
    for input in ["[1e300]", "[100000,0,1]", "[2024,0,1e18]", "[\"a\"]", "1"] {
        assert_eq!(jq("mktime", input).2, 5, "{input}");
    }
}
