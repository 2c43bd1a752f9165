//! The rules of the language, one table for each part of the specification.

use mcp_bash_cel::{Budget, Program, Value, Variable};
use serde_json::json;

const VARIABLES: [Variable; 2] =
    [Variable { name: "args", fields: None }, Variable { name: "tool", fields: Some(&["name", "tags"]) }];

/// The value of an expression as text, or its error.
fn value(source: &str) -> Result<String, String> {
    let args = json!({
        "env": "production", "count": 3, "ratio": 0.5, "big": 18_446_744_073_709_551_615_u64, "none": null,
        "rows": [{"id": 1}, {"id": 2}], "odd key": true, "true": 1,
    });
    let tool = json!({ "name": "deploy", "tags": ["a", "b"] });
    let program = Program::compile(source, &VARIABLES).map_err(|error| error.to_string())?;
    let variables = [Value::from(&args), Value::from(&tool)];
    let value = program.evaluate(&variables, &mut Budget::new(100_000));
    value.map(|value| value.to_string()).map_err(|error| error.to_string())
}

#[track_caller]
fn all_true(expressions: &[&str]) {
    for source in expressions {
        assert_eq!(value(source).as_deref(), Ok("true"), "{source}");
    }
}

#[track_caller]
fn all_fail(expressions: &[(&str, &str)]) {
    for (source, words) in expressions {
        let error = value(source).expect_err(source);
        assert!(error.contains(words), "{source}: {error}");
    }
}

#[test]
fn literals_have_the_forms_of_the_specification() {
    all_true(&[
        r#"'a\x41\u0042\U00000043\103\n' == "aABCC" + '\n'"#,
        r#"r'\d' == "\\d""#,
        "'''a'b\n''' == \"a'b\\n\"",
        r"b'\xff\x00'.size() == 2",
        "b'é'.size() == 2 && 'é'.size() == 1",
        "0x1F == 31 && 0xfu == 15u && 1e3 == 1000.0 && .5 == 0.5",
        "-9223372036854775808 < 0",
        "[1, 2, ].size() == 2 && {'a': 1, }.a == 1",
        "// a comment\ntrue",
        "null == args.none",
    ]);
    all_fail(&[
        ("9223372036854775808", "out of range"),
        ("'a", "no closing quote"),
        ("'a\nb'", "no closing quote"),
        (r"'\q'", r"invalid escape in a string: `\q`"),
        (r"b'\u0041'", "invalid escape"),
        (r"'\ud800'", "invalid escape"),
    ]);
}

