//! Refusals: what is not a template, and the messages.

use crate::Template;

#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("a{b", "the `{` at byte 1 is never closed; write `}` after the variable, or `%7B` for the character itself"),
    ("a{b{c}}", "the `{` at byte 1 is never closed; write `}` after the variable, or `%7B` for the character itself"),
    ("ab}", "the `}` at byte 2 closes nothing; write `%7D` for the character itself"),
    ("a b", "the character ' ' at byte 1 cannot stand in a template; write it percent-encoded"),
    ("100%", "the character '%' at byte 3 cannot stand in a template; write it percent-encoded"),
    ("a{}", "the expression `{}` at byte 1 names no variable"),
    ("{   }", "`   ` in `{   }` is not the name of a variable: letters, digits, `_` and single dots are"),
    ("{?}", "`` in `{?}` is not the name of a variable: letters, digits, `_` and single dots are"),
    ("{a,}", "`` in `{a,}` is not the name of a variable: letters, digits, `_` and single dots are"),
    ("{a..b}", "`a..b` in `{a..b}` is not the name of a variable: letters, digits, `_` and single dots are"),
    ("{a-b}", "`a-b` in `{a-b}` is not the name of a variable: letters, digits, `_` and single dots are"),
    ("{é}", "`é` in `{é}` is not the name of a variable: letters, digits, `_` and single dots are"),
    ("{|a}", "the operator `|` of `{|a}` is reserved for what may come; known are + # . / ; ? &"),
    ("{a:0}", "the prefix of `a` in `{a:0}` must be a number from 1 to 9999"),
    ("{a:10000}", "the prefix of `a` in `{a:10000}` must be a number from 1 to 9999"),
    ("{a:+1}", "the prefix of `a` in `{a:+1}` must be a number from 1 to 9999"),
    ("{a:}", "the prefix of `a` in `{a:}` must be a number from 1 to 9999"),
];

#[test]
fn words_of_refusals() {
    for (template, words) in REFUSED {
        assert_eq!(Template::parse(template).unwrap_err().to_string(), *words, "{template}");
    }
    assert!(Template::parse(&"a".repeat(5000)).unwrap_err().to_string().contains("4096 bytes"));
}

#[test]
fn names_may_have_dots_and_escapes() {
    assert_eq!(Template::parse("{a.b_1,%41c}").unwrap().variables(), ["a.b_1", "%41c"]);
}
