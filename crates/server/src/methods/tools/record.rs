//! Call record: debugging details of a finished call: its standard error, a summary of failures for CI, and diagnostics in the
//! error itself. Each of these is opt-in.

use crate::handling::Work;
use crate::replies::Answer;
use mcp_bash_project::Tool;
use mcp_bash_project::utc::now;
use mcp_bash_scripts::{Outcome, ProcessEnding, ScriptRoots};
use mcp_bash_wire::{LogLevel, RpcError};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// A call whose process has ended.
pub(crate) struct Record<'a> {
    pub(crate) work: &'a Work,
    pub(crate) tool: &'a Tool,
    pub(crate) outcome: &'a Outcome,
    pub(crate) arguments: &'a str,
    pub(crate) roots: &'a ScriptRoots,
}

impl Record<'_> {
    /// Writes the enabled records, and returns the response.
    pub(crate) fn keep(&self, answer: Result<Answer, RpcError>) -> Result<Answer, RpcError> {
        let stderr = self.outcome.errors();
        if !stderr.trim().is_empty() {
            let details = json!({ "tool": self.tool.name, "stderr": stderr.trim_end() });
            self.work.server().log().script_printed(
                LogLevel::Info,
                "mcp.tools",
                "a tool wrote to standard error",
                &details,
            );
        }
        let logs = &self.work.server().settings().logs;
        let has_failed = answer.is_err() || !self.outcome.answers(self.tool);
        if logs.ci && has_failed {
            let message = answer.as_ref().err().map_or("Tool failed", |error| &error.message);
            if let Some(folder) = &logs.folder {
                // A full disk must not stop the server.
                let _ = append(&folder.join("failure-summary.jsonl"), &self.summary(message));
            }
        }
        if !logs.debug_errors {
            return answer;
        }
        answer.map_err(|error| self.with_diagnostics(error))
    }

    /// A one-line summary of the failure for CI.
    fn summary(&self, message: &str) -> Value {
        let members =
            |text: &str| serde_json::from_str::<Map<String, Value>>(text).map_or(0, |members| members.len());
        let has_timed_out = matches!(self.outcome.ending, ProcessEnding::TimedOut(_));
        json!({
            "ts": now(),
            "tool": self.tool.name,
            "exitCode": self.outcome.exit_code().or(has_timed_out.then_some(124)),
            "timedOut": has_timed_out,
            "argCount": members(self.arguments),
            "argBytes": self.arguments.len(),
            "argHash": hash(self.arguments),
            "metaKeys": members(&self.work.meta()),
            "roots": self.roots.count.parse().unwrap_or(0),
            "message": message,
            "stderrTail": self.outcome.errors(),
            "traceLine": self.outcome.last_command.as_deref().unwrap_or_default(),
        })
    }

    /// The error for a result that breaks its schema, with diagnostics of the call.
    fn with_diagnostics(&self, error: RpcError) -> RpcError {
        let is_about_the_schema = self.tool.output_schema.is_some() && self.outcome.answers(self.tool);
        let data = error.data.as_deref().map_or(Ok(Value::Null), serde_json::from_str);
        let mut data = match data {
            Ok(Value::Null) => Map::new(),
            Ok(Value::Object(data)) => data,
            _ => return error,
        };
        if !is_about_the_schema {
            return error;
        }
        data.insert("tool".into(), self.tool.name.clone().into());
        data.insert("exitCode".into(), self.outcome.exit_code().unwrap_or(0).into());
        data.insert("stderrTail".into(), self.outcome.errors().into());
        data.insert("traceAvailable".into(), self.outcome.last_command.is_some().into());
        if let Some(line) = &self.outcome.last_command {
            data.insert("traceLine".into(), line.clone().into());
        }
        RpcError { data: Some(Value::Object(data).to_string()), ..error }
    }
}

fn hash(text: &str) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hash, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

fn append(path: &Path, line: &Value) -> io::Result<()> {
    mcp_bash_files::append(path)?.write_all(format!("{line}\n").as_bytes())
}
