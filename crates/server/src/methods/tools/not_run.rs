//! Calls that were not run: the response to the client, and the log event.

use super::{failures, output};
use crate::handling::Work;
use crate::logging::{Facts, Measured};
use crate::replies::Answer;
use crate::replies::script_errors::told;
use mcp_bash_audit::Reason;
use mcp_bash_project::Tool;
use mcp_bash_scripts::ScriptError;
use mcp_bash_wire::{LogLevel, RpcError};

/// The response to a call that was not run. Most failures are results, which a model sees, so that it can try something else.
pub(super) fn answer(
    work: &Work,
    tool: &Tool,
    arguments: &str,
    error: ScriptError,
) -> Result<Answer, RpcError> {
    if let ScriptError::NotStarted { limit, .. } = error {
        work.measure(Measured::timed_out);
        output::report_failure(work, Facts::of_tool(tool).is("timedOut"));
        return Ok(failures::not_started(&error.to_string(), limit, work.revision()));
    }
    let facts = Facts::of_tool(tool).script_error(&error);
    let problem = match error {
        ScriptError::Start { .. }
        | ScriptError::NoProgram { .. }
        | ScriptError::NoFolder { .. }
        | ScriptError::NoInterpreter { .. }
        | ScriptError::Launcher { .. }
        | ScriptError::NotLaunched { .. }
        | ScriptError::Worker { .. }
        | ScriptError::Unfit { .. } => error.to_string(),
        error => {
            if error.is_refusal() {
                work.server().note_refusal();
                work.measure(|measured| measured.refused(Reason::Policy));
            }
            let error = told(error);
            report_refusal(work, facts.number("code", error.code));
            return Err(error);
        }
    };
    output::report_failure(work, facts);
    Ok(failures::failure(&work.server().short_paths().text_but(&problem, arguments)))
}

/// Logs a refused call for the operator.
fn report_refusal(work: &Work, facts: Facts) {
    work.server().log().request_event(LogLevel::Warning, "mcp.tools", "a call was refused", facts);
}
