//! Audit account: every request of an audited method must be in the audit log exactly once, with its caller and its outcome.
//! Servers that are killed and servers that share a file are no exception: a line is written before its answer is sent.

use crate::run::Run;
use crate::tally::Outcome;
use crate::violations::{Kind, excerpt};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The name of the log in violations.
const LOG: &str = "the audit log";

/// The settings of servers that write the log. Files are small, so that they are rotated, and all of them are kept.
pub(crate) fn settings(log: &Path) -> [(&'static str, String); 3] {
    [
        ("MCPBASH_AUDIT", log.display().to_string()),
        ("MCPBASH_AUDIT_MAX_BYTES", (1 << 20).to_string()),
        ("MCPBASH_AUDIT_KEEP_FILES", "100000".to_owned()),
    ]
}

/// A request: the process of its server, and its id as JSON.
pub(crate) type Request = (u32, String);

/// What the log must hold about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// One record, that fits the answer.
    Answered(Outcome),
    /// One record: the cancellation was read, and no answer came.
    Cancelled,
    /// One record or none: the server may have been gone before it read the request.
    Unknown,
}

/// What the log must hold, by request. An id that was used again has several records.
#[derive(Debug, Default)]
pub(crate) struct AuditAccount(Mutex<HashMap<Request, Account>>);

#[derive(Debug, Default)]
struct Account {
    /// The caller, if it has a name of its own.
    caller: Option<String>,
    due: Vec<Due>,
}

/// What the log says about one request.
struct Found {
    outcome: String,
    caller: String,
    known_by: String,
}

impl AuditAccount {
    /// A request of this method has come to its end.
    pub(crate) fn owe(&self, pid: u32, id: &str, method: &str, due: Due) {
        if is_audited(method) {
            self.lock().entry((pid, id.to_owned())).or_default().due.push(due);
        }
    }

    /// The same for a request of a named caller.
    pub(crate) fn owe_by(&self, caller: &str, pid: u32, id: &str, due: Due) {
        let mut accounts = self.lock();
        let account = accounts.entry((pid, id.to_owned())).or_default();
        account.caller = Some(caller.to_owned());
        account.due.push(due);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Request, Account>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_audited(method: &str) -> bool {
    matches!(
        method,
        "tools/call" | "resources/read" | "resources/subscribe" | "prompts/get" | "completion/complete"
    )
}

/// Compares the logs with what was asked and answered, after all servers have exited. Returns the number of records.
pub(crate) fn settle(run: &Run, logs: &[PathBuf]) -> usize {
    for log in logs {
        verify(run, log);
    }
    compare(run, logs)
}

/// Compares what is due with the records. Returns their number.
fn compare(run: &Run, logs: &[PathBuf]) -> usize {
    let mut found = HashMap::new();
    for log in logs {
        read(run, log, &mut found);
    }
    let records = found.values().map(Vec::len).sum();
    let mut accounts = run.audit.lock();
    for (request, account) in accounts.drain() {
        let records = found.remove(&request).unwrap_or_default();
        if let Err(problem) = account.compare(&records) {
            let (pid, id) = request;
            run.violations.add(Kind::Audit, LOG, &format!("request {id} of process {pid}: {problem}"));
        }
    }
    for ((pid, id), records) in found {
        let what = format!("request {id} of process {pid} was never made, and has {} records", records.len());
        run.violations.add(Kind::Audit, LOG, &what);
    }
    records
}

fn verify(run: &Run, log: &Path) {
    let output = Command::new(&run.binary).args(["audit", "verify"]).arg(log).output();
    let problem = match output {
        Ok(output) if output.status.success() => return,
        Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        Err(error) => error.to_string(),
    };
    run.violations.add(Kind::Audit, LOG, &format!("it cannot be verified: {}", excerpt(&problem)));
}

/// Reads the records of requests, of the log and of the files before it.
fn read(run: &Run, log: &Path, found: &mut HashMap<Request, Vec<Found>>) {
    let mut pids = BTreeMap::new();
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
            // That it was begun says nothing about its end, which has a line of its own unless the server was killed.
            } else if record["event.name"] != "mcp.begun"
                && is_audited(&text("mcp.method.name"))
                && event.contains('-')
            {
                let Some(pid) = pids.get(&server) else {
                    run.violations.add(Kind::Audit, LOG, &format!("no start of the server of {record}"));
                    continue;
                };
                let (outcome, caller, known_by) =
                    (text("outcome"), text("caller.name"), text("caller.known_by"));
                let request = (*pid, text("jsonrpc.request.id"));
                found.entry(request).or_default().push(Found { outcome, caller, known_by });
            }
        }
    }
}

/// The files of a log, oldest first.
fn files_of(log: &Path) -> Vec<PathBuf> {
    let numbered = |number: u32| PathBuf::from(format!("{}.{number}", log.display()));
    let mut files: Vec<_> = (1..u32::MAX).map(numbered).take_while(|file| file.exists()).collect();
    files.reverse();
    files.push(log.to_owned());
    files
}

