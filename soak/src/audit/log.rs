//! Audit log as the soak reads it: the lines about requests, and whether the log verifies.

use crate::violations::excerpt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a log says about one request.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The process of its server.
    pub(crate) pid: u32,
    /// The id of the request, as JSON.
    pub(crate) id: String,
    pub(crate) outcome: String,
    pub(crate) caller: String,
    pub(crate) known_by: String,
    /// The word among its arguments, if those are recorded.
    pub(crate) word: Option<String>,
}

/// Whether requests of this method have a line each.
pub(super) fn is_audited(method: &str) -> bool {
    matches!(
        method,
        "tools/call" | "resources/read" | "resources/subscribe" | "prompts/get" | "completion/complete"
    )
}

/// Checks the chain of a log, and of the files before it.
pub(crate) fn verify(binary: &Path, log: &Path) -> Result<(), String> {
    let output = Command::new(binary).args(["audit", "verify"]).arg(log).output();
    let problem = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("it cannot be verified: {}", excerpt(&problem)))
}

/// Reads the lines about ends of requests, of the log and of the files before it. A line of a server that has not begun in this log
/// is passed to `stray`.
pub(crate) fn ends(log: &Path, stray: impl FnMut(&Value)) -> Vec<Line> {
    read(log, |event| event != BEGUN, stray)
}

/// Reads the lines about beginnings of requests, in the same way.
pub(crate) fn beginnings(log: &Path, stray: impl FnMut(&Value)) -> Vec<Line> {
    read(log, |event| event == BEGUN, stray)
}

/// The event of a line that says that the work on a request begins. Its end has a line of its own, unless the server was killed.
const BEGUN: &str = "mcp.begun";

fn read(log: &Path, is_wanted: fn(&str) -> bool, mut stray: impl FnMut(&Value)) -> Vec<Line> {
    let (mut pids, mut lines) = (BTreeMap::new(), Vec::new());
    for file in files_of(log) {
        let text = fs::read(&file).unwrap_or_default();
        // What a killed process left half written is no record. The verification has judged it.
        let records =
            text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        for record in records {
            let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
            let event = text("event.id");
            let server = event.split('-').next().unwrap_or_default().to_owned();
            if record["event.name"] == "mcp.server.start" {
                let pid = record["process.pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
                pids.insert(server, pid.unwrap_or_default());
            } else if is_wanted(&text("event.name"))
                && is_audited(&text("mcp.method.name"))
                && event.contains('-')
            {
                let Some(&pid) = pids.get(&server) else {
                    stray(&record);
                    continue;
                };
                lines.push(Line {
                    pid,
                    id: text("jsonrpc.request.id"),
                    outcome: text("outcome"),
                    caller: text("caller.name"),
                    known_by: text("caller.known_by"),
                    word: record["arguments"]["word"].as_str().map(str::to_owned),
                });
            }
        }
    }
    lines
}

/// The files of a log, oldest first.
fn files_of(log: &Path) -> Vec<PathBuf> {
    let numbered = |number: u32| PathBuf::from(format!("{}.{number}", log.display()));
    let mut files: Vec<_> = (1..u32::MAX).map(numbered).take_while(|file| file.exists()).collect();
    files.reverse();
    files.push(log.to_owned());
    files
}
