//! TOML editing with a list of servers: an entry is a table of its own, `[[mcp_servers]]`, at the end of the file. A
//! client without servers may have written `mcp_servers = []`: then the entry is put into the brackets.

use super::EditError;
use super::splice::Splice;
use super::toml::{key_text, lines_of, read, table_value, value_text, with_space_before, write_members};
use serde_json::Value;
use std::ops::Range;
use toml_edit::{Document, Item, Table};

/// The edits that add the entry.
pub(super) fn put(text: &str, keys: &[String], name: &str, value: &Value) -> Result<Vec<Splice>, EditError> {
    let end = super::splice::line_end(text);
    let document = read(text)?;
    match servers(&document, keys)? {
        Servers::Brackets(brackets, names) => match &*names {
            [] => Ok(vec![Splice::replace(brackets, format!("[{}]", value_text(value)))]),
            [only] if only == name => Ok(vec![Splice::replace(brackets, format!("[{}]", value_text(value)))]),
            _ => Err(EditError::Unsafe),
        },
        Servers::Tables(tables) => match tables.into_iter().find(|table| is_called(table, name)) {
            None => Ok(vec![appended(text, &item_text(keys, value, end), end)]),
            Some(found) => {
                let mut regions = lines_of(text, &document, found)?.into_iter();
                let first = regions.next().ok_or(EditError::Unsafe)?;
                let item = item_text(keys, value, end);
                let item = if text[first.clone()].ends_with('\n') { &item } else { item.trim_end() };
                let rest = regions.map(|region| Splice::delete(with_space_before(text, region)));
                Ok([Splice::replace(first, item)].into_iter().chain(rest).collect())
            }
        },
    }
}

/// The edits that remove the entry.
pub(super) fn take(text: &str, keys: &[String], name: &str) -> Result<Vec<Splice>, EditError> {
    let document = read(text)?;
    match servers(&document, keys)? {
        Servers::Brackets(brackets, names) => match &*names {
            [only] if only == name => Ok(vec![Splice::replace(brackets, "[]")]),
            names if names.iter().any(|known| known == name) => Err(EditError::Unsafe),
            _ => Ok(Vec::new()),
        },
        Servers::Tables(tables) => {
            let Some(found) = tables.into_iter().find(|table| is_called(table, name)) else {
                return Ok(Vec::new());
            };
            let regions = lines_of(text, &document, found)?.into_iter();
            Ok(regions.map(|region| Splice::delete(with_space_before(text, region))).collect())
        }
    }
}

enum Servers<'d> {
    /// In brackets: where they are, and the names in them.
    Brackets(Range<usize>, Vec<String>),
    Tables(Vec<&'d Table>),
}

fn servers<'d>(document: &'d Document<&str>, keys: &[String]) -> Result<Servers<'d>, EditError> {
    let [key] = keys else { return Err(EditError::Unsafe) };
    match document.as_table().get(key) {
        None => Ok(Servers::Tables(Vec::new())),
        Some(Item::ArrayOfTables(tables)) => Ok(Servers::Tables(tables.iter().collect())),
        Some(Item::Value(toml_edit::Value::Array(items))) => {
            let names =
                items.iter().map(|item| item.as_inline_table()?.get("name")?.as_str().map(str::to_owned));
            let names = names.map(Option::unwrap_or_default).collect();
            Ok(Servers::Brackets(items.span().ok_or(EditError::Unsafe)?, names))
        }
        Some(_) => Err(EditError::NotAnObject),
    }
}

fn is_called(table: &Table, name: &str) -> bool {
    table_value(table)["name"] == name
}

fn appended(text: &str, item: &str, end: &str) -> Splice {
    let item = match text {
        _ if text.trim().is_empty() => item.to_owned(),
        _ if text.ends_with('\n') => format!("{end}{item}"),
        _ => format!("{end}{end}{}", item.trim_end()),
    };
    Splice::insert(text.len(), item)
}

