//! A task as people and programs see it.

use mcp_bash_tasks::TaskRecord;
use mcp_bash_terminal::{for_stdout, harmless_line};
use mcp_bash_utc::precise;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

/// A task in one line.
pub(super) fn line(task: &TaskRecord, now_ms: u64) -> String {
    let about = task.status_message.as_ref().map(|words| format!("  {words}")).unwrap_or_default();
    let text = format!(
        "{}  {:14}  {:>8}  {}  {}{about}",
        task.id,
        task.status.word(),
        age(task, now_ms),
        task.tool,
        task.owner.name,
    );
    for_stdout(format!("{}\n", harmless_line(&text)))
}

/// A task on several lines.
pub(super) fn page(task: &TaskRecord, result: Option<&str>, now_ms: u64) -> String {
    let mut text = String::new();
    let mut line = |title: &str, value: &str| {
        let _ = writeln!(text, "{title:10} {}", harmless_line(value));
    };
    line("Task", task.id.as_str());
    line("Tool", &task.tool);
    line("Caller", &format!("{} ({})", task.owner.name, task.owner.known_by));
    line("Status", task.status.word());
    if let Some(words) = &task.status_message {
        line("Message", words);
    }
    line("Age", &age(task, now_ms));
    let left = task.created_ms.saturating_add(task.ttl_ms).saturating_sub(now_ms);
    line("Kept for", &length(left));
    line("Attempt", &format!("{}{}", task.attempt, if task.repeatable { ", may run again" } else { "" }));
    for question in &task.questions {
        line("Asks", &format!("{}: {} {}", question.key, question.method, question.params));
    }
    if let Some(error) = &task.error {
        line("Error", &format!("{} {}", error.code, error.message));
    }
    if let Some(result) = result {
        line("Result", result);
    }
    for_stdout(text)
}

/// A task as JSON, without its result.
pub(super) fn facts(task: &TaskRecord) -> Value {
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
    let mut facts = json!({
        "taskId": task.id,
        "tool": task.tool,
        "caller": { "name": task.owner.name, "knownBy": task.owner.known_by },
        "status": task.status.word(),
        "createdAt": time(task.created_ms),
        "lastUpdatedAt": time(task.updated_ms),
        "ttlMs": task.ttl_ms,
        "attempt": task.attempt,
        "repeatable": task.repeatable,
    });
    if let Some(words) = &task.status_message {
        facts["statusMessage"] = json!(words);
    }
    if !task.questions.is_empty() {
        let questions = task.questions.iter().map(|question| {
            let request = json!({ "method": question.method, "params": parsed(&question.params) });
            (question.key.clone(), request)
        });
        facts["inputRequests"] = Value::Object(questions.collect::<Map<_, _>>());
    }
    if let Some(error) = &task.error {
        let data = error.data.as_deref().map(parsed);
        facts["error"] = json!({ "code": error.code, "message": error.message, "data": data });
    }
    facts
}

fn age(task: &TaskRecord, now_ms: u64) -> String {
    length(now_ms.saturating_sub(task.created_ms))
}

/// A length of time in its largest unit, rounded down.
fn length(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn time(milliseconds: u64) -> String {
    precise(UNIX_EPOCH + Duration::from_millis(milliseconds))
}
