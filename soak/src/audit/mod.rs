//! Audit account: every request of an audited method must be in the audit log exactly once, with its caller and its outcome.
//! Servers that are killed and servers that share a file are no exception: a line is written before its answer is sent.

mod log;

pub(crate) use log::{Line, beginnings, ends, verify};

use crate::run::Run;
use crate::tally::Outcome;
use crate::violations::Kind;
use log::is_audited;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The name of the log in violations.
const LOG: &str = "the audit log";

/// The settings of servers that write the log. Files are small, so that they are rotated, and all of them are kept.
pub(crate) fn settings(log: &Path) -> [(&'static str, String); 3] {
    rotating(log, 1 << 20)
}

/// The same for a short run, with files so small that they are rotated while many calls end.
pub(crate) fn settings_of_short_run(log: &Path) -> [(&'static str, String); 3] {
    rotating(log, 1 << 16)
}

fn rotating(log: &Path, bytes: u32) -> [(&'static str, String); 3] {
    [
        ("MCPBASH_AUDIT", log.display().to_string()),
        ("MCPBASH_AUDIT_MAX_BYTES", bytes.to_string()),
        ("MCPBASH_AUDIT_KEEP_FILES", "100000".to_owned()),
    ]
}

/// A request: the process of its server, and its id as JSON.
type Request = (u32, String);

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

/// Who makes a request, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    /// The user who started the server.
    Local,
    /// A client without a credential, on this machine.
    Address,
    /// The caller of a token, by name.
    Token(String),
}

/// What the log must hold, by request. An id that was used again has several records.
#[derive(Debug, Default)]
pub(crate) struct AuditAccount(Mutex<HashMap<Request, Account>>);

#[derive(Debug)]
struct Account {
    by: By,
    due: Vec<Due>,
}

impl AuditAccount {
    /// A request of this method has come to its end.
    pub(crate) fn owe(&self, pid: u32, id: &str, method: &str, due: Due) {
        if is_audited(method) {
            self.owe_by(By::Local, pid, id, due);
        }
    }

    /// The same for a request of another caller than the user, of an audited method.
    pub(crate) fn owe_by(&self, by: By, pid: u32, id: &str, due: Due) {
        let mut accounts = self.lock();
        let account = accounts.entry((pid, id.to_owned())).or_insert(Account { by, due: Vec::new() });
        account.due.push(due);
    }

    /// Compares what is due with the lines of all logs. Returns what is wrong.
    pub(crate) fn settle(&self, lines: Vec<Line>) -> Vec<String> {
        let mut found = HashMap::<Request, Vec<Line>>::new();
        for line in lines {
            found.entry((line.pid, line.id.clone())).or_default().push(line);
        }
        let mut problems = Vec::new();
        for ((pid, id), account) in self.lock().drain() {
            let records = found.remove(&(pid, id.clone())).unwrap_or_default();
            if let Err(problem) = account.compare(&records) {
                problems.push(format!("request {id} of process {pid}: {problem}"));
            }
        }
        problems.extend(found.into_iter().map(|((pid, id), records)| {
            format!("request {id} of process {pid} was never made, and has {} records", records.len())
        }));
        problems
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Request, Account>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares the logs with what was asked and answered, after all servers have exited. Returns the number of records.
pub(crate) fn settle(run: &Run, logs: &[PathBuf]) -> usize {
    for problem in logs.iter().filter_map(|log| verify(&run.binary, log).err()) {
        run.violations.add(Kind::Audit, LOG, &problem);
    }
    compare(run, logs)
}

/// Compares what is due with the records. Returns their number.
fn compare(run: &Run, logs: &[PathBuf]) -> usize {
    let blame = |what: &str| run.violations.add(Kind::Audit, LOG, what);
    let stray = |record: &_| blame(&format!("no start of the server of {record}"));
    let lines: Vec<Line> = logs.iter().flat_map(|log| ends(log, stray)).collect();
    let count = lines.len();
    for problem in run.audit.settle(lines) {
        blame(&problem);
    }
    count
}

impl Account {
    fn compare(&self, records: &[Line]) -> Result<(), String> {
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
        match records.iter().find(|record| !self.by.fits(record)) {
            Some(wrong) => Err(format!(
                "it is of {:?}, and the record says {} {}",
                self.by, wrong.known_by, wrong.caller
            )),
            None => Ok(()),
        }
    }
}

impl By {
    pub(crate) fn fits(&self, line: &Line) -> bool {
        match self {
            Self::Local => line.known_by == "local",
            Self::Address => line.known_by == "address",
            Self::Token(name) => line.known_by == "token" && line.caller == *name,
        }
    }
}

impl Due {
    /// Whether the outcome of a record fits.
    pub(crate) fn fits(self, outcome: &str) -> bool {
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
    use std::fs;

    fn judged(due: &[Due], records: &[(&str, &str, &str)], caller: Option<&str>) -> bool {
        let by = caller.map_or(By::Local, |name| By::Token(name.to_owned()));
        let account = Account { by, due: due.to_vec() };
        let found = |(outcome, known_by, caller): &(&str, &str, &str)| Line {
            pid: 7,
            id: "1".to_owned(),
            outcome: (*outcome).to_owned(),
            caller: (*caller).to_owned(),
            known_by: (*known_by).to_owned(),
            word: None,
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
            run.audit.owe_by(By::Token("ada".to_owned()), 7, id, Due::Answered(Outcome::Result));
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
