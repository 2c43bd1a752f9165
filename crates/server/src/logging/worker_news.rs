//! Worker events: reports events of workers in the operator's log. Output and log messages of workers are treated as script
//! output, because they may contain data of calls.

use super::log::Log;
use mcp_bash_project::Paths;
use mcp_bash_scripts::{CallLog, LogEntry, Scripts, WorkerNews};
use mcp_bash_wire::LogLevel;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Logs the events of all workers from now on.
pub(crate) fn report(scripts: &Scripts, log: &Arc<Log>, paths: &Paths) {
    let (log, root) = (Arc::clone(log), paths.root.clone());
    scripts.on_worker_news(move |news| {
        let shown = |script: &Path| script.strip_prefix(&root).unwrap_or(script).display().to_string();
        let tell = |script: &Path, level: LogLevel, message: &str| {
            log.project_event(level, LOGGER, message, &json!({ "script": shown(script) }));
        };
        let keep = |script: &Path, level: LogLevel, kind: &'static str, text: &str| {
            log.script_printed(level, LOGGER, kind, &json!({ "script": shown(script), "text": text }));
        };
        match news {
            WorkerNews::Printed { script, line, .. } => {
                keep(script, LogLevel::Info, "a worker printed", line);
            }
            WorkerNews::Unreadable { script, line } => {
                keep(script, LogLevel::Warning, "a worker wrote what is no frame", line);
            }
            WorkerNews::Logged { script, notification } => {
                let (level, said) = logged(notification);
                keep(script, level, "a worker logged", &said);
            }
            WorkerNews::CallLogged { script, what, log: logged } => {
                keep_call_log(&log, &shown(script), what, logged);
            }
            WorkerNews::Replaced { script, why } => {
                tell(script, LogLevel::Info, &format!("a worker is replaced: {why}"));
            }
            WorkerNews::Failed { script, why } => {
                tell(script, LogLevel::Warning, &format!("a worker {why}"));
            }
            WorkerNews::NotStarted { script, why, trace } => {
                let mut details = json!({ "script": shown(script) });
                if !trace.is_empty() {
                    details["trace"] = json!(trace);
                }
                log.project_event(LogLevel::Warning, LOGGER, &format!("a worker {why}"), &details);
            }
        }
    });
}

const LOGGER: &str = "mcp.worker";

/// Writes the log messages of a call, each with its own level.
fn keep_call_log(log: &Log, script: &str, what: &str, logged: &CallLog) {
    for (index, LogEntry { level, logger, text }) in logged.entries().enumerate() {
        let mut details = json!({ "script": script, "call": what, "by": logger, "text": text });
        if index == 0 && logged.is_cut() {
            details["isCut"] = json!(true);
        }
        log.keep_script_output(*level, LOGGER, "a call logged something", &details);
    }
}

/// The level and text of a `notifications/message`.
fn logged(notification: &str) -> (LogLevel, String) {
    let told: Value = serde_json::from_str(notification).unwrap_or_default();
    let params = &told["params"];
    let level = params["level"].as_str().and_then(LogLevel::parse).unwrap_or(LogLevel::Info);
    let said = match &params["data"] {
        Value::String(text) => text.clone(),
        data => data.to_string(),
    };
    (level, said)
}
