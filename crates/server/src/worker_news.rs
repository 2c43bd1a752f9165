//! What the operator hears of workers: what they print and say to no call, and what becomes of them.

use crate::log::Log;
use mcp_bash_project::{Paths, excerpt};
use mcp_bash_scripts::{Scripts, WorkerNews};
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::sync::Arc;

/// Logs the news of all workers from now on.
pub(crate) fn report(scripts: &Scripts, log: &Arc<Log>, paths: &Paths) {
    let (log, root) = (Arc::clone(log), paths.root.clone());
    scripts.on_worker_news(move |news| {
        let (script, level, message) = told(news);
        let script = script.strip_prefix(&root).unwrap_or(script);
        log.operator_event(level, "mcp.worker", &message, &json!({ "script": script }));
    });
}

fn told<'a>(news: &WorkerNews<'a>) -> (&'a std::path::Path, LogLevel, String) {
    match news {
        WorkerNews::Printed { script, line, .. } => (script, LogLevel::Info, (*line).to_owned()),
        WorkerNews::Logged { script, notification } => {
            let (level, said) = logged(notification);
            (script, level, said)
        }
        WorkerNews::Replaced { script, why } => {
            (script, LogLevel::Info, format!("a worker is replaced: {why}"))
        }
        WorkerNews::Failed { script, why } => (script, LogLevel::Warning, format!("a worker {why}")),
    }
}

/// The level and the words of a `notifications/message`.
fn logged(notification: &str) -> (LogLevel, String) {
    let told: Value = serde_json::from_str(notification).unwrap_or_default();
    let params = &told["params"];
    let level = params["level"].as_str().and_then(LogLevel::parse).unwrap_or(LogLevel::Info);
    let said = match &params["data"] {
        Value::String(text) => excerpt(text),
        data => excerpt(&data.to_string()),
    };
    (level, said)
}
