//! `validate --explain-defaults`: what clients see of the server and each entry, and where it comes from.

use crate::report::finding::shortened;
use mcp_bash_harmless::clip;
use mcp_bash_project::Explained;
use mcp_bash_terminal::visible;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// How much of a value is shown.
const LONGEST: usize = 60;

pub(super) fn to_text(all: &[Explained], root: &Path) -> String {
    let mut text = String::new();
    for Explained { kind, name, file, origins } in all {
        let _ = if *kind == "server" {
            let values: Vec<String> =
                origins.iter().map(|origin| format!("{}={}", origin.field, visible(&origin.value))).collect();
            writeln!(text, "Defaults used: {}\nserver", values.join(", "))
        } else {
            writeln!(text, "{kind} {} ({})", visible(name), visible(&shortened(file, Some(root))))
        };
        for origin in origins {
            let value = shown(&origin.value);
            let value = if value.is_empty() { String::new() } else { format!("{value}: ") };
            let _ = writeln!(text, "  {:<12} {value}{}", origin.field, visible(&origin.from));
        }
    }
    text
}

pub(super) fn to_json(all: &[Explained]) -> Value {
    let explained = |one: &Explained| {
        let origins = one
            .origins
            .iter()
            .map(|origin| json!({ "field": origin.field, "value": origin.value, "from": origin.from }));
        json!({
            "kind": one.kind,
            "name": one.name,
            "file": one.file.to_string_lossy(),
            "origins": origins.collect::<Vec<_>>(),
        })
    };
    all.iter().map(explained).collect()
}

/// The beginning of a value, on one line.
fn shown(value: &str) -> String {
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&clip(&line, LONGEST))
}
