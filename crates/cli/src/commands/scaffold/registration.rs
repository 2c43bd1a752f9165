//! Registration edits: adds one completion to `server.d/register.json`. The rest keeps its spelling.

use super::error::{RegistrationProblem, ScaffoldError};
use mcp_bash_project::{Paths, trust};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// By default, a longer file is not used for registration.
const LONGEST: u64 = 1024 * 1024;

pub(super) fn file(paths: &Paths) -> PathBuf {
    paths.server.join("register.json")
}

/// The text of the registration, if there is one.
pub(super) fn read(paths: &Paths) -> Result<Option<String>, ScaffoldError> {
    let file = file(paths);
    let bytes = trust::read(&file, &paths.root, LONGEST).map_err(RegistrationProblem::from);
    let text = bytes.and_then(|bytes| Ok(bytes.map(String::from_utf8).transpose()?));
    text.map_err(|problem| ScaffoldError::Registration { file, problem })
}

/// Whether a registration lists the entries of a kind, so that they are not searched for.
pub(super) fn lists(text: &str, kind: &str) -> bool {
    members(text).is_ok_and(|members| members.get(kind).is_some_and(|raw| raw.get().starts_with('[')))
}

/// The registration with one more completion.
pub(super) fn with_completion(text: &str, entry: &str) -> Result<String, RegistrationProblem> {
    let members = members(text)?;
    if let Some(raw) = members.get("completions") {
        // It is a slice of the text.
        let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        let end = start + raw.get().len();
        let entries = in_list(raw.get(), entry)?;
        return Ok(format!("{}{entries}{}", &text[..start], &text[end..]));
    }
    let end = text.rfind('}').ok_or(RegistrationProblem::NotAnObject)?;
    let before = text[..end].trim_end();
    let comma = if before.ends_with('{') { "" } else { "," };
    let after = &text[end..];
    let is_spread = text.trim().contains('\n');
    Ok(if is_spread {
        format!("{before}{comma}\n  \"completions\": [\n    {entry}\n  ]\n{after}")
    } else {
        format!("{before}{comma} \"completions\": [{entry}]{after}")
    })
}

fn members(text: &str) -> serde_json::Result<BTreeMap<String, &RawValue>> {
    serde_json::from_str(text)
}

/// A list with one more entry, in the style of those before it.
fn in_list(list: &str, entry: &str) -> Result<String, RegistrationProblem> {
    if list == "null" {
        return Ok(format!("[{entry}]"));
    }
    let inner = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
    let inner = inner.ok_or(RegistrationProblem::NotAnArray)?;
    if inner.trim().is_empty() {
        return Ok(format!("[\n    {entry}\n  ]"));
    }
    let (written, end) = inner.split_at(inner.trim_end().len());
    let first = written.len() - written.trim_start().len();
    let between = if written[..first].contains('\n') { &written[..first] } else { " " };
    Ok(format!("[{written},{between}{entry}{end}]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_entry_is_added_and_nothing_else_changes() {
        let entry = r#"{"name":"n"}"#;
        let cases = [
            (r#"{"version": 1}"#, r#"{"version": 1, "completions": [{"name":"n"}]}"#),
            (
                "{\n  \"version\": 1\n}\n",
                "{\n  \"version\": 1,\n  \"completions\": [\n    {\"name\":\"n\"}\n  ]\n}\n",
            ),
            (r#"{"version":1,"completions":null}"#, r#"{"version":1,"completions":[{"name":"n"}]}"#),
            (
                r#"{"completions":[{"a":1.10}],"version":1}"#,
                r#"{"completions":[{"a":1.10}, {"name":"n"}],"version":1}"#,
            ),
            (
                "{\"completions\": [\n      1,\n      2\n    ], \"x\": \"}\"}",
                "{\"completions\": [\n      1,\n      2,\n      {\"name\":\"n\"}\n    ], \"x\": \"}\"}",
            ),
        ];
        for (text, expected) in cases {
            let added = with_completion(text, entry).unwrap();
            assert_eq!(added, expected);
            let read: Value = serde_json::from_str(&added).unwrap();
            assert_eq!(read["completions"].as_array().unwrap().last(), Some(&json!({"name": "n"})));
        }
        let empty = with_completion("{\"version\": 1, \"completions\": []}", entry).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&empty).unwrap()["completions"], json!([{"name": "n"}]));
    }

    #[test]
    fn a_broken_registration_is_left_alone() {
        for text in ["", "{", "[]", r#"{"completions": {}}"#, r#"{"completions": "x"}"#] {
            assert!(with_completion(text, "{}").is_err(), "{text}");
        }
    }

    #[test]
    fn only_lists_switch_the_search_off() {
        assert!(lists(r#"{"tools": []}"#, "tools"));
        assert!(!lists(r#"{"tools": null}"#, "tools"));
        assert!(!lists(r#"{"version": 1}"#, "tools"));
    }
}
