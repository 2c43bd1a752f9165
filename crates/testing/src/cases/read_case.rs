//! Case reader: makes cases from a case file.

use crate::cases::case::{Answer, Asker, Case, Completed, Content, FileBefore, Kept, Place, Step, Subject};
use crate::cases::case_file::CaseFile;
use crate::cases::fields::{
    Fields, environment, inner_path, items, members, number, pattern, text, texts, truth,
};
use crate::cases::read_expect::expect;
use crate::cases::values;
use mcp_bash_policy::Timestamp;
use mcp_bash_yaml::{Node, Tree, Wrong};
use regex::Regex;
use serde_json::{Value, json};
use std::time::Duration;

const KEYS: [&str; 19] = [
    "name",
    "tool",
    "prompt",
    "resource",
    "complete",
    "arguments",
    "as",
    "at",
    "files",
    "environment",
    "roots",
    "answers",
    "confirm",
    "timeout",
    "skip",
    "replace",
    "expect",
    "share",
    "steps",
];

/// The default timeout of a case.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The longest timeout of a case, in seconds.
const LONGEST_TIMEOUT: f64 = 86_400.0;

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
    let name = fields.optional("name", text)?.unwrap_or(usual_name);
    if name.trim().is_empty() || name.contains(char::is_control) {
        return Err(node.wrong("`name` must be a line of text"));
    }
    Ok(Case {
        place: Place { file: file.path.to_owned(), shown: file.shown.to_owned(), line: node.line },
        name,
        files: fields.or_default("files", |node, name| files_before(file, node, name))?,
        environment: fields.or_default("environment", environment)?,
        roots: fields.optional("roots", texts)?,
        share: fields.or_default("share", truth)?,
        skip: fields.optional("skip", text)?,
        replace: fields.or_default("replace", replacements)?,
        steps: steps(file, node, &fields, usual)?,
        asker: asker(node, &fields)?,
    })
}

/// Who makes the request of a case about the policy, and when.
fn asker(node: &Node, fields: &Fields<'_>) -> Result<Asker, Wrong> {
    let given = ["as", "at"].into_iter().find(|key| fields.get(key).is_some());
    let expects = fields.get("expect").is_some_and(|node| match &node.value {
        Tree::Map(members) => members.iter().any(|(key, _)| key.name == "policy"),
        _ => false,
    });
    if let (Some(key), false) = (given, expects) {
        return Err(node.wrong(format!(
            "`{key}` needs `expect: {{policy: …}}`; every other test talks to its server as the user who runs it"
        )));
    }
    let at = fields.optional("at", |node, name| {
        let written = text(node, name)?;
        let time = Timestamp::parse(&written);
        time.ok_or_else(|| node.wrong(format!("`{name}` is a time such as \"2026-07-01T06:00:00Z\"")))
    })?;
    let Some(node) = fields.get("as") else { return Ok(Asker { at, ..Asker::default() }) };
    let fields = Fields::of(node, "`as`", &["name", "groups", "scopes", "claims", "known_by", "address"])?;
    let boxed = |texts: Vec<String>| texts.into_iter().map(String::into_boxed_str).collect();
    Ok(Asker {
        name: fields.or_default("name", text)?,
        groups: boxed(fields.or_default("groups", texts)?),
        scopes: boxed(fields.or_default("scopes", texts)?),
        claims: fields.optional("claims", map_value)?.unwrap_or_else(|| json!({})),
        known_by: fields.optional("known_by", text)?.unwrap_or_else(|| "token".to_owned()),
        address: fields.or_default("address", text)?,
        at,
    })
}

/// The keys of a request: of a case that makes one, and of each step.
const REQUEST_KEYS: [&str; 8] =
    ["tool", "prompt", "resource", "complete", "arguments", "answers", "confirm", "expect"];

const STEP_KEYS: [&str; 10] = [
    "tool",
    "prompt",
    "resource",
    "complete",
    "arguments",
    "answers",
    "confirm",
    "expect",
    "timeout",
    "keep",
];

