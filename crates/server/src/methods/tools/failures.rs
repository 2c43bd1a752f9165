//! Failed calls: results that a model can read, for timeouts, shutdown and other failures.

use crate::handling::NotGranted;
use crate::replies::{Answer, Content};
use mcp_bash_project::{Tool, WorkerProgram};
use mcp_bash_scripts::{Overrun, TimeLimits};
use mcp_bash_wire::Revision;
use serde_json::{Value, json};
use std::time::Duration;

/// The exit code of a script that timed out, as that of `timeout` of coreutils.
pub(super) const TIMED_OUT: i32 = 124;

/// The result of a script that was running at shutdown.
pub(super) fn shut_down(tool: &Tool) -> Answer {
    let name = &tool.name;
    failure(&format!("Tool '{name}' was stopped because the server is shutting down"))
}

/// The result of a script that timed out.
pub(super) fn timed_out(tool: &Tool, limits: TimeLimits, overrun: Overrun, revision: Revision) -> Answer {
    let (name, seconds) = (&tool.name, limits.limit.as_secs());
    let most = limits.most.map_or(seconds, |most| most.as_secs());
    let program = tool.worker().map_or(WorkerProgram::Itself, |worker| worker.program);
    let place = match program {
        WorkerProgram::Itself => " or in its metadata".to_owned(),
        WorkerProgram::Functions(_) => format!(", {}", program.place_of_time("timeoutSecs")),
    };
    let longer = format!("`timeoutSecs` in the call{place}, or MCPBASH_DEFAULT_TOOL_TIMEOUT, gives it more");
    let (reason, message) = match overrun {
        Overrun::Fixed => {
            ("fixed", format!("Tool '{name}' timed out after {seconds} s and was ended; {longer}"))
        }
        Overrun::Idle => (
            "idle",
            format!(
                "Tool '{name}' timed out: it reported no progress for {seconds} s and was ended; {longer}"
            ),
        ),
        Overrun::Most => (
            "max_exceeded",
            format!(
                "Tool '{name}' timed out: it ran for {most} s, the most it may, and was ended; {}, or \
                 MCPBASH_MAX_TIMEOUT_SECS, gives it more",
                program.place_of_time("maxTimeoutSecs")
            ),
        ),
    };
    let mut error = json!({
        "type": "timeout",
        "message": message,
        "reason": reason,
        "timeoutSecs": seconds,
        "exitCode": TIMED_OUT,
    });
    if limits.most.is_some() {
        error["progressExtendsTimeout"] = json!(true);
        error["maxTimeoutSecs"] = json!(most);
    }
    let mut text = message;
    if let Some(hint) = &tool.options.timeouts.hint {
        error["hint"] = json!(hint);
        text.push_str("\nSuggestion: ");
        text.push_str(hint);
    }
    with_error(failure(&text), &error, revision)
}

/// The result of a call that timed out before its script started.
pub(super) fn not_started(message: &str, limit: Duration, revision: Revision) -> Answer {
    let error = json!({
        "type": "timeout",
        "message": message,
        "reason": "not_started",
        "timeoutSecs": limit.as_secs(),
        "exitCode": TIMED_OUT,
    });
    Answer { meta: format!(r#""exitCode":{TIMED_OUT}"#), ..with_error(failure(message), &error, revision) }
}

/// The result of a call without the user's consent.
pub(super) fn not_confirmed(tool: &Tool, why: &NotGranted, revision: Revision) -> Answer {
    let message = format!("Tool '{}' was not run: {why}", tool.name);
    let error = json!({ "type": "not_confirmed", "message": message, "reason": why.word() });
    with_error(failure(&message), &error, revision)
}

/// Adds the error as structured content, in the shape of `mcp_result_error`.
fn with_error(answer: Answer, error: &Value, revision: Revision) -> Answer {
    answer.with_structured(&json!({ "success": false, "error": error }).to_string(), revision)
}

/// A result that describes a failure.
pub(super) fn failure(text: &str) -> Answer {
    Content::of_text(text).finish(true)
}
