//! TOML editing: an entry is a table of its own, `[mcp_servers.NAME]`, at the end of the file.

use super::EditError;
use super::splice::{Splice, line_and_column, line_end, line_start};
use serde_json::{Number, Value};
use std::fmt::Write;
use std::ops::Range;
use toml_edit::{Document, Item, Table};

/// Parses a text.
pub(super) fn parse(text: &str) -> Result<Value, EditError> {
    Ok(table_value(read(text)?.as_table()))
}

pub(super) fn read(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let (line, column) = line_and_column(text, floor(text, at));
        let words = error.message().lines().next().unwrap_or_default();
        EditError::Broken(format!("line {line}, column {column}: {words}"))
    })
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The edits that add the entry.
pub(super) fn put(text: &str, path: &[&str], value: &Value) -> Result<Vec<Splice>, EditError> {
    let end = line_end(text);
    let document = read(text)?;
    let table = table_text(path, value, end);
    match regions(text, &document, path)? {
        None if text.trim().is_empty() => Ok(vec![Splice::insert(text.len(), table)]),
        None if text.ends_with('\n') => Ok(vec![Splice::insert(text.len(), format!("{end}{table}"))]),
        None => Ok(vec![Splice::insert(text.len(), format!("{end}{end}{}", table.trim_end()))]),
        Some(regions) => {
            let mut regions = regions.into_iter();
            let first = regions.next().ok_or(EditError::Unsafe)?;
            let has_end = text[first.clone()].ends_with('\n');
            let table = if has_end { &table } else { table.trim_end() };
            let rest = regions.map(|region| Splice::delete(with_space_before(text, region)));
            Ok([Splice::replace(first, table)].into_iter().chain(rest).collect())
        }
    }
}

/// The edits that remove the entry.
pub(super) fn take(text: &str, path: &[&str]) -> Result<Vec<Splice>, EditError> {
    let document = read(text)?;
    let regions = regions(text, &document, path)?.unwrap_or_default();
    Ok(regions.into_iter().map(|region| Splice::delete(with_space_before(text, region))).collect())
}

/// A table with the empty line before it; at the end of a text whose last line has no line end, with the line end
/// before it.
pub(super) fn with_space_before(text: &str, region: Range<usize>) -> Range<usize> {
    let shorter =
        |text: &str| text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
    let mut start = region.start;
    let before = shorter(&text[..start]);
    if before.is_some_and(|before| text[..before].ends_with('\n') || before == 0) {
        start = before.unwrap_or(start);
    }
    if region.end == text.len() && !text.ends_with('\n') {
        start = shorter(&text[..start]).unwrap_or(start);
    }
    start..region.end
}

/// The lines of the tables that make up an entry; empty if there are none.
fn regions(
    text: &str,
    document: &Document<&str>,
    path: &[&str],
) -> Result<Option<Vec<Range<usize>>>, EditError> {
    let mut item = Some(document.as_item());
    for key in path {
        item = item.and_then(|item| item.get(key));
    }
    let Some(item) = item else { return Ok(None) };
    let Item::Table(entry) = item else { return Err(EditError::Unsafe) };
    lines_of(text, document, entry).map(Some)
}

/// The lines of a table and of those below it.
pub(super) fn lines_of(
    text: &str,
    document: &Document<&str>,
    entry: &Table,
) -> Result<Vec<Range<usize>>, EditError> {
    let (mut all, mut own) = (Vec::new(), Vec::new());
    headers(document.as_table(), &mut all);
    headers_of(entry, &mut own);
    if own.is_empty() {
        return Err(EditError::Unsafe);
    }
    all.sort_unstable();
    own.sort_unstable();
    let region = |start: &usize| {
        let start = line_start(text, *start);
        let next = all.iter().map(|at| line_start(text, *at)).find(|at| *at > start).unwrap_or(text.len());
        start..start + without_last_comments(&text[start..next])
    };
    Ok(own.iter().map(region).collect())
}

/// The length of lines without the comments and empty lines at their end, which belong to what follows.
fn without_last_comments(text: &str) -> usize {
    let mut kept = text;
    while let Some(start) = kept.strip_suffix('\n').unwrap_or(kept).rfind('\n').map(|newline| newline + 1) {
        let line = kept[start..].trim();
        if !line.is_empty() && !line.starts_with('#') {
            break;
        }
        kept = &kept[..start];
    }
    kept.len()
}

/// The positions of the headers of all tables below this one.
fn headers(table: &Table, found: &mut Vec<usize>) {
    for (_, item) in table {
        match item {
            Item::Table(table) => headers_of(table, found),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| headers_of(table, found)),
            _ => {}
        }
    }
}

/// The same, including its own.
fn headers_of(table: &Table, found: &mut Vec<usize>) {
    if !table.is_implicit() && !table.is_dotted() {
        found.extend(table.span().map(|span| span.start));
    }
    headers(table, found);
}

pub(super) fn table_value(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_value(item))).collect())
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => tables.iter().map(table_value).collect(),
        Item::Value(value) => plain_value(value),
    }
}

