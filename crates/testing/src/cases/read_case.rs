//! Case reader: makes cases from a case file.

use crate::cases::case::{
    Answer, Case, Completed, Content, Expect, ExpectedError, ExpectedLog, ExpectedProgress, FileAfter,
    FileBefore, Place, ResultSchema, Subject,
};
use crate::cases::fields::{
    Fields, inner_path, items, kind, members, number, pattern, patterns, text, texts, truth, whole_number,
};
use crate::cases::node::{Key, Node, Tree, Wrong};
use mcp_bash_schema::{MAX_SCHEMA_BYTES, Schema};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const KEYS: [&str; 14] = [
    "name",
    "tool",
    "prompt",
    "resource",
    "complete",
    "arguments",
    "files",
    "environment",
    "roots",
    "answers",
    "timeout",
    "skip",
    "replace",
    "expect",
];

const EXPECTATIONS: [&str; 17] = [
    "text",
    "contains",
    "lacks",
    "matches",
    "structured",
    "structured_part",
    "schema",
    "snapshot",
    "error",
    "exit_code",
    "progress",
    "logs",
    "asks",
    "files",
    "command",
    "variables",
    "stdin",
];

/// Expectations of a case that runs nothing.
const DRY: [&str; 4] = ["command", "variables", "stdin", "error"];

/// The default timeout of a case.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The longest timeout of a case, in seconds.
const LONGEST_TIMEOUT: f64 = 86_400.0;

/// The file that cases are read from.
pub(crate) struct CaseFile<'a> {
    pub(crate) path: &'a Path,
    /// Its path for people.
    pub(crate) shown: &'a str,
}

/// All cases of a file. `usual` is the default subject.
pub(crate) fn cases(
    file: &CaseFile<'_>,
    content: &str,
    usual: &dyn Fn() -> Result<Subject, String>,
) -> Result<Vec<Case>, Wrong> {
    let node = Node::read(content)?;
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match &node.value {
        Tree::Plain(Value::Null) => Ok(Vec::new()),
        Tree::List(items) => {
            let is_sole = items.len() == 1;
            let name = |index: usize| if is_sole { stem.clone() } else { format!("{stem} {}", index + 1) };
            items.iter().enumerate().map(|(index, item)| case(file, item, name(index), usual)).collect()
        }
        _ => Ok(vec![case(file, &node, stem, usual)?]),
    }
}

fn case(
    file: &CaseFile<'_>,
    node: &Node,
    usual_name: String,
    usual: &dyn Fn() -> Result<Subject, String>,
) -> Result<Case, Wrong> {
    let fields = Fields::of(node, "a case", &KEYS)?;
    let subject = match subject(&fields, node)? {
        Some(subject) => subject,
        None => usual().map_err(|problem| node.wrong(problem))?,
    };
    let name = fields.optional("name", text)?.unwrap_or(usual_name);
    if name.trim().is_empty() || name.contains(char::is_control) {
        return Err(node.wrong("`name` must be a line of text"));
    }
    Ok(Case {
        place: Place { file: file.path.to_owned(), shown: file.shown.to_owned(), line: node.line },
        name,
        subject,
        arguments: fields.optional("arguments", map_value)?.unwrap_or_else(|| json!({})),
        files: fields.or_default("files", |node, name| files_before(file, node, name))?,
        environment: fields.or_default("environment", environment)?,
        roots: fields.optional("roots", texts)?,
        answers: fields.or_default("answers", answers)?,
        timeout: fields.optional("timeout", seconds)?.unwrap_or(TIMEOUT),
        skip: fields.optional("skip", text)?,
        replace: fields.or_default("replace", replacements)?,
        expect: fields.or_default("expect", |node, _| expect(file, node))?,
    })
}

/// The subject that a case names.
fn subject(fields: &Fields<'_>, node: &Node) -> Result<Option<Subject>, Wrong> {
    let named = ["tool", "prompt", "resource", "complete"];
    let mut found = named.iter().filter_map(|name| Some((*name, fields.get(name)?)));
    let Some((kind, value)) = found.next() else { return Ok(None) };
    if let Some((other, _)) = found.next() {
        return Err(node.wrong(format!("a case tests one thing; this one names a `{kind}` and a `{other}`")));
    }
    Ok(Some(match kind {
        "tool" => Subject::Tool(text(value, kind)?),
        "prompt" => Subject::Prompt(text(value, kind)?),
        "resource" => Subject::Resource(text(value, kind)?),
        _ => completion(value)?,
    }))
}