/// The requests of a case: itself, or its steps.
fn steps(
    file: &CaseFile<'_>,
    node: &Node,
    fields: &Fields<'_>,
    usual: &dyn Fn() -> Result<Subject, String>,
) -> Result<Vec<Step>, Wrong> {
    let timeout = fields.optional("timeout", seconds)?.unwrap_or(TIMEOUT);
    let Some(list) = fields.get("steps") else {
        return Ok(vec![step(file, node, fields, timeout, usual)?]);
    };
    if let Some(key) = REQUEST_KEYS.iter().find(|key| fields.get(key).is_some()) {
        return Err(node.wrong(format!("`{key}` belongs in one of the `steps` of this case")));
    }
    let mut steps: Vec<Step> = Vec::new();
    for item in items(list, "steps")? {
        let fields = Fields::of(item, "a step", &STEP_KEYS)?;
        let timeout = fields.optional("timeout", seconds)?.unwrap_or(timeout);
        let mut next = step(file, item, &fields, timeout, usual)?;
        next.keep = fields.or_default("keep", kept)?;
        if next.expect.is_dry() {
            return Err(item.wrong(
                "`command`, `variables`, `stdin` and `policy` are compared without a run; make a case of its own",
            ));
        }
        values::check_names(item, &next, &steps)?;
        steps.push(next);
    }
    if steps.is_empty() {
        return Err(list.wrong("`steps` needs at least one step"));
    }
    Ok(steps)
}

fn step(
    file: &CaseFile<'_>,
    node: &Node,
    fields: &Fields<'_>,
    timeout: Duration,
    usual: &dyn Fn() -> Result<Subject, String>,
) -> Result<Step, Wrong> {
    let subject = match subject(fields, node)? {
        Some(subject) => subject,
        None => usual().map_err(|problem| node.wrong(problem))?,
    };
    Ok(Step {
        line: node.line,
        subject,
        arguments: fields.optional("arguments", map_value)?.unwrap_or_else(|| json!({})),
        answers: fields.or_default("answers", answers)?,
        confirm: fields.optional("confirm", truth)?,
        timeout,
        expect: fields.or_default("expect", |node, _| expect(file, node))?,
        keep: Vec::new(),
    })
}

/// The values that a step keeps: `text`, a JSON pointer, or `{matches: PATTERN}`.
fn kept(node: &Node, name: &str) -> Result<Vec<(String, Kept)>, Wrong> {
    let kept = members(node, name)?.iter().map(|(key, value)| {
        let is_name = key.name.starts_with(|first: char| first.is_ascii_alphabetic())
            && key.name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if !is_name || ["dir", "project"].contains(&&*key.name) {
            let problem = format!("`{}` cannot name a kept value", key.name);
            return Err(key.wrong(problem));
        }
        let what = match &value.value {
            Tree::Map(_) => {
                let fields = Fields::of(value, "a kept value", &["matches"])?;
                let pattern = fields.optional("matches", pattern)?;
                Kept::Match(pattern.ok_or_else(|| value.wrong("a kept value needs `matches`"))?)
            }
            _ => match text(value, &key.name)? {
                whole if whole == "text" => Kept::Text,
                pointer if pointer.is_empty() || pointer.starts_with('/') => Kept::At(pointer),
                other => {
                    return Err(value.wrong(format!(
                        "`{other}` is neither `text`, nor a JSON pointer such as `/items/0/id`, nor `{{matches: PATTERN}}`"
                    )));
                }
            },
        };
        Ok((key.name.clone(), what))
    });
    kept.collect()
}

/// The subject that a case or a step names.
fn subject(fields: &Fields<'_>, node: &Node) -> Result<Option<Subject>, Wrong> {
    let named = ["tool", "prompt", "resource", "complete"];
    let mut found = named.iter().filter_map(|name| Some((*name, fields.get(name)?)));
    let Some((kind, value)) = found.next() else { return Ok(None) };
    if let Some((other, _)) = found.next() {
        return Err(node.wrong(format!("one request has one subject; this one names a `{kind}` and a `{other}`; a case with several has `steps`")));
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

fn files_before(file: &CaseFile<'_>, node: &Node, name: &str) -> Result<Vec<(String, FileBefore)>, Wrong> {
    let files = members(node, name)?.iter().map(|(key, value)| {
        let path = inner_path(key)?;
        let Tree::Map(_) = &value.value else {
            let content = Content::Text(text(value, &key.name)?);
            return Ok((path, FileBefore { content, executable: false }));
        };
        let fields = Fields::of(value, "a file", &["from", "content", "executable"])?;
        let content = match (fields.optional("from", text)?, fields.optional("content", text)?) {
            (Some(from), None) => Content::From(file.beside(&from)),
            (None, Some(content)) => Content::Text(content),
            _ => return Err(value.wrong("a file needs either `content` or `from`")),
        };
        Ok((path, FileBefore { content, executable: fields.or_default("executable", truth)? }))
    });
    files.collect()
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
