//! Clients of 2025-11-25: sessions that move between the servers, calls, and tasks whose results are fetched.

use super::client::{Call, Client, STORE};
use super::faults::{Kind, LEASE};
use super::ledger::{Asked, Wrong};
use super::project::Tool;
use crate::http::{delete, initialize, post};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
enum Act {
    Call,
    List,
    Task,
    Leave,
}

const ACTS: [(u64, Act); 4] = [(5, Act::Call), (2, Act::List), (4, Act::Task), (1, Act::Leave)];

/// The time to live of tasks that are gone before the end of the run, in milliseconds.
const BRIEF: u64 = 10_000;

impl Client<'_> {
    /// Does one random thing in its session.
    pub(super) fn act_in_session(&mut self) {
        if self.session.is_none() && !self.begin_session() {
            return;
        }
        match self.random.weighted(&ACTS) {
            Act::Call => self.call_in_session(),
            Act::List => drop(self.ask_in_session("tools/list", &json!({}), Duration::ZERO)),
            Act::Task => self.fetch_task(),
            Act::Leave => self.leave(),
        }
    }

    fn begin_session(&mut self) -> bool {
        let hello = initialize(&json!({ "elicitation": {} }));
        let headers = [("Authorization", &*self.fleet.token)];
        let asked =
            self.exchange("initialize", self.fleet.address, &post(&headers, &hello), Duration::ZERO, |_| {
                false
            });
        if self.enter(&asked).is_none() {
            return false;
        }
        self.session.clone_from(&asked.session);
        if self.session.is_none() {
            self.blame(Wrong::BadAnswer, &asked, "no session");
            return false;
        }
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let asked = self.send_in_session(&ready, Duration::ZERO);
        match asked.status {
            202 => self.fleet.ledger.note("sessions begun"),
            // Cut off before an answer.
            0 if self.fleet.faults.had(asked.server, asked.time, Kind::cuts_clients_off) => {}
            // A server that cannot ask the database about the session says "later".
            503 if self.fleet.faults.had(asked.server, asked.time, Kind::keeps_database_away) => {}
            status => self.blame(Wrong::BadAnswer, &asked, &format!("status {status} for a notification")),
        }
        true
    }

    fn send_in_session(&self, message: &Value, work: Duration) -> Asked {
        let session = self.session.as_deref().unwrap_or_default();
        let headers = [("Authorization", &*self.fleet.token), ("Mcp-Session-Id", session)];
        let what = format!("{} {} in a session", message["method"], message["params"]);
        let what: String = what.chars().take(120).collect();
        let asked = self.exchange(&what, self.fleet.address, &post(&headers, message), work, |_| false);
        self.fleet.requests.enter(message, &asked);
        asked
    }

    /// A request in its session. It begins another if that is lost.
    fn ask_in_session(&mut self, method: &str, params: &Value, work: Duration) -> Option<(Asked, Value)> {
        let message = self.request(method, params);
        let asked = self.send_in_session(&message, work);
        if asked.status == 404 {
            self.session = None;
        }
        let result = self.enter(&asked)?;
        Some((asked, result))
    }

    fn call_in_session(&mut self) {
        let tool = *self.random.pick(&[Tool::Works, Tool::Again]);
        let call = self.new_call(tool, "call");
        if let Some((asked, result)) = self.ask_in_session("tools/call", &params(&call), call.work()) {
            self.compare(&asked, &result, &call);
        }
    }

    /// A task that is looked at, cancelled, or fetched.
    fn fetch_task(&mut self) {
        let tool = *self.random.pick(&[Tool::Works, Tool::Again]);
        let call = self.new_call(tool, "task");
        let is_lasting = self.random.chance(70);
        let mut params = params(&call);
        params["task"] = json!({ "ttl": if is_lasting { 3_600_000 } else { BRIEF } });
        let Some((asked, result)) = self.ask_in_session("tools/call", &params, STORE) else {
            return;
        };
        let Some(id) = result["task"]["taskId"].as_str().map(str::to_owned) else {
            return self.blame(Wrong::BadAnswer, &asked, &format!("no task: {result}"));
        };
        self.remember(&id, &call, is_lasting);
        let task = json!({ "taskId": id });
        match self.random.below(4) {
            0 => {}
            1 => drop(self.ask_in_session("tasks/get", &task, STORE)),
            2 => {
                self.fleet.ledger.change(&id, |task| task.is_cancelled = true);
                let message = self.request("tasks/cancel", &task);
                let asked = self.send_in_session(&message, STORE);
                // It is refused if the task has ended.
                if asked.said.as_ref().ok().is_none_or(|answer| answer["error"]["code"] != -32602) {
                    self.enter(&asked);
                }
            }
            _ if is_lasting => self.fetch_result(&call, &task),
            _ => {}
        }
    }

    /// Waits for the result of a task.
    fn fetch_result(&mut self, call: &Call, task: &Value) {
        let message = self.request("tasks/result", task);
        // If its server died, the task fails or runs again when its lease is over.
        let asked = self.send_in_session(&message, call.work() * 2 + LEASE);
        let error = asked.said.as_ref().ok().and_then(|answer| answer["error"]["message"].as_str());
        if error.is_some_and(|words| words.contains("server that ran this task")) {
            return self.fleet.ledger.note("failures fetched");
        }
        if let Some(result) = self.enter(&asked) {
            self.fleet.ledger.note("results fetched");
            self.compare(&asked, &result, call);
        }
    }

    /// Ends its session.
    pub(super) fn leave(&mut self) {
        let Some(session) = self.session.take() else { return };
        let headers = [("Authorization", &*self.fleet.token), ("Mcp-Session-Id", &*session)];
        let asked =
            self.exchange("end of a session", self.fleet.address, &delete(&headers), Duration::ZERO, |_| {
                false
            });
        let is_explained = self.fleet.faults.had(asked.server, asked.time, |_| true);
        if asked.status == 404 || asked.status != 200 && !is_explained {
            self.blame(Wrong::UnknownSession, &asked, &format!("status {}", asked.status));
        }
    }
}

fn params(call: &Call) -> Value {
    json!({ "name": call.tool.name(), "arguments": { "word": call.word, "beats": call.beats } })
}
