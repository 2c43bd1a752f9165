//! Judge: after the last fault, every task ends within a bounded time, for a reason that a fault explains if it fails, and is the
//! same at every server.

use super::client::{Client, STORE, is_final};
use super::faults::LEASE;
use super::journal::{self, Run};
use super::ledger::{Asked, Task, Wrong};
use super::runs::wrong_runs;
use super::servers::Fleet;
use crate::random::Random;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A task ends this long after the last fault: its lease ends, it runs again, and the machine may be busy.
const LONGEST: Duration = Duration::from_secs(LEASE.as_secs() + 30);

/// A task that a server runs at once has ended this long after its call, or lost its server.
const LONGEST_RUN: Duration = Duration::from_secs(30);

/// What all servers must show of a task alike.
const SHOWN: [&str; 5] = ["status", "statusMessage", "lastUpdatedAt", "result", "error"];

pub(super) struct Judge<'a> {
    fleet: &'a Fleet,
    client: Client<'a>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(fleet: &'a Fleet, seed: u64) -> Self {
        Self { fleet, client: Client::new(fleet, 1000, Random::of_part(seed, "judge")) }
    }

    pub(super) fn judge(&self) {
        self.await_ends();
        let runs = match journal::read(&self.fleet.journal()) {
            Ok(runs) => runs,
            Err(problem) => return self.blame(Wrong::NoRun, &problem),
        };
        for task in self.fleet.ledger.tasks().iter().filter(|task| task.is_lasting) {
            self.judge_task(task, runs.get(&task.word).map(Vec::as_slice).unwrap_or_default());
        }
        for (wrong, details) in wrong_runs(&runs, &self.fleet.faults) {
            self.blame(wrong, &details);
        }
    }

    fn blame(&self, wrong: Wrong, details: &str) {
        self.fleet.ledger.blame(wrong, &details.chars().take(400).collect::<String>());
    }

    /// Asks one of the servers for a task. Tells if it does not know the task.
    fn look(&self, task: &Task, server: usize) -> Option<Value> {
        let address = self.fleet.places[server].address()?;
        let params = json!({ "taskId": task.id });
        let asked = self.client.ask(address, ("tasks/get", params), true, STORE, |_| false);
        if let Asked { said: Ok(answer), .. } = &asked
            && answer["error"]["code"] == -32602
        {
            self.blame(Wrong::UnknownTask, &format!("{} at server {server}: {answer}", task.word));
            return None;
        }
        self.client.enter(&asked)
    }

    /// Follows all tasks until they have ended, at one server after the other.
    fn await_ends(&self) {
        let until = Instant::now() + LONGEST;
        let mut pending = self.fleet.ledger.tasks();
        pending.retain(|task| task.is_lasting);
        for server in (0..self.fleet.places.len()).cycle() {
            pending.retain(|task| match self.look(task, server) {
                Some(shown) if is_final(&shown) => {
                    let first = |known: &mut Task| known.end = known.end.take().or(Some(shown.clone()));
                    self.fleet.ledger.change(&task.id, first);
                    false
                }
                Some(shown) => {
                    if let Some(address) = self.fleet.places[server].address() {
                        self.client.answer(address, &task.id, &shown);
                    }
                    true
                }
                None => false,
            });
            if pending.is_empty() || Instant::now() >= until {
                break;
            }
            sleep(Duration::from_millis(300));
        }
        for task in pending {
            self.blame(Wrong::TaskUnfinished, &format!("{} ({})", task.word, task.id));
        }
    }

    fn judge_task(&self, task: &Task, runs: &[Run]) {
        let Some(end) = &task.end else { return };
        let of = |shown: &Value| SHOWN.map(|name| without_meta(&shown[name]));
        for server in 0..self.fleet.places.len() {
            let Some(shown) = self.look(task, server) else { continue };
            if of(&shown) != of(end) {
                let wrong = if is_final(&shown) { Wrong::Disagreement } else { Wrong::TaskChanged };
                self.blame(
                    wrong,
                    &format!("{}: server {server} shows {shown}, and before it was {end}", task.word),
                );
            }
        }
        let tells =
            |wrong: Wrong, why: &str| self.blame(wrong, &format!("{} {why}: {end} {runs:?}", task.word));
        match end["status"].as_str() {
            Some("completed") => {
                let text = end["result"]["content"][0]["text"].as_str().unwrap_or_default();
                if end["result"]["isError"] == true {
                    tells(Wrong::ToolFailed, "is completed");
                } else if !text.starts_with(&task.word) {
                    tells(Wrong::BadAnswer, "is completed");
                } else if !runs.iter().any(|run| run.has_ended) {
                    tells(Wrong::NoRun, "is completed");
                }
            }
            Some("cancelled") if !task.is_cancelled => tells(Wrong::TaskFailed, "was cancelled by nobody"),
            Some("cancelled") => {}
            _ => {
                let words = end["error"]["message"].as_str().unwrap_or_default();
                let time = (task.created, task.created + LONGEST_RUN);
                let server = runs.first().map(|run| run.server);
                if task.tool.is_repeatable() {
                    tells(Wrong::TaskFailed, "could have been run again");
                } else if !words.contains("server that ran this task") {
                    tells(Wrong::TaskFailed, "names no reason that passes");
                } else if !self.fleet.faults.may_cost_a_lease(server, time) {
                    tells(Wrong::TaskFailed, "lost its server without a fault");
                }
            }
        }
    }
}

/// A value without what a server says of itself.
fn without_meta(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(members) = value.as_object_mut() {
        members.remove("_meta");
    }
    value
}
