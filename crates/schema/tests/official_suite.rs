//! The official test suite of JSON Schema, in a folder that `JSON_SCHEMA_SUITE` names. `scripts/schema-suite` fetches
//! it and runs this.

#![expect(clippy::print_stdout, reason = "the command shows how many tests there were")]
#![expect(clippy::disallowed_methods, reason = "the files are those of the suite")]

use mcp_bash_schema::{Schema, SchemaError};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// Optional tests of a keyword that describes and refuses nothing here.
const ANNOTATION: &str = "optional/content.json";

/// What became of the tests.
#[derive(Default)]
struct Tally {
    passed: usize,
    /// Tests of schemas that need others, to refer to or as their dialect, which are never fetched.
    outside: usize,
    /// Tests of schemas that are refused for another reason, and tests with the wrong outcome.
    failed: Vec<String>,
}

#[test]
#[ignore = "needs the suite: run scripts/schema-suite"]
fn every_draft_passes_the_official_suite() {
    let suite = PathBuf::from(std::env::var_os("JSON_SCHEMA_SUITE").expect("JSON_SCHEMA_SUITE"));
    let mut all = Tally::default();
    for (folder, address) in DRAFTS {
        let mut tally = Tally::default();
        for part in ["", "optional"] {
            for file in files(&suite.join("tests").join(folder).join(part)) {
                if !file.ends_with(ANNOTATION) {
                    run(&file, folder, address, &mut tally);
                }
            }
        }
        println!(
            "{folder}: {} passed, {} outside, {} failed",
            tally.passed,
            tally.outside,
            tally.failed.len()
        );
        all.passed += tally.passed;
        all.failed.extend(tally.failed);
    }
    all.failed.iter().for_each(|failure| println!("{failure}"));
    assert!(all.passed > 5000, "only {} tests ran", all.passed);
    assert!(all.failed.is_empty(), "{} tests failed", all.failed.len());
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}

/// A group of tests. Schemas and values are taken as they are written, with every digit of their numbers.
type Group = BTreeMap<String, Box<RawValue>>;

fn run(file: &Path, folder: &str, address: &str, tally: &mut Tally) {
    let text = std::fs::read_to_string(file).unwrap();
    for group in serde_json::from_str::<Vec<Group>>(&text).unwrap() {
        let schema = with_address(group["schema"].get(), address);
        let name = format!("{folder}/{}: {}", file.file_stem().unwrap().display(), group["description"]);
        let tests: Vec<Group> = serde_json::from_str(group["tests"].get()).unwrap();
        match Schema::compile(&schema) {
            Ok(compiled) => {
                for test in tests {
                    let fits = compiled.check_value(test["data"].get()).is_ok();
                    if fits.to_string() == test["valid"].get() {
                        tally.passed += 1;
                    } else {
                        tally.failed.push(format!("{name}: {}", test["description"]));
                    }
                }
            }
            Err(SchemaError::OutsideReference(_) | SchemaError::UnknownDialect(_)) => {
                tally.outside += tests.len();
            }
            Err(refusal) => tally.failed.push(format!("{name}: {refusal}")),
        }
    }
}

/// The schema, with the address of its draft if it names none.
fn with_address(schema: &str, address: &str) -> String {
    let Ok(keywords) = serde_json::from_str::<Map<String, Value>>(schema) else { return schema.to_owned() };
    match schema.trim_start().strip_prefix('{') {
        Some(rest) if !keywords.contains_key("$schema") => {
            let comma = if keywords.is_empty() { "" } else { "," };
            format!("{{\"$schema\": \"{address}\"{comma}{rest}")
        }
        _ => schema.to_owned(),
    }
}