impl Account {
    fn compare(&self, records: &[Found]) -> Result<(), String> {
        let outcomes: Vec<&str> = records.iter().map(|record| &*record.outcome).collect();
        let least = self.due.iter().filter(|due| **due != Due::Unknown).count();
        if records.len() < least || records.len() > self.due.len() {
            return Err(format!("{:?} is due, and the records say {outcomes:?}", self.due));
        }
        let mut left = outcomes.clone();
        for due in &self.due {
            if let Some(place) = left.iter().position(|outcome| due.fits(outcome)) {
                left.swap_remove(place);
            } else if *due != Due::Unknown {
                return Err(format!("{:?} is due, and the records say {outcomes:?}", self.due));
            }
        }
        let is_right = |record: &&Found| match &self.caller {
            Some(caller) => record.caller == *caller && record.known_by == "token",
            None => record.known_by == "local",
        };
        match records.iter().find(|record| !is_right(record)) {
            Some(wrong) => Err(format!(
                "it is of {:?}, and the record says {} {}",
                self.caller, wrong.known_by, wrong.caller
            )),
            None => Ok(()),
        }
    }
}

impl Due {
    fn fits(self, outcome: &str) -> bool {
        match self {
            Self::Answered(Outcome::Result) => outcome == "success",
            Self::Answered(Outcome::ToolError) => matches!(outcome, "failure" | "refused" | "timeout"),
            Self::Answered(Outcome::Error) => matches!(outcome, "error" | "refused" | "timeout"),
            Self::Answered(Outcome::InputRequired) => outcome == "input_required",
            Self::Cancelled | Self::Answered(Outcome::Cancelled) => outcome == "cancelled",
            Self::Unknown | Self::Answered(Outcome::CutOff) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(due: &[Due], records: &[(&str, &str, &str)], caller: Option<&str>) -> bool {
        let account = Account { caller: caller.map(str::to_owned), due: due.to_vec() };
        let found = |(outcome, known_by, caller): &(&str, &str, &str)| Found {
            outcome: (*outcome).to_owned(),
            caller: (*caller).to_owned(),
            known_by: (*known_by).to_owned(),
        };
        account.compare(&records.iter().map(found).collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn a_request_has_one_record_that_fits() {
        let success = ("success", "local", "local");
        let done = Due::Answered(Outcome::Result);
        assert!(judged(&[done], &[success], None));
        assert!(!judged(&[done], &[], None));
        assert!(!judged(&[done], &[success, success], None));
        assert!(!judged(&[done], &[("cancelled", "local", "local")], None));
        assert!(judged(&[Due::Cancelled], &[("cancelled", "local", "local")], None));
        assert!(!judged(&[Due::Cancelled], &[], None));
        assert!(judged(&[Due::Unknown], &[], None) && judged(&[Due::Unknown], &[success], None));
        assert!(!judged(&[Due::Unknown], &[success, success], None));
        let error = ("error", "local", "local");
        assert!(judged(&[done, Due::Answered(Outcome::Error)], &[error, success], None));
    }

    #[test]
    fn a_record_names_its_caller() {
        let done = [Due::Answered(Outcome::Result)];
        assert!(judged(&done, &[("success", "token", "ada")], Some("ada")));
        assert!(!judged(&done, &[("success", "token", "ben")], Some("ada")));
        assert!(!judged(&done, &[("success", "address", "ada")], Some("ada")));
    }

    /// The number of violations of a log with these lines after the start of process 7, when two calls of ada are due.
    fn violations(lines: &[&str]) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(1, folder.path(), Vec::new(), std::time::Duration::ZERO);
        for id in ["1", "2"] {
            run.audit.owe_by("ada", 7, id, Due::Answered(Outcome::Result));
        }
        let start = r#"{"event.name":"mcp.server.start","event.id":"f-0","process.pid":7}"#;
        let whole: Vec<&str> = [start].into_iter().chain(lines.iter().copied()).collect();
        // The older half is in a file that was rotated.
        let (older, newer) = whole.split_at(whole.len() / 2);
        let rotated = PathBuf::from(format!("{}.1", run.audit_log.display()));
        fs::write(rotated, older.join("\n") + "\n").unwrap();
        fs::write(&run.audit_log, newer.join("\n") + "\n").unwrap();
        compare(&run, std::slice::from_ref(&run.audit_log));
        run.violations.counts().get(&Kind::Audit).copied().unwrap_or_default()
    }

    #[test]
    fn a_log_that_lacks_repeats_or_invents_a_call_is_found() {
        let line = |number: u32, id: &str, caller: &str| {
            format!(
                r#"{{"event.name":"mcp.tools.call","event.id":"f-{number}","mcp.method.name":"tools/call","jsonrpc.request.id":"{id}","caller.name":"{caller}","caller.known_by":"token","outcome":"success"}}"#
            )
        };
        let (one, two) = (line(1, "1", "ada"), line(2, "2", "ada"));
        assert_eq!(violations(&[&one, &two]), 0);
        assert_eq!(violations(&[&two, &one]), 0);
        assert_eq!(violations(&[&one]), 1);
        assert_eq!(violations(&[&one, &two, &two]), 1);
        assert_eq!(violations(&[&one, &two, &line(3, "3", "ada")]), 1);
        assert_eq!(violations(&[&one, &line(2, "2", "ben")]), 1);
        assert_eq!(violations(&[&one, &two[..two.len() - 9]]), 1, "half a line is no record");
        assert_eq!(
            violations(&[&one, &two.replace("\"f-", "\"e-")]),
            2,
            "no start of that server, and no record"
        );
    }
}
