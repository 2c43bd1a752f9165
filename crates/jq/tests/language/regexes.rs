//! Regular expressions, and what they do if they match nothing.

use crate::check;

#[test]
fn an_empty_match_is_found_between_all_characters() {
    check(&[
        (r#"gsub("";"a")"#, r#""abc""#, r#""aaabaca""#),
        (r#"gsub("";"-")"#, r#""a🙂ñ""#, r#""-a-🙂-ñ-""#),
        (r#"gsub("";"a"), sub("";"a")"#, r#""""#, "\"a\"\n\"a\""),
        (r#"gsub("^";"a"), gsub("$";"a")"#, r#""äb""#, "\"aäb\"\n\"äba\""),
        (r#"[match("";"g").offset]"#, r#""äb""#, "[0,1,2]"),
        (r#"[match("";"g")]|length"#, r#""""#, "1"),
        (r#"[splits("")], [scan("")]"#, r#""äb""#, "[\"\",\"ä\",\"b\",\"\"]\n[\"\",\"\",\"\"]"),
        (r#"gsub("(?=ü)";"x"), gsub("(?<=ü)";"x")"#, r#""qüx""#, "\"qxüx\"\n\"qüxx\""),
        (r#"gsub("\\b";"|")"#, r#""ab cd""#, r#""|ab| |cd|""#),
    ]);
}

#[test]
fn an_empty_match_may_follow_another_match() {
    check(&[
        (r#"gsub("x*";"-")"#, r#""axc""#, r#""-a--c-""#),
        (r#"gsub("a*";"-")"#, r#""äaaö""#, r#""-ä--ö-""#),
        (r#"gsub(".*";"x")"#, r#""äb""#, r#""xx""#),
        (r#"gsub("[^a-z]*(?<x>[a-z]*)";"Z\(.x)")"#, r#""123foo456bar""#, r#""ZfooZbarZ""#),
        (r#"[match("x*";"g")|[.offset,.length]]"#, r#""axxbñ""#, "[[0,0],[1,2],[3,0],[4,0],[5,0]]"),
        (r#"[scan("(x)?")]"#, r#""axb""#, r#"[[null],["x"],[null],[null]]"#),
        (r#"[splits("x*")]"#, r#""axb""#, r#"["","a","","b",""]"#),
        (r#"[capture("(?<n>x)?";"g")]"#, r#""ax""#, r#"[{"n":null},{"n":"x"},{"n":null}]"#),
        (
            r#"[match("(x)?";"g")|.captures[]]"#,
            r#""x""#,
            r#"[{"offset":0,"length":1,"string":"x","name":null},{"offset":-1,"string":null,"length":0,"name":null}]"#,
        ),
    ]);
}

#[test]
fn the_flag_n_wants_more_than_nothing() {
    check(&[
        (r#"[match("";"gn")], test("";"n"), gsub("";"a";"n")"#, r#""abc""#, "[]\nfalse\n\"abc\""),
        (r#"[match("x*";"gn").string], [match("|a";"gn").string]"#, r#""axxb""#, "[\"xx\"]\n[\"a\"]"),
        (r#"test("x*";"n")"#, r#""a""#, "false"),
    ]);
}

#[test]
fn a_replacement_may_be_missing() {
    check(&[
        (
            r#"[gsub("x";empty)], [sub("x";empty)], [gsub("z";empty)]"#,
            r#""xyx""#,
            "[\"xyx\"]\n[\"xyx\"]\n[\"xyx\"]",
        ),
        (r#"gsub("x";null), sub("x";null)"#, r#""xyx""#, "\"y\"\n\"yx\""),
        (r#"[gsub("x";"a","b")]"#, r#""xyx""#, r#"["aya","byb"]"#),
        (r#"[gsub("";"a","b")]"#, r#""x""#, r#"["axa","bxb"]"#),
    ]);
}
