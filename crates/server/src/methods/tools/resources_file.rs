//! Embedded resources: files that a script names as part of its result.

use crate::replies::Content;
use mcp_bash_budget::{Budget, Charge, NoRoom};
use mcp_bash_fetch::sniff;
use mcp_bash_policy::Redactions;
use mcp_bash_wire::{surrogates, write};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// A file that a script names.
struct Named {
    path: String,
    kind: Option<String>,
    uri: Option<String>,
}

/// Why a file is left out.
#[derive(Debug, Error)]
enum LeftOut {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    #[error("it is outside the project, the roots and the folder of the call")]
    Outside,
    #[error(
        "the files of a result have at most {0} bytes together; MCPBASH_MAX_TOOL_OUTPUT_SIZE sets the limit"
    )]
    TooLarge(usize),
}

/// Reads the list that a script has written, if any, and adds its files to `content`. Returns the problems. Paths are relative
/// to `root`. Only files inside `root` and the `others` are read.
pub(super) fn embed(
    content: &mut Content,
    list: io::Result<Option<String>>,
    root: &Path,
    others: &[&Path],
    mut allowance: Allowance<'_>,
    redactions: &Redactions,
) -> Vec<String> {
    let list = match list {
        Ok(None) => return Vec::new(),
        Ok(Some(list)) => list,
        Err(error) => {
            return vec![format!("the list of files (MCP_TOOL_RESOURCES_FILE) cannot be read: {error}")];
        }
    };
    let folders = std::iter::once(root).chain(others.iter().copied());
    let folders: Vec<PathBuf> = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
    let mut problems = Vec::new();
    for named in read_list(&list) {
        if let Err(problem) = embed_one(&named, root, &folders, content, &mut allowance, redactions)
            && problems.len() < MOST_PROBLEMS
        {
            problems.push(format!("the file {} is left out: {problem}", named.path));
        }
    }
    problems
}

/// The most problems of one list that are reported.
const MOST_PROBLEMS: usize = 100;

/// The limits of the files in one result.
pub(super) struct Allowance<'a> {
    limit: usize,
    /// The rest of the limit.
    left: usize,
    budget: &'a Arc<Budget>,
    /// The charge for the files as part of the result.
    held: Charge,
}

impl<'a> Allowance<'a> {
    /// All files together may have `limit` bytes.
    pub(super) fn new(limit: usize, budget: &'a Arc<Budget>) -> Self {
        Self { limit, left: limit, budget, held: Charge::nothing(budget) }
    }

    /// Reads a file within the limits.
    fn read(&mut self, path: &Path) -> Result<(Vec<u8>, Charge), LeftOut> {
        let bytes = mcp_bash_files::read(path, self.left as u64).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => LeftOut::TooLarge(self.limit),
            _ => error.into(),
        })?;
        // It is longer as part of the result; how much depends on its content.
        let size = std::str::from_utf8(&bytes).map_or(bytes.len() / 3 * 4 + 4, write::string_len);
        let held = self.budget.charge(bytes.len())?;
        self.held.grow_to(self.held.bytes() + size)?;
        self.left -= bytes.len();
        Ok((bytes, held))
    }
}

/// Parses a JSON array of paths or objects, or lines of path, type and URI separated by tabs.
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
    match serde_json::from_str::<Value>(&surrogates::repaired(text)) {
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

fn embed_one(
    named: &Named,
    root: &Path,
    folders: &[PathBuf],
    content: &mut Content,
    allowance: &mut Allowance<'_>,
    redactions: &Redactions,
) -> Result<(), LeftOut> {
    let path = root.join(&named.path).canonicalize()?;
    if !folders.iter().any(|folder| path.starts_with(folder)) {
        return Err(LeftOut::Outside);
    }
    let (bytes, _held) = allowance.read(&path)?;
    let uri = named.uri.clone().unwrap_or_else(|| file_uri(&path));
    let kind = named.kind.as_deref();
    let kind = kind.unwrap_or_else(|| sniff(&bytes, Some(&path.to_string_lossy())).mime_type);
    match std::str::from_utf8(&bytes) {
        Ok(text) => content.file(&uri, kind, redactions.text(text).as_bytes()),
        Err(_) => content.file(&uri, kind, &bytes),
    }
    Ok(())
}

/// A `file://` URI, percent-encoded where necessary.
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
