//! Case result: a server's answer, in a form that can be compared with what is expected.

use crate::cases::case::Subject;
use crate::host::Heard;
use mcp_bash_client::Refusal;
use mcp_bash_uri::FileUri;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The result of a case. The paths of its folder and of the project are replaced by names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Got {
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
    /// The error, if it is one: its message, and its code if it is a protocol error.
    pub(crate) error: Option<GotError>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) stderr: String,
    /// The parts of the result, as a snapshot shows them.
    parts: Vec<Part>,
    pub(crate) heard: Heard,
}

#[derive(Debug, Clone)]
pub(crate) struct GotError {
    pub(crate) message: String,
    pub(crate) code: Option<i64>,
}

/// One part of a result: its heading, and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    heading: String,
    text: String,
}

/// Replaces paths that differ in each run.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    dir: PathBuf,
    project: PathBuf,
    /// All spellings of the two in results, the longest first.
    names: Vec<(String, &'static str)>,
}

impl Places {
    pub(crate) fn new(dir: &Path, project: &Path) -> Self {
        let mut names = Vec::new();
        let real = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        for (path, name) in [(dir, "${dir}"), (project, "${project}"), (&real, "${project}")] {
            names.extend([(path.to_string_lossy().into_owned(), name), (encoded(path), name)]);
        }
        // A path that is the beginning of another must not be replaced first.
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        names.dedup();
        names.retain(|(path, _)| path.len() > 1);
        Self { dir: dir.to_owned(), project: project.to_owned(), names }
    }

    /// A text with names for paths.
    pub(crate) fn named(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (path, name)| {
            if text.contains(path.as_str()) { text.replace(path.as_str(), name) } else { text }
        })
    }

    /// A text with paths for names.
    pub(crate) fn filled(&self, text: &str) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        text.replace("${dir}", &path(&self.dir)).replace("${project}", &path(&self.project))
    }

    /// A URI with paths for names, in the spelling of URIs.
    pub(crate) fn filled_uri(&self, uri: &str) -> String {
        uri.replace("${dir}", &encoded(&self.dir)).replace("${project}", &encoded(&self.project))
    }

    pub(crate) fn filled_value(&self, value: &Value) -> Value {
        changed(value, &|text| self.filled(text))
    }

    pub(crate) fn named_value(&self, value: &Value) -> Value {
        changed(value, &|text| self.named(text))
    }
}

/// A path in the spelling of URIs.
fn encoded(path: &Path) -> String {
    let uri = FileUri::of_unix(path.as_os_str().as_bytes());
    uri.strip_prefix("file://").unwrap_or(&uri).to_owned()
}

/// A value with all of its texts changed.
fn changed(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.iter().map(|item| changed(item, change)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), changed(value, change))).collect()
        }
        other => other.clone(),
    }
}

impl Got {
    /// The result of a request.
    pub(crate) fn of_result(subject: &Subject, result: &Value, heard: Heard, places: &Places) -> Self {
        let result = places.named_value(result);
        let mut got = match subject {
            Subject::Tool(_) => of_tool(&result),
            Subject::Prompt(_) => of_prompt(&result),
            Subject::Resource(_) => of_resource(&result),
            Subject::Completion { .. } => of_completion(&result),
        };
        got.exit_code = result["_meta"]["exitCode"].as_i64();
        got.stderr = result["_meta"]["stderr"].as_str().map(str::to_owned).unwrap_or_default();
        got.heard = named_heard(heard, places);
        got
    }

    /// The result of a protocol error.
    pub(crate) fn of_refusal(refusal: &Refusal, heard: Heard, places: &Places) -> Self {
        let (message, data) = (places.named(&refusal.message), refusal.data());
        let text = |name: &str| data[name].as_str().map(|text| places.named(text)).unwrap_or_default();
        Self {
            text: message.clone(),
            parts: vec![Part { heading: format!("error {}", refusal.code), text: message.clone() }],
            error: Some(GotError { message, code: Some(refusal.code) }),
            exit_code: data["exitCode"].as_i64(),
            stderr: text("stderrTail"),
            heard: named_heard(heard, places),
            structured: None,
        }
    }

    /// The value of a result: its structured content, otherwise its text as JSON.
    pub(crate) fn value(&self) -> Option<Value> {
        self.structured.clone().or_else(|| serde_json::from_str(&self.text).ok())
    }

