//! Messages of filters that fail: scripts catch them and show them.

use crate::check;

#[test]
fn a_refused_key_is_shown() {
    check(&[
        ("try .a catch .", "1", r#""Cannot index number with string (\"a\")""#),
        ("try .[0] catch .", "{}", r#""Cannot index object with number (0)""#),
        ("try .[1:2] catch .", "true", r#""Cannot index boolean with object ({\"start\":1,\"end\":2})""#),
        ("try .[null] catch .", "null", r#""Cannot index null with null (null)""#),
        ("try setpath([[0]]; 1) catch .", "[]", r#""Cannot update field at array index of array""#),
        ("try (.[nan] = 1) catch .", "[1]", r#""Cannot set array element at NaN index""#),
        ("try .[{}] catch .", "[1]", r#""Array/string slice indices must be integers""#),
    ]);
}

#[test]
fn a_long_value_is_cut_and_closed() {
    check(&[
        (
            "try -. catch .",
            "[0,1,2,3,4,5,6,7,8,9,10,11,12,13]",
            r#""array ([0,1,2,3,4,5,6,7,8,9,10,1...]) cannot be negated""#,
        ),
        (
            "try -. catch .",
            r#""1234567890123456789012345678""#,
            r#""string (\"123456789012345678901234...\") cannot be negated""#,
        ),
        (
            "try -. catch .",
            r#""123456789012345678901234567""#,
            r#""string (\"123456789012345678901234567\") cannot be negated""#,
        ),
        ("try -. catch .", r#""xxxx☆☆☆☆☆☆☆☆""#, r#""string (\"xxxx☆☆☆☆☆☆...\") cannot be negated""#),
        (
            "try (. - \"\") catch .",
            "1234567890123456789012345678901234567890",
            r#""number (12345678901234567890123456...) and string (\"\") cannot be subtracted""#,
        ),
    ]);
}

#[test]
fn invalid_json_is_reported_with_its_place() {
    check(&[
        (
            "try fromjson catch .",
            r#""NaN10""#,
            r#""Invalid numeric literal at EOF at line 1, column 5 (while parsing 'NaN10')""#,
        ),
        (
            "try fromjson catch .",
            r#""{'a': 123}""#,
            r#""Invalid string literal; expected \", but got ' at line 1, column 5 (while parsing '{'a': 123}')""#,
        ),
    ]);
}