/// An entry as a table with its header.
pub(crate) fn item_text(keys: &[String], value: &Value, end: &str) -> String {
    let keys: Vec<String> = keys.iter().map(|key| key_text(key)).collect();
    let mut text = format!("[[{}]]{end}", keys.join("."));
    write_members(&mut text, value, end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Format;
    use crate::edit::At;
    use serde_json::json;

    fn at() -> At {
        At { format: Format::Toml, keys: vec!["mcp_servers".into()], is_list: true, escaped: &[] }
    }

    fn entry() -> Value {
        json!({ "name": "new", "transport": "stdio", "command": ["/bin/x"], "args": ["--project-root", "/p"] })
    }

    const ITEM: &str = "[[mcp_servers]]\nname = \"new\"\ntransport = \"stdio\"\ncommand = [\"/bin/x\"]\n\
                        args = [\"--project-root\", \"/p\"]\n";
    const INLINE: &str = "[{ name = \"new\", transport = \"stdio\", command = [\"/bin/x\"], args = [\"--project-root\", \"/p\"] }]";

    #[test]
    fn an_entry_is_put_at_the_end_and_taken_from_there() {
        for (before, expected) in [
            ("", ITEM.to_owned()),
            ("# mine\ntheme = \"x\"\n", format!("# mine\ntheme = \"x\"\n\n{ITEM}")),
            ("a = 1", format!("a = 1\n\n{}", ITEM.trim_end())),
            ("a = 1\r\n", format!("a = 1\r\n\r\n{}", ITEM.replace('\n', "\r\n"))),
            (
                "[[mcp_servers]]\nname = 'a' # first\n[mcp_servers.env]\nK = \"v\"\n\n[tools]\nb = 1979-05-27\n",
                format!(
                    "[[mcp_servers]]\nname = 'a' # first\n[mcp_servers.env]\nK = \"v\"\n\n[tools]\nb = 1979-05-27\n\n{ITEM}"
                ),
            ),
            (
                "x = 1\nmcp_servers = [] # none\n\n[y]\n",
                format!("x = 1\nmcp_servers = {INLINE} # none\n\n[y]\n"),
            ),
        ] {
            let after = at().with(before, "new", &entry()).unwrap();
            assert_eq!(after, expected);
            assert_eq!(at().with(&after, "new", &entry()).unwrap(), after);
            assert_eq!(at().without(&after, "new").unwrap(), before);
        }
    }

    #[test]
    fn one_of_several_is_replaced_and_taken_out_as_a_whole() {
        let before = "[[mcp_servers]]\nname = \"a\"\n\n[[mcp_servers]]\nname = \"new\"\ntransport = \"http\"\n\n\
                      [mcp_servers.env]\nK = \"v\"\n\n# of the next\n[[mcp_servers]]\nname = \"b\"\n";
        let replaced = at().with(before, "new", &entry()).unwrap();
        let around = |middle: &str| {
            format!("[[mcp_servers]]\nname = \"a\"\n\n{middle}# of the next\n[[mcp_servers]]\nname = \"b\"\n")
        };
        assert_eq!(replaced, around(&format!("{ITEM}\n")));
        assert_eq!(at().without(before, "new").unwrap(), around(""));
    }

    #[test]
    fn unsupported_forms_are_refused() {
        for text in
            ["mcp_servers = [{ name = \"a\" }]\n", "mcp_servers = [{ name = \"a\" }, { name = \"new\" }]\n"]
        {
            assert_eq!(at().with(text, "new", &entry()), Err(EditError::Unsafe), "{text}");
        }
        assert_eq!(
            at().without("mcp_servers = [{ name = \"a\" }, { name = \"new\" }]\n", "new"),
            Err(EditError::Unsafe)
        );
        for text in ["mcp_servers = 1\n", "[mcp_servers.a]\ncommand = \"x\"\n"] {
            assert_eq!(at().with(text, "new", &entry()), Err(EditError::NotAnObject), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a=.#1,'\"{}é\\[\\]\r\n]{0,40}", start in "(\\[\\[mcp_servers\\]\\]\r?\n)?") {
            let text = format!("{start}{text}");
            let _ = at().with(&text, "new", &entry());
            let _ = at().without(&text, "new");
        }
    }
}
