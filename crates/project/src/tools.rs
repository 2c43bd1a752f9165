//! Finds the tools of a project: scripts with a metadata file beside them.

use crate::Diagnostic;
use crate::json::one_line;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How deep below `tools/` a tool may stand.
const DEPTH: usize = 3;

/// A script and what clients are told about it. JSON stays as its author wrote it.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// A JSON Schema object.
    pub input_schema: Box<RawValue>,
    pub output_schema: Option<Box<RawValue>>,
    pub annotations: Option<Box<RawValue>>,
    pub icons: Option<Box<RawValue>>,
    pub meta: Option<Box<RawValue>>,
    /// How long a call may take, where the author says so.
    pub timeout: Option<Duration>,
    pub script: PathBuf,
    /// Everything the author wrote, for the script itself.
    pub metadata: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    input_schema: Option<Box<RawValue>>,
    output_schema: Option<Box<RawValue>>,
    annotations: Option<Box<RawValue>>,
    icons: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    underscored: Option<Box<RawValue>>,
    timeout_secs: Option<u64>,
}

/// All tools below `project`, in the order of their paths.
pub(crate) fn discover(project: &Path, diagnostics: &mut Vec<Diagnostic>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for path in metadata_files(&project.join("tools"), DEPTH, diagnostics) {
        let problem = match read_tool(&path) {
            Ok(tool) if tools.iter().any(|known| known.name == tool.name) => {
                format!("another tool is called `{}`; rename one of them", tool.name)
            }
            Ok(tool) => {
                tools.push(tool);
                continue;
            }
            Err(problem) => problem,
        };
        diagnostics.push(Diagnostic::new(&path, format!("is skipped: {problem}")));
    }
    tools
}

fn metadata_files(folder: &Path, depth: usize, diagnostics: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                diagnostics.push(Diagnostic::new(folder, format!("is skipped: {error}")));
            }
            return Vec::new();
        }
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| !is_hidden(path)).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            if depth > 1 {
                found.extend(metadata_files(&path, depth - 1, diagnostics));
            }
        } else if path.to_string_lossy().ends_with(".meta.json") {
            found.push(path);
        }
    }
    found
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn read_tool(path: &Path) -> Result<Tool, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let metadata = one_line(&text).map_err(|error| format!("{error}; mend the JSON"))?;
    let meta: Meta = serde_json::from_str(metadata.get()).map_err(|error| error.to_string())?;
    let stem =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".meta.json"));
    let stem = stem.ok_or("its name is not valid Unicode")?;
    let script = script_beside(path, stem)?;
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let default_name =
        if stem == "tool" { folder.unwrap_or_else(|| stem.to_owned()) } else { stem.to_owned() };
    Ok(Tool {
        name: meta.name.filter(|name| !name.is_empty()).unwrap_or(default_name),
        title: meta.title,
        description: meta.description,
        input_schema: input_schema(object(meta.input_schema, "inputSchema")?.as_deref())?,
        output_schema: object(meta.output_schema, "outputSchema")?,
        annotations: object(meta.annotations, "annotations")?,
        icons: meta.icons.filter(|icons| icons.get().starts_with('[')),
        meta: object(meta.underscored, "_meta")?,
        timeout: meta.timeout_secs.filter(|secs| *secs > 0).map(Duration::from_secs),
        script,
        metadata,
    })
}

/// The file of that name that is not the metadata itself: `tool.sh` beside `tool.meta.json`.
fn script_beside(metadata: &Path, stem: &str) -> Result<PathBuf, String> {
    let folder = metadata.parent().unwrap_or(Path::new("."));
    let mut candidates: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| error.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_stem().is_some_and(|name| name == stem) && path.is_file())
        .collect();
    candidates.sort();
    candidates
        .into_iter()
        .next()
        .ok_or_else(|| format!("there is no script called `{stem}` or `{stem}.*` beside it"))
}

fn object(value: Option<Box<RawValue>>, name: &str) -> Result<Option<Box<RawValue>>, String> {
    match value {
        Some(value) if !value.get().starts_with('{') => Err(format!("`{name}` must be an object")),
        value => Ok(value),
    }
}

/// A schema that says `"type": "object"` itself, as every client expects.
fn input_schema(schema: Option<&RawValue>) -> Result<Box<RawValue>, String> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: Option<serde_json::Value>,
    }
    let text = schema.map_or("{}", RawValue::get);
    let typed: Typed = serde_json::from_str(text).map_err(|error| format!("`inputSchema`: {error}"))?;
    let text = match typed.r#type {
        Some(kind) if kind == "object" => text.to_owned(),
        Some(kind) => return Err(format!("`inputSchema` must have the type \"object\", not {kind}")),
        None if text == "{}" => r#"{"type":"object"}"#.to_owned(),
        None => text.replacen('{', r#"{"type":"object","#, 1),
    };
    RawValue::from_string(text).map_err(|error| error.to_string())
}
