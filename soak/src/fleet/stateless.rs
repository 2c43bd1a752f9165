//! Clients of 2026-07-28: calls, questions, long texts, tasks and listeners, without a session.

use super::client::{Call, Client, STORE, is_final};
use super::faults::Kind;
use super::ledger::{Asked, Wrong};
use super::project::Tool;
use crate::http::{STATELESS, add_meta, post};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
enum Act {
    Call,
    Ask,
    Read,
    Task,
    Listen,
}

const ACTS: [(u64, Act); 5] =
    [(3, Act::Call), (2, Act::Ask), (1, Act::Read), (6, Act::Task), (2, Act::Listen)];

/// The tools whose calls are tasks.
const TASKS: [(u64, Tool); 4] = [(3, Tool::Works), (3, Tool::Again), (1, Tool::Asks), (1, Tool::AsksOnce)];

/// How often a client looks for the end of its task before it leaves that to the judge.
const LOOKS: u32 = 15;

impl Client<'_> {
    /// Does one random thing.
    pub(super) fn act_without_session(&mut self) {
        match self.random.weighted(&ACTS) {
            Act::Call => self.call_plainly(),
            Act::Ask => self.be_asked(),
            Act::Read => self.read_long_text(),
            Act::Task => self.follow_task(),
            Act::Listen => self.listen(),
        }
    }

    /// Asks the fleet, or one server of it. `declares` says whether the client knows tasks.
    pub(super) fn ask(
        &self,
        address: SocketAddr,
        (method, params): (&str, Value),
        declares: bool,
        work: Duration,
        take: impl FnMut(&Value) -> bool,
    ) -> Asked {
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let what: String = format!("{method} {params}").chars().take(120).collect();
        let mut capabilities = json!({ "elicitation": {} });
        if declares {
            capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
        }
        let mut message = self.request(method, &params);
        add_meta(&mut message, &capabilities);
        let mut headers = vec![("Authorization", &*self.fleet.token), ("Mcp-Method", method), STATELESS];
        headers.extend(name.as_deref().map(|name| ("Mcp-Name", name)));
        let asked = self.exchange(&what, address, &post(&headers, &message), work, take);
        self.fleet.requests.enter(&message, &asked);
        asked
    }

    fn ask_plainly(&self, method: &str, params: Value, declares: bool, work: Duration) -> Asked {
        self.ask(self.fleet.address, (method, params), declares, work, |_| false)
    }

    fn call_plainly(&mut self) {
        let tool = *self.random.pick(&[Tool::Works, Tool::Again]);
        let call = self.new_call(tool, "call");
        let asked = self.ask_plainly("tools/call", params(&call), false, call.work());
        if let Some(result) = self.enter(&asked) {
            self.compare(&asked, &result, &call);
        }
    }

    /// A call that asks, and goes on at the next server.
    fn be_asked(&mut self) {
        let call = self.new_call(Tool::Asks, "call");
        let asked = self.ask_plainly("tools/call", params(&call), false, Duration::ZERO);
        let Some(result) = self.enter(&asked) else { return };
        let Some(questions) = result["inputRequests"].as_object() else {
            return self.blame(Wrong::BadAnswer, &asked, &format!("no question: {result}"));
        };
        let mut params = params(&call);
        params["requestState"] = result["requestState"].clone();
        params["inputResponses"] = answers(questions.keys());
        let asked = self.ask_plainly("tools/call", params, false, STORE);
        if let Some(result) = self.enter(&asked) {
            self.compare(&asked, &result, &call);
        }
    }

    fn read_long_text(&mut self) {
        let call = self.new_call(Tool::Says, "call");
        let asked = self.ask_plainly("tools/call", params(&call), false, STORE);
        let Some(result) = self.enter(&asked) else { return };
        let is_away = self.fleet.faults.had(asked.server, asked.time, Kind::keeps_database_away);
        let Some(uri) = result["content"][0]["_meta"]["mcpbash/wholeText"]["uri"].as_str() else {
            // Nothing was promised to the client.
            if !is_away {
                self.blame(Wrong::BadAnswer, &asked, &format!("no URI of the whole text: {result}"));
            }
            return;
        };
        let asked = self.ask_plainly("resources/read", json!({ "uri": uri }), false, STORE);
        let is_found = asked.said.as_ref().is_ok_and(|answer| answer.get("result").is_some());
        // Without the database, a text stays at its own server.
        if is_away && !is_found {
            return self.fleet.ledger.note("long texts that only their own server has");
        }
        if let Some(result) = self.enter(&asked) {
            let text = result["contents"][0]["text"].as_str().unwrap_or_default();
            if !text.starts_with(&call.word) || !text.trim_end().ends_with("\n40000") {
                self.blame(Wrong::BadAnswer, &asked, "another text");
            }
        }
    }

    /// Begins a task. Returns its id.
    fn begin_task(&mut self) -> Option<String> {
        let tool = self.random.weighted(&TASKS);
        let call = self.new_call(tool, "task");
        let asked = self.ask_plainly("tools/call", params(&call), true, STORE);
        let result = self.enter(&asked)?;
        let Some(id) = result["taskId"].as_str() else {
            self.blame(Wrong::BadAnswer, &asked, &format!("no task: {result}"));
            return None;
        };
        self.remember(id, &call, true);
        Some(id.to_owned())
    }

    /// A task that is looked at until it has ended, answered, and sometimes cancelled.
    fn follow_task(&mut self) {
        let Some(id) = self.begin_task() else { return };
        let cancels_at = if self.random.chance(15) { self.random.below(4) } else { u64::MAX };
        for look in 0..LOOKS {
            if u64::from(look) == cancels_at {
                self.fleet.ledger.change(&id, |task| task.is_cancelled = true);
                let asked = self.ask_plainly("tasks/cancel", json!({ "taskId": id }), true, STORE);
                self.enter(&asked);
            }
            let asked = self.ask_plainly("tasks/get", json!({ "taskId": id }), true, STORE);
            if let Some(task) = self.enter(&asked) {
                if is_final(&task) {
                    return self.fleet.ledger.change(&id, |known| known.end = Some(task));
                }
                if self.random.chance(70) {
                    self.answer(self.fleet.address, &id, &task);
                }
            }
            sleep(self.random.millis(50, 600));
        }
    }

    /// Answers the questions of a task.
    pub(super) fn answer(&self, address: SocketAddr, id: &str, task: &Value) {
        if let Some(questions) = task["inputRequests"].as_object() {
            let params = json!({ "taskId": id, "inputResponses": answers(questions.keys()) });
            self.enter(&self.ask(address, ("tasks/update", params), true, STORE, |_| false));
        }
    }

    /// A task whose changes are sent by any server.
    fn listen(&mut self) {
        let tool = *self.random.pick(&[Tool::Works, Tool::Again]);
        let call = self.new_call(tool, "task");
        let asked = self.ask_plainly("tools/call", params(&call), true, STORE);
        let Some(id) = self.enter(&asked).and_then(|result| result["taskId"].as_str().map(str::to_owned))
        else {
            return;
        };
        self.remember(&id, &call, true);
        let params = json!({ "notifications": { "taskIds": [id] } });
        let begun = Instant::now();
        let asked = self.ask(self.fleet.address, ("subscriptions/listen", params), true, STORE, |message| {
            message["method"] == "notifications/tasks" && is_final(&message["params"])
        });
        match &asked.said {
            Ok(message) if message["method"] == "notifications/tasks" => {
                self.fleet.ledger.note("ends of tasks heard");
                let mut task = message["params"].clone();
                if let Some(members) = task.as_object_mut() {
                    members.remove("_meta");
                }
                self.fleet.ledger.change(&id, |known| known.end = Some(task));
            }
            // A listener may be told to come again.
            Ok(message) if message.get("result").is_some() => self.fleet.ledger.note("listeners sent away"),
            _ if self.fleet.faults.had(None, (begun, Instant::now()), |_| true) => {
                self.fleet.ledger.note("listeners cut off");
            }
            said => self.blame(Wrong::NotHeard, &asked, &format!("{said:?}")),
        }
    }
}

fn params(call: &Call) -> Value {
    json!({ "name": call.tool.name(), "arguments": { "word": call.word, "beats": call.beats } })
}

/// The same answer to each question.
fn answers<'a>(keys: impl Iterator<Item = &'a String>) -> Value {
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    Value::Object(keys.map(|key| (key.clone(), answer.clone())).collect())
}
