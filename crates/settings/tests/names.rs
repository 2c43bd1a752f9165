//! Setting names: no crate reads or names a variable of ours that has no row in the table.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

use mcp_bash_settings::{MOOT, TABLE};
use std::fs;
use std::path::{Path, PathBuf};

/// Variables with the prefix of settings that are not settings: those that scripts receive, that the SDK reads, and
/// that only debug builds read.
const OTHERS: [&str; 17] = [
    "MCPBASH_BIN",
    "MCPBASH_DEBUG_LOG",
    "MCPBASH_ELICITATION_TIMEOUT",
    "MCPBASH_LAUNCH_ID",
    "MCPBASH_LAUNCH_MARK",
    "MCPBASH_MAX_TEXT_BYTES",
    "MCPBASH_MODE",
    "MCPBASH_SERVER_DESCRIPTION",
    "MCPBASH_SERVER_ICONS",
    "MCPBASH_SERVER_INSTRUCTIONS",
    "MCPBASH_SERVER_NAME",
    "MCPBASH_SERVER_TITLE",
    "MCPBASH_SERVER_VERSION",
    "MCPBASH_SERVER_WEBSITE_URL",
    "MCPBASH_TEST_PANIC",
    "MCPBASH_TIMEOUT_HINT",
    "MCPBASH_TRACE_FILE",
];

#[test]
fn every_name_in_the_code_is_that_of_a_setting() {
    let mut strangers = Vec::new();
    for source in rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) {
        let text = fs::read_to_string(&source).unwrap();
        // Tests in the same file use unknown names on purpose.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in names(code) {
            let moot = MOOT.iter().any(|(moot, _)| *moot == name);
            let known = moot || OTHERS.contains(&name) || TABLE.iter().any(|setting| setting.name() == name);
            if !known {
                strangers.push(format!("{name} in {}", source.display()));
            }
        }
    }
    assert!(strangers.is_empty(), "neither settings nor in the list of other variables: {strangers:#?}");
}

#[test]
fn settings_are_read_nowhere_else() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for source in rust_files(&crates) {
        let text = fs::read_to_string(&source).unwrap();
        for (at, _) in text.match_indices("env::var") {
            let argument = text[at..].split(['(', ')']).nth(1).unwrap_or_default();
            let read_by_hand = TABLE.iter().any(|setting| argument.contains(setting.name()));
            assert!(!read_by_hand, "{} reads {argument} by itself", source.display());
        }
    }
}

/// The names with the prefix of settings in a text. The prefix alone is none.
fn names(text: &str) -> impl Iterator<Item = &str> {
    const PREFIX: &str = "MCPBASH_";
    let of_name = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    text.match_indices(PREFIX)
        .map(move |(at, _)| text[at..].split(|letter| !of_name(letter)).next().unwrap_or_default())
        .filter(|name| *name != PREFIX)
}

/// The source files of all crates, without their tests.
fn rust_files(crates: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = entries(crates).into_iter().map(|folder| folder.join("src")).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 100, "{} files are too few to be all", files.len());
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}
