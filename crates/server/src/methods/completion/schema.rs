//! Completion from a schema: the values that a JSON Schema lists.

use mcp_bash_project::beginning_with;
use serde_json::Value;
use std::path::Path;

/// The values that begin with the typed text: those of an `enum` or the `examples`, ignoring case; the files of the project for
/// a path `format`; or `true` and `false` for a boolean.
pub(super) fn values(schema: &str, typed: &str, root: &Path) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let listed = schema["enum"].as_array().or_else(|| schema["examples"].as_array());
    if let Some(values) = listed {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let fits = |value: &String| value.to_lowercase().starts_with(&typed.to_lowercase());
        return values.iter().filter(|value| !value.is_null()).map(text).filter(fits).collect();
    }
    match schema["format"].as_str() {
        Some("path" | "file" | "file-path") => beginning_with(root, typed),
        Some("directory" | "directory-path") => {
            let mut folders = beginning_with(root, typed);
            folders.retain(|path| path.ends_with('/'));
            folders
        }
        _ if schema["type"] == "boolean" => {
            let values =
                ["true", "false"].into_iter().filter(|value| value.starts_with(&typed.to_lowercase()));
            values.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}
