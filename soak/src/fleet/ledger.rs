//! Ledger: how every request ended, every task that a client was told of, and everything that should not have been.

use super::faults::{FaultLog, Kind};
use super::link::lock;
use super::project::Tool;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// A server does not start.
    NotStarted,
    /// A server that was told to end did not end in order.
    BadEnd,
    Panicked,
    /// No answer, and no fault in the way.
    Hung,
    /// A broken connection, and no fault in the way.
    CutOff,
    /// An error, and no fault that would explain it.
    Refused,
    /// An error whose words name no passing cause.
    Wordless,
    /// An answer that took much longer than its tool.
    Slow,
    /// A session that a server does not know, or takes for one that has not begun.
    UnknownSession,
    BadAnswer,
    ToolFailed,
    /// A listener was not sent the end of its task.
    NotHeard,
    /// A run of what must not run twice.
    RanTwice,
    /// A second run, and no fault that would explain it.
    RanAgain,
    /// A run that went on while another server had the task.
    Overran,
    /// A result without a run.
    NoRun,
    /// A task that a client was told of, and that a server does not know.
    UnknownTask,
    /// A failed task whose error does not give a reason that a fault explains.
    TaskFailed,
    TaskUnfinished,
    /// A task that changed after its end.
    TaskChanged,
    /// Servers show a task differently.
    Disagreement,
    /// An audit log that is altered, or does not have what happened.
    Audit,
    ProcessLeft,
    FileLeft,
    RowLeft,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Answered,
    /// With words that name a passing cause.
    Refused,
    /// By a fault.
    CutOff,
    /// In a way that it should not.
    Wrong,
}

/// A request, and what came of it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) what: String,
    /// The server that had its connection, if the proxy found one.
    pub(super) server: Option<usize>,
    pub(super) time: (Instant, Instant),
    /// How long its tool works.
    pub(super) work: Duration,
    pub(super) status: u16,
    pub(super) session: Option<String>,
    /// The answer, or why there is none.
    pub(super) said: Result<Value, String>,
}

/// A task that a client was told of.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) word: String,
    pub(super) tool: Tool,
    pub(super) created: Instant,
    /// Whether its client asked to cancel it.
    pub(super) is_cancelled: bool,
    /// Its end, as its client saw it.
    pub(super) end: Option<Value>,
    /// Whether it is kept until the end of the run.
    pub(super) is_lasting: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    fates: BTreeMap<Fate, u64>,
    events: BTreeMap<String, u64>,
    wrong: BTreeMap<Wrong, Vec<String>>,
    tasks: Vec<Task>,
}

/// An answer that needs nothing but its tool comes within this time after it. The machine may be busy.
const SLOW: Duration = Duration::from_secs(6);

/// What an error says whose cause passes.
const PASSING: [&str; 7] = ["store", "database", "again", "later", "stopped", "stopping", "shutting down"];

/// Further ones of a kind are counted, but not shown.
const MOST_SHOWN: usize = 4;

impl Ledger {
    /// Enters a request. Returns its result, if it has one.
    pub(super) fn enter(&self, faults: &FaultLog, asked: &Asked) -> Option<Value> {
        let had = |is_cause: fn(Kind) -> bool| faults.had(asked.server, asked.time, is_cause);
        let took = asked.time.1 - asked.time.0;
        let wrong = match &asked.said {
            Ok(answer) if answer.get("result").is_some() => {
                let is_slow = took > asked.work + SLOW && !had(Kind::cuts_clients_off);
                is_slow.then_some(Wrong::Slow)
            }
            Ok(answer) if asked.status == 404 || is_unready(answer) => Some(Wrong::UnknownSession),
            Ok(answer) => {
                let words = answer["error"]["message"].as_str().unwrap_or_default();
                let is_passing = PASSING.iter().any(|passing| words.contains(passing));
                if !had(|_| true) {
                    Some(Wrong::Refused)
                } else if is_passing {
                    None
                } else {
                    Some(Wrong::Wordless)
                }
            }
            Err(_) if had(Kind::cuts_clients_off) => None,
            Err(why) if why.contains("nothing comes") => Some(Wrong::Hung),
            Err(_) => Some(Wrong::CutOff),
        };
        let fate = match (&asked.said, wrong) {
            (_, Some(_)) => Fate::Wrong,
            (Ok(answer), None) if answer.get("result").is_some() => Fate::Answered,
            (Ok(_), None) => Fate::Refused,
            (Err(_), None) => Fate::CutOff,
        };
        *lock(&self.0).fates.entry(fate).or_default() += 1;
        if let Some(wrong) = wrong {
            let said = match &asked.said {
                Ok(answer) => excerpt(&answer.to_string()),
                Err(why) => why.clone(),
            };
            let (server, seconds) = (asked.server, took.as_secs_f64());
            let place = server.map_or_else(|| "no server".to_owned(), |server| format!("server {server}"));
            self.blame(
                wrong,
                &format!("{} at {place}, status {}, after {seconds:.1} s: {said}", asked.what, asked.status),
            );
        }
        asked.said.as_ref().ok()?.get("result").cloned()
    }