    /// All of it, readable: the parts one after another under their headings.
    pub(crate) fn snapshot(&self) -> String {
        let mut written = String::new();
        for Part { heading, text } in &self.parts {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let _ = write!(written, "--- {heading}\n{text}{end}");
        }
        written
    }
}

fn named_heard(mut heard: Heard, places: &Places) -> Heard {
    for question in &mut heard.questions {
        *question = places.named(question);
    }
    for progress in &mut heard.progress {
        progress.message = places.named(&progress.message);
    }
    for log in &mut heard.logs {
        log.text = places.named(&log.text);
    }
    heard
}

fn of_tool(result: &Value) -> Got {
    let structured = result.get("structuredContent").cloned();
    let mut parts = blocks(&result["content"]);
    let text = joined_texts(&result["content"]);
    if let Some(value) = &structured {
        // The same again for clients that read text only.
        let repeats =
            |part: &Part| serde_json::from_str::<Value>(&part.text).is_ok_and(|read| read == *value);
        parts.retain(|part| part.heading != "text" || !repeats(part));
        parts.push(Part { heading: "structured".to_owned(), text: format!("{value:#}") });
    }
    let is_error = result["isError"] == true;
    if is_error {
        let code = result["_meta"]["exitCode"].as_i64();
        let heading =
            code.map_or_else(|| "failed".to_owned(), |code| format!("failed with exit code {code}"));
        parts.insert(0, Part { heading, text: String::new() });
    }
    let error = is_error.then(|| GotError { message: text.clone(), code: None });
    Got { text, structured, error, parts, ..Got::default() }
}

fn of_prompt(result: &Value) -> Got {
    let messages = result["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let contents: Value = messages.iter().map(|message| message["content"].clone()).collect();
    let parts = messages.iter().flat_map(|message| {
        let role = message["role"].as_str().unwrap_or("nobody");
        let content = match &message["content"] {
            Value::Array(items) => Value::Array(items.clone()),
            one => Value::Array(vec![one.clone()]),
        };
        let parts = blocks(&content);
        parts.into_iter().map(move |part| Part { heading: format!("{role}: {}", part.heading), ..part })
    });
    Got {
        text: joined_texts(&contents),
        structured: Some(result["messages"].clone()),
        parts: parts.collect(),
        ..Got::default()
    }
}

fn of_resource(result: &Value) -> Got {
    let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = contents.iter().filter_map(|content| content["text"].as_str()).collect();
    let parts = contents.iter().map(|content| {
        let kind = content["mimeType"].as_str().unwrap_or("no type");
        match (content["text"].as_str(), content["blob"].as_str()) {
            (Some(text), _) => Part { heading: format!("text ({kind})"), text: text.to_owned() },
            (None, blob) => digest(&format!("bytes ({kind})"), blob.unwrap_or_default()),
        }
    });
    Got { text: texts.join("\n"), parts: parts.collect(), ..Got::default() }
}

fn of_completion(result: &Value) -> Got {
    let values = result["completion"]["values"].clone();
    let words: Vec<&str> = values.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let text = words.join("\n");
    let parts = vec![Part { heading: "values".to_owned(), text: text.clone() }];
    Got { text, structured: Some(values), parts, ..Got::default() }
}

fn joined_texts(content: &Value) -> String {
    let texts = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn blocks(content: &Value) -> Vec<Part> {
    content.as_array().into_iter().flatten().map(block).collect()
}

fn block(block: &Value) -> Part {
    let kind = block["mimeType"].as_str().unwrap_or("no type");
    match block["type"].as_str() {
        Some("text") => {
            Part { heading: "text".to_owned(), text: block["text"].as_str().unwrap_or_default().to_owned() }
        }
        Some(medium @ ("image" | "audio")) => {
            digest(&format!("{medium} ({kind})"), block["data"].as_str().unwrap_or_default())
        }
        other => Part { heading: other.unwrap_or("something").to_owned(), text: format!("{block:#}") },
    }
}

/// A digest in place of binary data.
fn digest(heading: &str, base64: &str) -> Part {
    let digest = Sha256::digest(base64.as_bytes());
    let mut text = format!("{} characters of Base64, sha256 ", base64.len());
    for byte in digest.iter().take(16) {
        let _ = write!(text, "{byte:02x}");
    }
    Part { heading: heading.to_owned(), text }
}
