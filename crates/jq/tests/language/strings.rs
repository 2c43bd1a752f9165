//! Strings, whose positions are counted in characters.

use crate::{check, jq};

#[test]
fn places_are_counted_in_characters() {
    check(&[
        (r#"index("!"), rindex("!"), indices("!")"#, r#""здравствуй мир!!""#, "14\n15\n[14,15]"),
        (r#".[:rindex("x")]"#, r#""正xyz""#, r#""正""#),
        (r#"indices("o"), indices("")"#, r#""🇬🇧oo""#, "[2,3]\n[]"),
        (r#"indices("aa")"#, r#""aaaa""#, "[0,1,2]"),
    ]);
}

#[test]
fn only_strings_are_trimmed_by_strings() {
    check(&[(
        r#"ltrimstr("a"), rtrimstr("a"), trimstr("a"), rtrimstr("")"#,
        r#""aba""#,
        "\"ba\"\n\"ab\"\n\"b\"\n\"aba\"",
    )]);
    for filter in ["ltrimstr(1)", "rtrimstr(1)", "trimstr(1)", "1 | ltrimstr(\"a\")", "1 | rtrimstr(\"a\")"] {
        assert_eq!(jq(filter, "\"a\"").2, 5, "{filter}");
    }
}

#[test]
fn what_stands_for_no_text_is_refused() {
    check(&[
        ("try @base64d catch .", r#""QUJDa""#, r#""string (\"QUJDa\") trailing base64 byte found""#),
        ("try @urid catch .", r#""%F0%93%81""#, r#""string (\"%F0%93%81\") is not a valid uri encoding""#),
        ("try @urid catch .", r#""%C3%A9""#, r#""é""#),
        (
            "try ([nan] | implode) catch .",
            "null",
            r#""number (null) can't be imploded, unicode codepoint needs to be numeric""#,
        ),
        (r#""\udc00", "\\udc00", "\ud83d\ude00""#, "null", "\"\u{fffd}\"\n\"\\\\udc00\"\n\"😀\""),
    ]);
}

#[test]
fn a_part_of_a_repetition_is_nothing() {
    check(&[(r#"[.[] * "abc"]"#, "[-1,-0.5,0,0.5,1,1.5]", r#"[null,null,"","","abc","abc"]"#)]);
}
