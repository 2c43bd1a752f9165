//! Fields: the page names all that a line can have, and nothing else.

use mcp_bash_audit::FIELDS;
use std::collections::BTreeSet;

#[test]
fn the_page_lists_the_fields_that_the_code_writes() {
    let page = include_str!("../../docs/audit.md");
    let table = page.split("| field |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a table");
    let first_cells = table.lines().skip(2).filter_map(|row| row.split('|').nth(1));
    let listed: BTreeSet<&str> = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert_eq!(listed, BTreeSet::from(FIELDS));
}
