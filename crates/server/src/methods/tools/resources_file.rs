//! Files that a script names as part of its result: they are embedded into it.

use super::files::CallFiles;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_fetch::sniff;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// One file, as a script names it.
struct Named {
    path: String,
    kind: Option<String>,
    uri: Option<String>,
}

/// Reads the list a script has left, and the files it names: content items as JSON text, and what went wrong. Paths are
/// relative to `root`, and nothing outside of it is read. `limit` bounds each file.
pub(super) fn embed(files: &CallFiles, root: &Path, limit: usize) -> (Vec<String>, Vec<String>) {
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    let text = match files.list_of_resources() {
        Ok(Some(text)) => text,
        Ok(None) => return (items, problems),
        Err(error) => {
            problems.push(format!("the list of files (MCP_TOOL_RESOURCES_FILE) cannot be read: {error}"));
            return (items, problems);
        }
    };
    for named in read_list(&text) {
        match embed_one(&named, root, limit) {
            Ok(item) => items.push(item.to_string()),
            Err(problem) => problems.push(format!("the file {} is left out: {problem}", named.path)),
        }
    }
    (items, problems)
}

/// A JSON array of paths or of objects, or lines of path, type and URI with tabs between them.
fn read_list(text: &str) -> Vec<Named> {
    let text_of = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let named = |value: &Value| match value {
        Value::String(path) => Some(Named { path: path.clone(), kind: None, uri: None }),
        Value::Object(_) => {
            let path = text_of(&value["path"])?;
            Some(Named { path, kind: text_of(&value["mimeType"]), uri: text_of(&value["uri"]) })
        }
        _ => None,
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(entries)) => entries.iter().filter_map(named).collect(),
        Ok(entry) => named(&entry).into_iter().collect(),
        Err(_) => text.lines().filter_map(read_line).collect(),
    }
}

fn read_line(line: &str) -> Option<Named> {
    let mut fields =
        line.split('\t').map(|field| Some(field.trim()).filter(|field| !field.is_empty()).map(str::to_owned));
    Some(Named { path: fields.next()??, kind: fields.next().flatten(), uri: fields.next().flatten() })
}

fn embed_one(named: &Named, root: &Path, limit: usize) -> Result<Value, String> {
    let path = root.join(&named.path).canonicalize().map_err(|error| error.to_string())?;
    if !root.canonicalize().is_ok_and(|root| path.starts_with(root)) {
        return Err("it is outside of the project".to_owned());
    }
    let bytes = mcp_bash_files::read(&path, limit as u64).map_err(|error| error.to_string())?;
    let uri = named.uri.clone().unwrap_or_else(|| file_uri(&path));
    let kind = named
        .kind
        .clone()
        .unwrap_or_else(|| sniff(&bytes, Some(&path.to_string_lossy())).mime_type.to_owned());
    let resource = match String::from_utf8(bytes) {
        Ok(text) => json!({ "uri": uri, "mimeType": kind, "text": text }),
        Err(binary) => json!({ "uri": uri, "mimeType": kind, "blob": STANDARD.encode(binary.as_bytes()) }),
    };
    Ok(json!({ "type": "resource", "resource": resource }))
}

/// `file://` and the path, with what a URI cannot hold percent-encoded.
pub(crate) fn file_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
