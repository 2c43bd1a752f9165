//! The conformance tests of the authors of the language. `scripts/cel-suite` fetches them and runs this.

#![expect(clippy::print_stdout, reason = "the command shows how many tests there were")]
#![expect(clippy::disallowed_methods, reason = "the suite is no file of a project")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_cel::{Budget, Program, Type, Value, Variable};
use serde_json::Value as Json;
use std::fmt::Write as _;

/// The parts about the language itself. The others are about protocol buffers, extensions and the type checker.
const PARTS: [&str; 14] = [
    "basic",
    "comparisons",
    "conversions",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "macros",
    "parse",
    "plumbing",
    "string",
    "string_ext",
    "timestamps",
];

/// Tests of the language that have another result here, and why.
const DEVIATIONS: [(&str, &str); 9] = [
    ("basic/variables/unbound_is_runtime_error", "unknown names are found when an expression is compiled"),
    ("basic/functions/unbound_is_runtime_error", "unknown names are found when an expression is compiled"),
    ("parse/receiver_function_names/", "unknown names are found when an expression is compiled"),
    ("comparisons/lt_literal/not_lt_dyn_int_big_lossy_double", "ints and doubles are compared exactly"),
    ("comparisons/gt_literal/not_gt_dyn_big_double_int", "ints and doubles are compared exactly"),
    ("comparisons/lte_literal/lte_dyn_big_double_int", "ints and doubles are compared exactly"),
    ("comparisons/gte_literal/gte_dyn_int_big_lossy_double", "ints and doubles are compared exactly"),
    ("timestamps/timestamp_range/sub_time_duration_over", "a duration can be as long as all times"),
    ("timestamps/timestamp_range/sub_time_duration_under", "a duration can be as long as all times"),
];

/// Sections about functions that are not there.
const ABSENT: [&str; 6] = ["char_at", "last_index_of", "quote", "format", "format_errors", "reverse"];

/// What became of one test.
#[derive(Debug)]
enum Outcome {
    Right,
    /// It needs protocol buffers, a container of names, or an extension.
    Beyond,
    Wrong(String),
}

#[derive(Default)]
struct Counts {
    right: usize,
    beyond: usize,
    deviating: Vec<String>,
    wrong: Vec<String>,
}

#[test]
#[ignore = "needs the suite, which scripts/cel-suite fetches"]
fn the_official_suite_passes() {
    let file = std::env::var_os("CEL_SUITE").expect("CEL_SUITE: the file of the suite");
    let suite: Json = serde_json::from_slice(&std::fs::read(file).expect("the suite")).expect("JSON");
    let (mut counts, mut report) = (Counts::default(), String::new());
    for name in PARTS {
        let part = named(&suite["suites"], name);
        let before = counts.right;
        for section in part["suites"].as_array().expect("sections") {
            for test in section["tests"].as_array().into_iter().flatten() {
                count(&mut counts, name, section["name"].as_str().expect("a name"), &test["original"]);
            }
        }
        writeln!(report, "{name}: {}", counts.right - before).expect("text");
    }
    let Counts { right, beyond, deviating, wrong } = counts;
    println!("{report}{right} right, {} deviating, {beyond} beyond the language", deviating.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let page = include_str!("../../../docs/cel.md");
    for counted in
        [format!("{} hold", thousands(right)), format!("{beyond} need"), format!("{} have", deviating.len())]
    {
        assert!(page.contains(&counted), "the page does not say: {counted}");
    }
    for (deviation, why) in DEVIATIONS {
        let is_there = deviating.iter().any(|test| test.starts_with(deviation));
        assert!(is_there, "no deviation any more: {deviation}: {why}");
    }
}

/// A number below a million as people write it.
fn thousands(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

fn named<'s>(suites: &'s Json, name: &str) -> &'s Json {
    let found = suites.as_array().and_then(|all| all.iter().find(|suite| suite["name"] == name));
    found.unwrap_or_else(|| panic!("no part `{name}`"))
}

fn count(counts: &mut Counts, part: &str, section: &str, test: &Json) {
    let name = format!("{part}/{section}/{}", test["name"].as_str().expect("a name"));
    if part == "string_ext" && ABSENT.contains(&section) {
        counts.beyond += 1;
        return;
    }
    match outcome(test) {
        Outcome::Right => counts.right += 1,
        Outcome::Beyond => counts.beyond += 1,
        Outcome::Wrong(_) if DEVIATIONS.iter().any(|(known, _)| name.starts_with(known)) => {
            counts.deviating.push(name);
        }
        Outcome::Wrong(why) => counts.wrong.push(format!("{name}: {why}")),
    }
}