fn plain_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Boolean(truth) => (*truth.value()).into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Array(items) => items.iter().map(plain_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            let members = table.iter().map(|(key, value)| (key.to_owned(), plain_value(value)));
            Value::Object(members.collect())
        }
        toml_edit::Value::Float(number) => match Number::from_f64(*number.value()) {
            Some(number) => Value::Number(number),
            None => number.value().to_string().into(),
        },
        // JSON has no such value; as texts they can be compared.
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
    }
}

/// An entry as a table with its header.
pub(crate) fn table_text(path: &[&str], value: &Value, end: &str) -> String {
    let keys: Vec<String> = path.iter().map(|key| key_text(key)).collect();
    let mut text = format!("[{}]{end}", keys.join("."));
    write_members(&mut text, value, end);
    text
}

/// The members of an object, each on a line of its own.
pub(super) fn write_members(text: &mut String, value: &Value, end: &str) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let _ = write!(text, "{} = {}{end}", key_text(key), value_text(value));
    }
}

pub(super) fn value_text(value: &Value) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match value {
        Value::String(text) => string_text(text),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(value_text).collect())),
        Value::Object(members) if members.is_empty() => "{}".into(),
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{} = {}", key_text(key), value_text(value));
            format!("{{ {} }}", joined(members.iter().map(member).collect()))
        }
        other => other.to_string(),
    }
}

pub(super) fn key_text(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { string_text(key) }
}

/// A quoted text: as in JSON, with one more control character that must be escaped.
fn string_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Format;
    use crate::edit::At;
    use serde_json::json;

    fn at() -> At {
        At { format: Format::Toml, keys: vec!["mcp_servers".into()], is_list: false, escaped: &[] }
    }

    fn entry() -> Value {
        json!({ "command": "/bin/x", "args": ["--project-root", "/p"], "env": { "A B": "c\"\u{7f}" } })
    }

    const TABLE: &str = "[mcp_servers.new]\ncommand = \"/bin/x\"\nargs = [\"--project-root\", \"/p\"]\n\
                         env = { \"A B\" = \"c\\\"\\u007f\" }\n";

    #[test]
    fn an_entry_is_put_at_the_end_and_taken_from_there() {
        for (before, expected) in [
            ("", TABLE.to_owned()),
            ("# mine\nmodel = \"x\"\n", format!("# mine\nmodel = \"x\"\n\n{TABLE}")),
            ("a = 1", format!("a = 1\n\n{}", TABLE.trim_end())),
            ("a = 1\r\n", format!("a = 1\r\n\r\n{}", TABLE.replace('\n', "\r\n"))),
            (
                "[mcp_servers.a] # first\ncommand = 'y'\n[mcp_servers.a.env]\nK = \"v\"\n\n[[x]]\nt = 1979-05-27\n",
                format!(
                    "[mcp_servers.a] # first\ncommand = 'y'\n[mcp_servers.a.env]\nK = \"v\"\n\n[[x]]\nt = 1979-05-27\n\n{TABLE}"
                ),
            ),
        ] {
            let after = at().with(before, "new", &entry()).unwrap();
            assert_eq!(after, expected);
            assert_eq!(at().without(&after, "new").unwrap(), before);
        }
        let quoted = at().with("", "a.b", &entry()).unwrap();
        assert!(quoted.starts_with("[mcp_servers.\"a.b\"]\n"), "{quoted}");
    }

    #[test]
    fn an_entry_with_tables_below_it_is_replaced_and_taken_out_as_a_whole() {
        let before = "x = 1\n\n[mcp_servers.new]\ncommand = \"old\"\n\n[mcp_servers.new.env]\nK = \"\"\"\n[no.header]\n\"\"\"\n\n\
                      # of the next\n[other]\nlist = [\n  [1],\n]\n\n[mcp_servers.new.tools.t]\non = true\n";
        let replaced = at().with(before, "new", &entry()).unwrap();
        assert_eq!(replaced, format!("x = 1\n\n{TABLE}\n# of the next\n[other]\nlist = [\n  [1],\n]\n"));
        let without = at().without(before, "new").unwrap();
        assert_eq!(without, "x = 1\n\n# of the next\n[other]\nlist = [\n  [1],\n]\n");
    }

    #[test]
    fn unsupported_forms_and_broken_text_are_refused() {
        let put = |text: &str| at().with(text, "new", &entry());
        for text in [
            "mcp_servers = {}\n",
            "mcp_servers = { new = { command = \"x\" } }\n",
            "[mcp_servers]\nnew = { command = \"x\" }\n",
            "mcp_servers.new.command = \"x\"\n",
        ] {
            assert_eq!(put(text), Err(EditError::Unsafe), "{text}");
        }
        let told = |text: &str| match put(text) {
            Err(EditError::Broken(words)) => words,
            other => panic!("{text}: {other:?}"),
        };
        assert!(told("a = 1\nb = \n").starts_with("line 2, column "), "{}", told("a = 1\nb = \n"));
        for text in ["a = 1\na = 2\n", "[x", "é = 1\n", "a = \"é"] {
            told(text);
        }
        assert_eq!(put("mcp_servers = 1\n"), Err(EditError::NotAnObject));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a=.#1,'\"{}é\\[\\]\r\n]{0,40}", start in "(\\[mcp_servers.new\\]\r?\n)?") {
            let text = format!("{start}{text}");
            let _ = at().with(&text, "new", &entry());
            let _ = at().without(&text, "new");
        }
    }
}
