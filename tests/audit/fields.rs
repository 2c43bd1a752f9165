//! Fields: the page names all that a line can have, and nothing else.

use mcp_bash_audit::{FIELDS, Reason};
use std::collections::BTreeSet;

/// The rows of the table of fields, each as its cells.
fn rows() -> Vec<Vec<&'static str>> {
    let page = include_str!("../../docs/audit.md");
    let table = page.split("| field |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a table");
    table.lines().skip(2).map(|row| row.split('|').collect()).collect()
}

/// What is in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_page_lists_the_fields_that_the_code_writes() {
    let listed: BTreeSet<&str> = rows().into_iter().flat_map(|row| quoted(row[1])).collect();
    assert_eq!(listed, BTreeSet::from(FIELDS));
}

#[test]
fn the_page_lists_the_words_of_error_type_that_the_code_writes() {
    let row = rows().into_iter().find(|row| row[1].trim() == "`error.type`").expect("a row");
    let is_word = |text: &&str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let listed: BTreeSet<&str> = quoted(row[2]).filter(is_word).collect();
    assert_eq!(listed, Reason::ALL.iter().map(|reason| reason.word()).collect());
}