fn completion(node: &Node) -> Result<Subject, Wrong> {
    let fields = Fields::of(node, "`complete`", &["prompt", "resource", "argument", "value"])?;
    let of = match (fields.optional("prompt", text)?, fields.optional("resource", text)?) {
        (Some(name), None) => Completed::Prompt(name),
        (None, Some(uri)) => Completed::Resource(uri),
        _ => return Err(node.wrong("`complete` needs either a `prompt` or a `resource`")),
    };
    let Some(argument) = fields.optional("argument", text)? else {
        return Err(node.wrong("`complete` needs the name of an `argument`"));
    };
    Ok(Subject::Completion { of, argument, value: fields.or_default("value", text)? })
}

fn map_value(node: &Node, name: &str) -> Result<Value, Wrong> {
    members(node, name)?;
    Ok(node.to_value())
}

fn seconds(node: &Node, name: &str) -> Result<Duration, Wrong> {
    let seconds = number(node, name)?;
    if seconds > 0.0 && seconds <= LONGEST_TIMEOUT {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(node.wrong(format!("`{name}` must be more than 0 and at most {LONGEST_TIMEOUT} seconds")))
}

fn environment(node: &Node, name: &str) -> Result<BTreeMap<String, String>, Wrong> {
    let variables = members(node, name)?.iter().map(|(Key { name, line }, value)| {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        let value = text(value, name)?;
        if is_name && !value.contains('\0') {
            return Ok((name.clone(), value));
        }
        Err(Wrong { line: Some(*line), problem: format!("`{name}` cannot be a variable of the environment") })
    });
    variables.collect()
}

fn files_before(file: &CaseFile<'_>, node: &Node, name: &str) -> Result<Vec<(String, FileBefore)>, Wrong> {
    let files = members(node, name)?.iter().map(|(key, value)| {
        let path = inner_path(key)?;
        let Tree::Map(_) = &value.value else {
            let content = Content::Text(text(value, &key.name)?);
            return Ok((path, FileBefore { content, executable: false }));
        };
        let fields = Fields::of(value, "a file", &["from", "content", "executable"])?;
        let content = match (fields.optional("from", text)?, fields.optional("content", text)?) {
            (Some(from), None) => Content::From(beside(file, &from)),
            (None, Some(content)) => Content::Text(content),
            _ => return Err(value.wrong("a file needs either `content` or `from`")),
        };
        Ok((path, FileBefore { content, executable: fields.or_default("executable", truth)? }))
    });
    files.collect()
}

/// A path in a case file, relative to that file.
fn beside(file: &CaseFile<'_>, path: &str) -> PathBuf {
    file.path.parent().unwrap_or(Path::new("")).join(path)
}

fn answers(node: &Node, name: &str) -> Result<Vec<Answer>, Wrong> {
    items(node, name)?.iter().map(answer).collect()
}

fn answer(node: &Node) -> Result<Answer, Wrong> {
    const WAYS: &str = "an answer is `accept: {field: value}`, `decline`, `cancel` or `text: …`";
    if let Tree::Plain(Value::String(word)) = &node.value {
        return match word.as_str() {
            "accept" => Ok(Answer::Accept(json!({}))),
            "decline" => Ok(Answer::Decline),
            "cancel" => Ok(Answer::Cancel),
            _ => Err(node.wrong(format!("`{word}` is no answer; {WAYS}"))),
        };
    }
    let fields = Fields::of(node, "an answer", &["accept", "text"])?;
    match (fields.optional("accept", map_value)?, fields.optional("text", text)?) {
        (Some(content), None) => Ok(Answer::Accept(content)),
        (None, Some(text)) => Ok(Answer::Text(text)),
        _ => Err(node.wrong(WAYS)),
    }
}

fn replacements(node: &Node, name: &str) -> Result<Vec<(Regex, String)>, Wrong> {
    let replacements = items(node, name)?.iter().map(|item| {
        let fields = Fields::of(item, "a replacement", &["pattern", "with"])?;
        let (Some(pattern), Some(with)) =
            (fields.optional("pattern", pattern)?, fields.optional("with", text)?)
        else {
            return Err(item.wrong("a replacement needs a `pattern` and what comes in its place: `with`"));
        };
        Ok((pattern.regex, with))
    });
    replacements.collect()
}

fn expect(file: &CaseFile<'_>, node: &Node) -> Result<Expect, Wrong> {
    let fields = Fields::of(node, "`expect`", &EXPECTATIONS)?;
    let dry = DRY[..3].iter().find(|name| fields.get(name).is_some());
    let run = EXPECTATIONS.iter().find(|name| !DRY.contains(*name) && fields.get(name).is_some());
    if let (Some(dry), Some(run)) = (dry, run) {
        return Err(node.wrong(format!(
            "`{dry}` is compared without a run, and `{run}` needs one; make two cases of them"
        )));
    }
    Ok(Expect {
        text: fields.optional("text", text)?,
        contains: fields.or_default("contains", texts)?,
        lacks: fields.or_default("lacks", texts)?,
        matches: fields.or_default("matches", patterns)?,
        structured: fields.get("structured").map(Node::to_value),
        structured_part: fields.get("structured_part").map(Node::to_value),
        schema: fields.optional("schema", |node, _| schema(file, node))?,
        snapshot: fields.or_default("snapshot", truth)?,
        error: fields.optional("error", error)?.flatten(),
        exit_code: fields.optional("exit_code", whole_number)?,
        progress: fields
            .or_default("progress", |node, name| items(node, name)?.iter().map(progress).collect())?,
        logs: fields.or_default("logs", |node, name| items(node, name)?.iter().map(log).collect())?,
        asks: fields.optional("asks", texts)?,
        files: fields.or_default("files", files_after)?,
        command: fields.optional("command", texts)?,
        variables: fields.optional("variables", environment)?,
        stdin: fields.optional("stdin", text)?,
    })
}

/// A schema in the case, or in a file that it names.
fn schema(file: &CaseFile<'_>, node: &Node) -> Result<ResultSchema, Wrong> {
    let written = match &node.value {
        Tree::Plain(Value::String(path)) => {
            let path = beside(file, path);
            mcp_bash_files::read_text(&path, MAX_SCHEMA_BYTES as u64).map_err(|error| {
                node.wrong(format!("failed to read the schema {}: {error}", path.display()))
            })?
        }
        _ => node.to_value().to_string(),
    };
    let compiled = Schema::compile(&written);
    compiled
        .map(|schema| ResultSchema(Arc::new(schema)))
        .map_err(|error| node.wrong(format!("`schema` cannot be used: {error}")))
}

/// The expected error; `None` for `false`, which is the default.
fn error(node: &Node, name: &str) -> Result<Option<ExpectedError>, Wrong> {
    match &node.value {
        Tree::Plain(Value::Bool(wanted)) => Ok(wanted.then(ExpectedError::default)),
        Tree::Plain(Value::Number(_)) => {
            Ok(Some(ExpectedError { code: Some(whole_number(node, name)?), ..ExpectedError::default() }))
        }
        Tree::Map(_) => {
            let fields = Fields::of(node, "`error`", &["contains", "matches", "code"])?;
            Ok(Some(ExpectedError {
                contains: fields.or_default("contains", texts)?,
                matches: fields.or_default("matches", patterns)?,
                code: fields.optional("code", whole_number)?,
            }))
        }
        _ => Ok(Some(ExpectedError { contains: vec![text(node, name)?], ..ExpectedError::default() })),
    }
}

fn progress(node: &Node) -> Result<ExpectedProgress, Wrong> {
    let expected = ExpectedProgress::default();
    match &node.value {
        Tree::Plain(Value::Number(_)) => {
            Ok(ExpectedProgress { progress: Some(number(node, "progress")?), ..expected })
        }
        Tree::Map(_) => {
            let fields = Fields::of(node, "progress", &["progress", "total", "message"])?;
            Ok(ExpectedProgress {
                progress: fields.optional("progress", number)?,
                total: fields.optional("total", number)?,
                message: fields.optional("message", text)?,
            })
        }
        _ => Ok(ExpectedProgress { message: Some(text(node, "progress")?), ..expected }),
    }
}

fn log(node: &Node) -> Result<ExpectedLog, Wrong> {
    let Tree::Map(_) = &node.value else {
        return Ok(ExpectedLog { level: None, contains: Some(text(node, "logs")?) });
    };
    let fields = Fields::of(node, "a log entry", &["level", "contains"])?;
    Ok(ExpectedLog { level: fields.optional("level", text)?, contains: fields.optional("contains", text)? })
}

fn files_after(node: &Node, name: &str) -> Result<Vec<(String, FileAfter)>, Wrong> {
    let files = members(node, name)?.iter().map(|(key, value)| {
        let path = inner_path(key)?;
        let after = match &value.value {
            Tree::Plain(Value::Bool(true)) => FileAfter::There,
            Tree::Plain(Value::Bool(false)) => FileAfter::Absent,
            Tree::Map(_) => {
                let fields = Fields::of(value, "a file", &["contains", "matches"])?;
                FileAfter::Such {
                    contains: fields.or_default("contains", texts)?,
                    matches: fields.or_default("matches", patterns)?,
                }
            }
            Tree::List(_) => {
                return Err(value.wrong(format!("`{path}` must be a text, and is {}", kind(value))));
            }
            Tree::Plain(_) => FileAfter::Exactly(text(value, &path)?),
        };
        Ok((path, after))
    });
    files.collect()
}
