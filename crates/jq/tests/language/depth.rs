//! Depth: very deeply nested values and paths are refused, not followed until the stack is used up.

use crate::check;

#[test]
fn values_that_are_nested_too_deeply_are_refused() {
    let nested = "def nested($n): reduce range($n) as $_ ([]; [.]); def boxes($n): reduce range($n) as $_ ({}; {a: .});";
    let too_deep = |filter: &str| {
        let (stdout, _, code) = crate::jq(&format!("{nested} try ({filter}) catch ."), "null");
        assert_eq!(code, 0, "{filter}");
        stdout.trim_end().to_owned()
    };
    assert_eq!(too_deep("nested(10001) as $x | $x | contains($x)"), r#""Containment check too deep""#);
    assert_eq!(too_deep("nested(10000) as $x | $x | contains($x)"), "true");
    assert_eq!(too_deep("boxes(10001) as $x | $x * $x"), r#""Object merge too deep""#);
    assert_eq!(too_deep("boxes(10000) as $x | $x * $x | length"), "1");
    assert_eq!(too_deep("nested(10001) as $x | [$x, $x] | sort"), r#""Comparison too deep""#);
    assert_eq!(too_deep("boxes(10001) as $x | [$x, $x] | unique"), r#""Comparison too deep""#);
    assert_eq!(too_deep("nested(10000) as $x | [$x, $x] | group_by(.[]) | length"), "1");
    assert_eq!(too_deep("nested(10001) | tojson | contains(\"too deep\")"), "true");
    assert_eq!(too_deep("nested(10000) | tojson | contains(\"too deep\")"), "false");
}

#[test]
fn a_path_has_no_more_than_ten_thousand_keys() {
    check(&[
        ("setpath([range(10000) | 0]; 0) | flatten", "null", "[0]"),
        ("getpath([range(10000) | 0])", "null", "null"),
        ("delpaths([[range(10000) | 0]])", "null", "null"),
        ("try setpath([range(10001) | 0]; 0) catch .", "null", "\"Path too deep\""),
        ("try getpath([range(10001) | 0]) catch .", "null", "\"Path too deep\""),
        ("try delpaths([[range(10001) | 0]]) catch .", "null", "\"Path too deep\""),
    ]);
}
