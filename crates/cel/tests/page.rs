//! The page of the language: each of its examples holds or is refused, as its table says.

use mcp_bash_cel::{Budget, Program, Timestamp, Value, Variable};
use serde_json::json;
use std::time::SystemTime;

const VARIABLES: [Variable; 2] =
    [Variable { name: "args", fields: None }, Variable { name: "now", fields: None }];

const PAGE: &str = include_str!("../../../docs/cel.md");

/// The cells of the rows of all tables.
fn rows(page: &str) -> Vec<[String; 3]> {
    let rows = page.lines().filter(|line| line.starts_with("| ")).map(|line| {
        let line = line.replace("\\|", "\0");
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
        <[String; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("three cells: {cells:?}"))
    });
    rows.filter(|row| row[0] != "part").collect()
}

/// The texts between backquotes.
fn examples(cell: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), cell);
    while let Some(start) = rest.find('`') {
        let quotes = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let (quote, inside) = rest[start..].split_at(quotes);
        let end = inside.find(quote).unwrap_or_else(|| panic!("no closing quote: {cell}"));
        found.push(inside[..end].trim());
        rest = &inside[end + quotes..];
    }
    found
}

fn value(source: &str) -> Result<String, String> {
    let args = json!({
        "env": "production", "count": 3, "path": "/srv/a", "rows": [{"id": 1}, {"id": 2}], "odd key": true, "none": null,
    });
    let program = Program::compile(source, &VARIABLES).map_err(|error| error.to_string())?;
    let now = Value::Timestamp(Timestamp::from(SystemTime::now()));
    let value = program.evaluate(&[Value::from(&args), now], &mut Budget::new(100_000));
    value.map(|value| value.to_string()).map_err(|error| error.to_string())
}

#[test]
fn every_example_holds_or_is_refused_as_the_page_says() {
    let rows = rows(PAGE);
    assert!(rows.len() > 50, "{} rows", rows.len());
    for [part, cell, here] in &rows {
        let examples = examples(cell);
        assert!(!examples.is_empty(), "no example of {part}");
        for example in examples {
            let value = value(example);
            match here.as_str() {
                "yes" => assert_eq!(value.as_deref(), Ok("true"), "{part}: {example}"),
                no => {
                    assert!(no.starts_with("no"), "{part}: neither yes nor no: {no}");
                    assert!(value.is_err(), "{part}: {example} is {value:?}");
                }
            }
        }
    }
}

#[test]
fn a_wrong_page_would_be_noticed() {
    let rows =
        rows("| part | examples | here |\n|---|---|---|\n| or | `false \\|\\| true` ``a.`b` `` | no |\n");
    assert_eq!(rows, [["or", "`false || true` ``a.`b` ``", "no"].map(str::to_owned)]);
    assert_eq!(examples(&rows[0][1]), ["false || true", "a.`b`"]);
    assert_eq!(value("args.count == 4").as_deref(), Ok("false"));
    assert!(value("args.count + 1.0 == 4.0").is_err());
}
