//! Account: the outcome of each request.

use crate::audit::{self, AuditAccount, By, Due};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// With the result of its script.
    Answered,
    /// With an error instead, usually because its script was killed.
    Failed,
    /// The server refused it, and said so.
    Refused,
    /// Its client cut the connection, or cancelled it.
    GivenUp,
}

#[derive(Debug, Default)]
pub(super) struct Account(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    sent: u64,
    fates: BTreeMap<Fate, u64>,
    events: BTreeMap<&'static str, u64>,
    /// What the audit log must hold, by the ids of calls.
    due: BTreeMap<String, Due>,
    /// The lines that it holds.
    lines: usize,
    wrong: Vec<String>,
}

/// Further ones are counted, but not shown.
const MOST_SHOWN: usize = 20;

impl Account {
    /// Sends a request. `ask` returns its outcome, or an error in it.
    pub(super) fn settle(&self, what: &str, ask: impl FnOnce() -> Result<Fate, String>) {
        self.lock().sent += 1;
        match ask() {
            Ok(fate) => *self.lock().fates.entry(fate).or_default() += 1,
            Err(wrong) => self.blame(format!("{what}: {wrong}")),
        }
    }

    /// Counts something that happened.
    pub(super) fn note(&self, event: &'static str) {
        *self.lock().events.entry(event).or_default() += 1;
    }

    /// The audit log must hold this of a call, whatever it had to hold before. Each call has an id of its own.
    pub(super) fn owe(&self, id: &str, due: Due) {
        self.lock().due.insert(id.to_owned(), due);
    }

    /// The audit log must hold nothing of a call.
    pub(super) fn owe_nothing(&self, id: &str) {
        self.lock().due.remove(id);
    }

    /// Compares the audit log of the server, which has exited, with the calls.
    pub(super) fn settle_audit(&self, binary: &Path, log: &Path, pid: u32) {
        let audit = AuditAccount::default();
        for (id, due) in std::mem::take(&mut self.lock().due) {
            audit.owe_by(By::Address, pid, &Value::from(id).to_string(), due);
        }
        let stray = |record: &Value| self.blame(format!("a line of another server: {record}"));
        let lines = audit::ends(log, stray);
        self.lock().lines = lines.len();
        for begun in audit::beginnings(log, stray) {
            if lines.iter().all(|line| line.id != begun.id) {
                self.blame(format!("the audit log: a beginning without an end: {begun:?}"));
            }
        }
        let verified = audit::verify(binary, log).err();
        for problem in verified.into_iter().chain(audit.settle(lines)) {
            self.blame(format!("the audit log: {problem}"));
        }
    }

    /// The server did something wrong.
    pub(super) fn blame(&self, wrong: String) {
        self.lock().wrong.push(wrong);
    }

    pub(super) fn is_clean(&self) -> bool {
        let counts = self.lock();
        counts.wrong.is_empty() && counts.sent == counts.fates.values().sum::<u64>()
    }

    pub(super) fn report(&self) -> String {
        let counts = self.lock();
        let mut text = format!("{} requests:", counts.sent);
        for (fate, count) in &counts.fates {
            let _ = write!(text, " {count} {fate:?}");
        }
        let lost = counts.sent - counts.fates.values().sum::<u64>();
        let _ = writeln!(text, ", {lost} lost");
        for (event, count) in &counts.events {
            let _ = writeln!(text, "{count} {event}");
        }
        let _ = writeln!(text, "{} lines about calls in the audit log", counts.lines);
        let _ = writeln!(text, "{} violations", counts.wrong.len());
        for wrong in counts.wrong.iter().take(MOST_SHOWN) {
            let _ = writeln!(text, "- {wrong}");
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Outcome;
    use std::fs;

    #[test]
    fn a_request_without_an_outcome_is_lost() {
        let account = Account::default();
        account.settle("a", || Ok(Fate::Answered));
        account.settle("b", || Ok(Fate::GivenUp));
        assert!(account.is_clean());
        account.settle("c", || Err("nobody answered".to_owned()));
        assert!(!account.is_clean());
        let report = account.report();
        assert!(report.starts_with("3 requests: 1 Answered 1 GivenUp, 1 lost\n"), "{report}");
        assert!(report.contains("- c: nobody answered"), "{report}");
    }
    #[test]
    fn a_line_that_is_missing_or_doubled_is_a_violation() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.jsonl");
        let line = |id: &str| {
            format!(
                r#"{{"event.name":"mcp.tools.call","event.id":"f-{id}","mcp.method.name":"tools/call","jsonrpc.request.id":"\"{id}\"","caller.known_by":"address","outcome":"success"}}"#
            )
        };
        let start = r#"{"event.name":"mcp.server.start","event.id":"f-0","process.pid":7}"#.to_owned();
        let blamed = |lines: &[String]| {
            let account = Account::default();
            account.owe("a", Due::Unknown);
            account.owe("a", Due::Answered(Outcome::Result));
            account.owe("b", Due::Unknown);
            fs::write(&log, [std::slice::from_ref(&start), lines].concat().join("\n")).unwrap();
            account.settle_audit(Path::new("true"), &log, 7);
            account.lock().wrong.len()
        };
        assert_eq!(blamed(&[line("a")]), 0);
        assert_eq!(blamed(&[line("b"), line("a")]), 0);
        assert_eq!(blamed(&[line("b")]), 1);
        assert_eq!(blamed(&[line("a"), line("a")]), 1);
        assert_eq!(blamed(&[line("a"), line("b"), line("b")]), 1);
        assert_eq!(blamed(&[line("a"), line("c")]), 1);
        let begun = line("a").replace("mcp.tools.call", "mcp.begun");
        assert_eq!(blamed(&[begun.clone(), line("a")]), 0);
        assert_eq!(blamed(&[begun]), 2, "it has no end");
        assert_eq!(
            blamed(&[line("a").replace("\"f-", "\"e-")]),
            2,
            "it is of another server, and a line is missing"
        );
    }
}