#[test]
fn arithmetic_neither_mixes_types_nor_wraps() {
    all_true(&[
        "1 + 2 * 3 == 7 && 7 / 2 == 3 && -7 % 3 == -1",
        "2u - 1u == 1u && 1.0 / 0.0 > 1e308",
        "'a' + 'b' == 'ab' && [1] + [2] == [1, 2]",
        "- -1 == 1 && !!true",
    ]);
    all_fail(&[
        ("1 + 1.0", "`+` does not take int and double"),
        ("1 + 1u", "`+` does not take int and uint"),
        ("9223372036854775807 + 1", "out of range"),
        ("-9223372036854775808 / -1", "out of range"),
        ("1u - 2u", "out of range"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1.0 % 2.0", "`%` does not take"),
        ("'a' + 1", "string and int"),
    ]);
}

#[test]
fn numbers_of_all_types_are_compared_by_value() {
    all_true(&[
        "1 == 1.0 && 1u == 1 && 1.5 > 1 && 2u < 2.5",
        "9223372036854775807 < 9223372036854775808.0",
        "9007199254740993 > 9007199254740992.0",
        "1 in [1.0] && !(1 in ['1'])",
        "1 != '1' && [1] != {'a': 1}",
        "{'a': 1, 'b': [2u]} == {'b': [2.0], 'a': 1u}",
        "double('NaN') != double('NaN') && !(double('NaN') < 1)",
        "'b' > 'a' && b'b' > b'a' && true > false",
        "args.count == 3 && args.ratio == 0.5 && type(args.count) == int && type(args.big) == double",
    ]);
    all_fail(&[("1 < 'a'", "`<` does not take int and string"), ("null < null", "null_type")]);
}

#[test]
fn a_value_that_decides_wins_over_an_error_beside_it() {
    all_true(&[
        "args.missing == 1 || true",
        "true || args.missing == 1",
        "!(false && args.missing)",
        "!(args.missing && false)",
        "true ? true : args.missing",
        "[1, 2].exists(x, x == 2 || 1 / 0 == 1)",
        "[0, 2].exists(x, 2 / x == 1)",
        "![0, 2].all(x, 2 / x == 2)",
    ]);
    all_fail(&[
        ("args.missing == 1 || false", "there is no `missing`"),
        ("1 && true", "expected a bool, found int"),
        ("[0, 1].all(x, 1 / x == 1)", "division by zero"),
        ("1 ? 2 : 3", "expected a bool"),
    ]);
}

#[test]
fn fields_and_indices_find_values_or_fail() {
    all_true(&[
        "args.rows[1].id == 2 && args['odd key'] && args.`odd key` && args['true'] == 1",
        "has(args.env) && !has(args.missing) && has(args.none)",
        "'env' in args && !('x' in args) && !(1 in args)",
        "{1: 'a', true: 'b', 'c': 2u}[1u] == 'a'",
        "args.rows[0.0].id == 1",
    ]);
    all_fail(&[
        ("args.missing", "there is no `missing`; test it first with has(…) (line 1, column 6)"),
        ("args.rows[2]", "index 2 is out of range for a list of 2"),
        ("args.rows[-1]", "out of range"),
        ("args.env.x", "a value of type string has no field `x`"),
        ("{1: 2, 1u: 3}", "occurs twice"),
        ("{[1]: 2}", "cannot be a key"),
        ("{1.0: 2}", "cannot be a key"),
        ("args[null]", "cannot be a key"),
    ]);
}

#[test]
fn macros_bind_a_variable_for_each_element() {
    all_true(&[
        "args.rows.map(r, r.id) == [1, 2]",
        "args.rows.map(r, r.id > 1, r.id * 10) == [20]",
        "args.rows.filter(r, r.id == 1).size() == 1",
        "args.rows.exists_one(r, r.id == 1)",
        "{'a': 1, 'b': 2}.all(key, key in ['a', 'b'])",
        "[[1], [2]].all(x, x.exists(y, y == x[0]))",
        "[1].map(args, args + 1) == [2] && args.count == 3",
        "[1].map(args, .args.count + args) == [4]",
        "[].all(x, false) && ![].exists(x, true)",
    ]);
    all_fail(&[
        ("args.count.all(x, true)", "`all` does not take int"),
        ("args.rows.all(1, true)", "the first argument of `all` is the name of a variable"),
        ("args.rows.all(x)", "the first argument of `all`"),
        ("args.rows.all(x, true, true)", "list.all(x, condition): wrong number of arguments (3)"),
        ("args.rows.all(x, y)", "unknown name `y`"),
    ]);
}

#[test]
fn functions_on_strings_count_characters() {
    all_true(&[
        "'añb'.indexOf('b') == 2 && 'abcb'.indexOf('b', 2) == 3 && 'a'.indexOf('z') == -1",
        "'añb'.substring(1) == 'ñb' && 'añb'.substring(0, 2) == 'añ'",
        "'A,b,c'.lowerAscii().split(',') == ['a', 'b', 'c'] && 'abc'.split('', 2) == ['a', 'bc']",
        "['a', 'b'].join('-') == 'a-b' && 'aaa'.replace('a', 'b', 2) == 'bba'",
        "' x '.trim() == 'x' && 'aß'.upperAscii() == 'Aß'",
        "'abc'.contains('b') && 'abc'.startsWith('a') && 'abc'.endsWith('bc')",
        "'abc'.matches('^a.c$') && matches('xabcx', 'abc') && 'a1'.matches('a' + '\\\\d')",
        "!'٣'.matches('\\\\d') && 'a&b'.matches('^[&a-z]+$') && '[x'.matches('[[]x')",
        "'-'.matches('^[+--]$') && ','.matches('^[+--]$') && '-'.matches('^[--/]$') && '-'.matches('^[a-z--]$')",
        "!'+'.matches('^[--/]$') && '-'.matches('^[---]$')",
        "size('añb') == 3 && [1].size() == 1 && {'a': 1}.size() == 1",
    ]);
    all_fail(&[
        ("'abc'.substring(4)", "out of range"),
        ("'abc'.substring(2, 1)", "out of range"),
        ("[1].join()", "`join` does not take int"),
        ("'a'.matches('(')", "invalid regular expression: unclosed group"),
        ("'a'.matches('(?=a)')", "look-around"),
        ("'a'.matches('(' + '')", "invalid regular expression"),
        ("1.contains('a')", "`contains` does not take int"),
    ]);
}

#[test]
fn conversions_refuse_what_does_not_fit() {
    all_true(&[
        "int('42') == 42 && int(2.9) == 2 && int(-2.9) == -2 && uint(3) == 3u && double('1e3') == 1000.0",
        "string(1.5) == '1.5' && string(b'abc') == 'abc' && string(true) == 'true' && bytes('a') == b'a'",
        "bool('true') && !bool('f') && type(type(1)) == type && dyn(1) == 1",
        "type(null) == null_type && type(timestamp(0)) == google.protobuf.Timestamp",
    ]);
    all_fail(&[
        ("int('x')", "`x` is no int"),
        ("int(1e19)", "out of range"),
        ("uint(-1)", "out of range"),
        (r"string(b'\xff')", "no text in UTF-8"),
        ("bool('yes')", "`yes` is no bool"),
        ("string([1])", "`string` does not take list"),
    ]);
}

#[test]
fn times_know_zones_and_durations() {
    all_true(&[
        "timestamp('2026-02-03T04:05:06.789Z').getMilliseconds() == 789",
        "timestamp('2026-02-03T23:30:00Z').getDate('+01:00') == 4",
        "timestamp('2026-02-03T23:30:00-01:00') == timestamp('2026-02-04T00:30:00Z')",
        "timestamp('2024-02-29T00:00:00Z').getDayOfYear() == 59 && timestamp(0).getDayOfWeek() == 4",
        "timestamp('2026-07-01T12:00:00Z').getHours('Europe/Berlin') == 14",
        "timestamp('2026-01-01T12:00:00Z').getHours('Europe/Berlin') == 13",
        "timestamp(0) + duration('1h30m') == timestamp('1970-01-01T01:30:00Z')",
        "timestamp(10) - timestamp(4) == duration('6s') && duration('90s').getMinutes() == 1",
        "string(timestamp(0)) == '1970-01-01T00:00:00Z' && string(duration('-1.5s')) == '-1.5s'",
    ]);
    all_fail(&[
        ("timestamp('2026-02-30T00:00:00Z')", "is no timestamp"),
        ("timestamp('yesterday')", "is no timestamp"),
        ("duration('5 apples')", "is no duration"),
        ("duration('5')", "is no duration"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "out of range"),
        ("timestamp(0).getHours('Europe/Berlim')", "unknown time zone `Europe/Berlim`"),
        ("timestamp(0).getHours('../../etc/passwd')", "unknown time zone"),
        ("timestamp(0).getHours('Europe/' + 'Berlin')", "a zone that is not a literal"),
    ]);
}

#[test]
fn mistakes_are_found_when_an_expression_is_compiled() {
    all_fail(&[
        ("", "the expression is empty"),
        ("args.env = 'x'", "`=` is no operator; compare with `==`"),
        ("true & false", "`&` is no operator; write `&&`"),
        ("arg.env", "unknown name `arg`; did you mean `args`?"),
        ("tool.nmae", "`tool` has no field `nmae`; did you mean `name`?"),
        ("has(tool.color)", "`tool` has no field `color`; known are name, tags"),
        ("args.env.startswith('x')", "unknown function `startswith`; did you mean `startsWith`?"),
        ("siez(args)", "unknown function `siez`; did you mean `size`?"),
        ("startsWith('a')", "`startsWith` is called on a value: write x.startsWith(…)"),
        ("'a'.int()", "`int` is no method: write int(x)"),
        ("size(1, 2)", "size(x) or x.size(): wrong number of arguments (2)"),
        ("has(args)", "has() takes a field"),
        ("for == 1", "`for` is a reserved word"),
        ("(1", "expected `)`, found the end of the expression"),
        ("1 2", "expected an operator or the end, found a number"),
        ("args.", "expected a field"),
        (". 'a'", "expected a name"),
        ("a ? b", "unknown name `a`"),
        ("#", "unexpected character `#`"),
    ]);
    let error = Program::compile("true &&\n  nmae == 1", &VARIABLES).expect_err("no such name");
    assert_eq!((error.at.line, error.at.column), (2, 3));
}

#[test]
fn the_parts_that_an_expression_looks_at_are_observed() {
    let args = json!({ "env": "production" });
    let source = "tool.name == 'x' && (args.env in ['a'] || has(args.x) && args.x.y == 1)";
    let program = Program::compile(source, &VARIABLES).expect("an expression");
    let tool = json!({ "name": "deploy" });
    let variables = [Value::from(&args), Value::from(&tool)];
    let observed = program.observed(&VARIABLES, &variables);
    let shown: Vec<_> = observed
        .iter()
        .map(|part| (&*part.path, part.value.as_ref().map_or("missing".to_owned(), ToString::to_string)))
        .collect();
    let expected = [
        ("tool.name", "\"deploy\""),
        ("args.env", "\"production\""),
        ("has(args.x)", "false"),
        ("args.x.y", "missing"),
    ];
    assert_eq!(shown, expected.map(|(path, value)| (path, value.to_owned())));
}
