//! What the operator hears of workers: what they print, what they log, and what becomes of them.

use crate::log::Log;
use mcp_bash_project::{Paths, excerpt};
use mcp_bash_scripts::{CallLog, LogEntry, Scripts, WorkerNews};
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Logs the news of all workers from now on.
pub(crate) fn report(scripts: &Scripts, log: &Arc<Log>, paths: &Paths) {
    let (log, root) = (Arc::clone(log), paths.root.clone());
    scripts.on_worker_news(move |news| {
        let shown = |script: &Path| script.strip_prefix(&root).unwrap_or(script).display().to_string();
        let tell = |script: &Path, level: LogLevel, message: &str| {
            log.operator_event(level, "mcp.worker", message, &json!({ "script": shown(script) }));
        };
        match news {
            WorkerNews::Printed { script, line, .. } => tell(script, LogLevel::Info, line),
            WorkerNews::Logged { script, notification } => {
                let (level, said) = logged(notification);
                tell(script, level, &said);
            }
            WorkerNews::CallLogged { script, what, log: logged } => keep(&log, &shown(script), what, logged),
            WorkerNews::Replaced { script, why } => {
                tell(script, LogLevel::Info, &format!("a worker is replaced: {why}"));
            }
            WorkerNews::Failed { script, why } => {
                tell(script, LogLevel::Warning, &format!("a worker {why}"));
            }
        }
    });
}

/// Writes to the log file what a call has logged, each with the level it was given. It may hold whatever the function
/// handles, as standard error does.
fn keep(log: &Log, script: &str, what: &str, logged: &CallLog) {
    for (index, LogEntry { level, logger, text }) in logged.entries().enumerate() {
        let mut details = json!({ "script": script, "call": what, "by": logger, "text": text });
        if index == 0 && logged.is_cut() {
            details["isCut"] = json!(true);
        }
        log.to_file(*level, "mcp.worker", "a call logged something", &details);
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