fn outcome(test: &Json) -> Outcome {
    let source = test["expr"].as_str().expect("an expression");
    let makes_messages =
        ["TestAllTypes", "google.protobuf.Any", "Value{"].iter().any(|word| source.contains(word));
    let has_container = test["container"].as_str().is_some_and(|container| !container.is_empty());
    if makes_messages || has_container || test["checkOnly"] == true {
        return Outcome::Beyond;
    }
    let (mut variables, mut values) = (Vec::new(), Vec::new());
    for (name, bound) in test["bindings"].as_object().into_iter().flatten() {
        let literal = literal(&bound["value"]);
        let (false, Some(literal)) = (name.contains('.'), literal) else { return Outcome::Beyond };
        variables.push(Variable { name: name.clone().leak(), fields: None });
        values.push(constant(&literal));
    }
    let program = Program::compile(source, &variables);
    let observed = match &program {
        Ok(program) => {
            program.evaluate(&values, &mut Budget::new(1_000_000)).map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    let expected = if test["evalError"].is_object() {
        return match observed {
            Err(_) => Outcome::Right,
            Ok(value) => Outcome::Wrong(format!("{source} is {value}, not an error")),
        };
    } else if test["value"].is_object() {
        literal(&test["value"])
    } else if test["typedResult"].is_object() {
        literal(&test["typedResult"]["result"])
    } else {
        Some("true".to_owned())
    };
    let Some(expected) = expected else { return Outcome::Beyond };
    match observed {
        Ok(value) if is_same(&value, &constant(&expected)) => Outcome::Right,
        Ok(value) => Outcome::Wrong(format!("{source} is {value}, not {expected}")),
        Err(error) => Outcome::Wrong(format!("{source}: {error}, not {expected}")),
    }
}

/// The value of an expression without variables.
fn constant(source: &str) -> Value<'static> {
    let program = Program::compile(source, &[]).unwrap_or_else(|error| panic!("{source}: {error}"));
    let program: &'static Program = Box::leak(Box::new(program));
    program.evaluate(&[], &mut Budget::new(1_000_000)).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// Whether two values have one type and are equal. Here NaN equals itself.
fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    if let (Value::Double(one), Value::Double(other)) = (one, other) {
        // The JSON of the suite is not read to the last bit.
        let are_near = (one - other).abs() <= one.abs() * f64::EPSILON;
        return are_near || one.total_cmp(other).is_eq() || one.is_nan() && other.is_nan();
    }
    let variables = ["one", "other"].map(|name| Variable { name, fields: None });
    let equal = Program::compile("one == other", &variables).expect("an expression");
    let is_shown_alike = one.type_of() == Type::Map || one.to_string() == other.to_string();
    let are_equal = equal.holds(&[one.clone(), other.clone()], &mut Budget::new(1_000_000)) == Ok(true);
    one.type_of() == other.type_of() && is_shown_alike && are_equal
}

/// A value of the suite as an expression. `None` for what only protocol buffers have.
fn literal(value: &Json) -> Option<String> {
    let (kind, value) = value.as_object()?.iter().next()?;
    let text = || value.as_str().map(str::to_owned);
    Some(match kind.as_str() {
        "int64Value" => text()?,
        "uint64Value" => text()? + "u",
        "doubleValue" => format!("double('{}')", text().unwrap_or_else(|| value.to_string())),
        "boolValue" | "nullValue" => value.to_string(),
        "stringValue" => {
            let text = text()?;
            let letters = text.chars().map(|letter| format!("\\U{:08x}", u32::from(letter)));
            format!("'{}'", letters.collect::<Vec<_>>().concat())
        }
        "bytesValue" => {
            let bytes = STANDARD.decode(text()?).ok()?;
            let bytes = bytes.iter().map(|byte| format!("\\x{byte:02x}"));
            format!("b'{}'", bytes.collect::<Vec<_>>().concat())
        }
        "typeValue" => {
            let name = text()?;
            Program::compile(&name, &[]).is_ok().then_some(name)?
        }
        "listValue" => {
            let items: Option<Vec<_>> =
                value["values"].as_array().into_iter().flatten().map(literal).collect();
            format!("[{}]", items?.join(", "))
        }
        "mapValue" => {
            let entry =
                |entry: &Json| Some(format!("{}: {}", literal(&entry["key"])?, literal(&entry["value"])?));
            let entries: Option<Vec<_>> =
                value["entries"].as_array().into_iter().flatten().map(entry).collect();
            format!("{{{}}}", entries?.join(", "))
        }
        "objectValue" => {
            let content = value["value"].as_str()?;
            match value["@type"].as_str()?.rsplit('/').next()? {
                "google.protobuf.Timestamp" => format!("timestamp('{content}')"),
                "google.protobuf.Duration" => format!("duration('{content}')"),
                _ => return None,
            }
        }
        _ => return None,
    })
}