    /// Counts something that happened.
    pub(super) fn note(&self, event: &str) {
        *lock(&self.0).events.entry(event.to_owned()).or_default() += 1;
    }

    pub(super) fn blame(&self, wrong: Wrong, details: &str) {
        lock(&self.0).wrong.entry(wrong).or_default().push(details.to_owned());
    }

    pub(super) fn look_at_log(&self, log: &str) {
        for line in log.lines().filter(|line| line.contains("panic")) {
            self.blame(Wrong::Panicked, line);
        }
    }

    /// Enters a task that a client was told of.
    pub(super) fn add(&self, task: Task) {
        lock(&self.0).tasks.push(task);
    }

    pub(super) fn change(&self, id: &str, change: impl FnOnce(&mut Task)) {
        if let Some(task) = lock(&self.0).tasks.iter_mut().rev().find(|task| task.id == id) {
            change(task);
        }
    }

    pub(super) fn tasks(&self) -> Vec<Task> {
        lock(&self.0).tasks.clone()
    }

    pub(super) fn is_clean(&self) -> bool {
        lock(&self.0).wrong.is_empty()
    }

    pub(super) fn report(&self) -> String {
        let counts = lock(&self.0);
        let mut text = format!("{} requests:", counts.fates.values().sum::<u64>());
        for (fate, count) in &counts.fates {
            let _ = write!(text, " {count} {fate:?}");
        }
        let _ = writeln!(text, "\n{} tasks", counts.tasks.len());
        for (event, count) in &counts.events {
            let _ = writeln!(text, "{count} {event}");
        }
        let _ = writeln!(text, "{} violations", counts.wrong.values().map(Vec::len).sum::<usize>());
        for (wrong, all) in &counts.wrong {
            let _ = writeln!(text, "{wrong:?}: {}", all.len());
            for details in all.iter().take(MOST_SHOWN) {
                let _ = writeln!(text, "- {details}");
            }
        }
        text
    }
}

fn is_unready(answer: &Value) -> bool {
    answer["error"]["message"].as_str().is_some_and(|words| words.contains("not initialized"))
}

fn excerpt(text: &str) -> String {
    text.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entered(status: u16, said: Result<Value, String>) -> (Ledger, Option<Value>) {
        let (ledger, now) = (Ledger::default(), Instant::now());
        let (what, server, time, work) = ("a call".to_owned(), Some(0), (now, now), Duration::ZERO);
        let asked = Asked { what, server, time, work, status, session: None, said };
        let result = ledger.enter(&FaultLog::default(), &asked);
        (ledger, result)
    }

    #[test]
    fn without_a_fault_every_request_has_a_result() {
        let (ledger, result) = entered(200, Ok(json!({ "result": 1 })));
        assert!(ledger.is_clean() && result == Some(json!(1)));
        let error = json!({ "error": { "message": "the store is away, try again" } });
        for (status, said, kind) in [
            (200, Ok(error.clone()), "Refused: 1"),
            (404, Ok(error), "UnknownSession: 1"),
            (0, Err("nothing comes".to_owned()), "Hung: 1"),
            (0, Err("the server closed the connection".to_owned()), "CutOff: 1"),
        ] {
            let (ledger, result) = entered(status, said);
            assert!(!ledger.is_clean() && result.is_none());
            assert!(ledger.report().contains(kind), "{}", ledger.report());
        }
    }
}
