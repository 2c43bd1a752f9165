//! Reader of what a case expects.

use crate::cases::case::{
    Expect, ExpectedDecision, ExpectedError, ExpectedLog, ExpectedProgress, FileAfter, ResultSchema,
};
use crate::cases::case_file::CaseFile;
use crate::cases::fields::{
    Fields, environment, inner_path, items, kind, members, number, patterns, text, texts, truth, whole_number,
};
use mcp_bash_policy::Action;
use mcp_bash_schema::{MAX_SCHEMA_BYTES, Schema};
use mcp_bash_yaml::{Node, Tree, Wrong};
use serde_json::Value;
use std::sync::Arc;

const EXPECTATIONS: [&str; 18] = [
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
    "policy",
];

/// Expectations of a case that runs nothing.
const DRY: [&str; 5] = ["command", "variables", "stdin", "policy", "error"];

pub(crate) fn expect(file: &CaseFile<'_>, node: &Node) -> Result<Expect, Wrong> {
    let fields = Fields::of(node, "`expect`", &EXPECTATIONS)?;
    let dry = DRY[..4].iter().find(|name| fields.get(name).is_some());
    let run = EXPECTATIONS.iter().find(|name| !DRY.contains(*name) && fields.get(name).is_some());
    if let (Some(dry), Some(run)) = (dry, run) {
        return Err(node.wrong(format!(
            "`{dry}` is compared without a run, and `{run}` needs one; make two cases of them"
        )));
    }
    let other = EXPECTATIONS.iter().find(|name| **name != "policy" && fields.get(name).is_some());
    if let (Some(other), true) = (other, fields.get("policy").is_some()) {
        return Err(node.wrong(format!("`policy` is compared alone; make a case of its own for `{other}`")));
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
        policy: fields.optional("policy", decision)?,
    })
}

/// A decision of the policy: `allow`, `deny`, `deny RULE` or `confirm RULE`.
fn decision(node: &Node, name: &str) -> Result<ExpectedDecision, Wrong> {
    let written = text(node, name)?;
    let (word, rule) =
        written.split_once(' ').map_or((&*written, None), |(word, rule)| (word, Some(rule.trim())));
    let action = match (word, rule) {
        ("allow", None) => Action::Allow,
        ("deny", _) => Action::Deny,
        ("confirm", _) => Action::Confirm,
        _ => {
            let problem = format!("`{name}` is `allow`, `deny RULE` or `confirm RULE`, not `{written}`");
            return Err(node.wrong(problem));
        }
    };
    Ok(ExpectedDecision { action, rule: rule.map(str::to_owned) })
}

/// A schema in the case, or in a file that it names.
fn schema(file: &CaseFile<'_>, node: &Node) -> Result<ResultSchema, Wrong> {
    let written = match &node.value {
        Tree::Plain(Value::String(path)) => {
            let path = file.beside(path);
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
