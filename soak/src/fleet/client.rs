//! Client of the fleet: its connections, and the requests that both eras have in common.

use super::ledger::{Asked, Task, Wrong};
use super::project::Tool;
use super::servers::Fleet;
use crate::http::{Connection, EventBlocks, Head};
use crate::random::Random;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long a client waits for an answer, beside the time that its tool works.
const PATIENCE: Duration = Duration::from_secs(40);

/// How long an operation of a server may wait for the database.
pub(super) const STORE: Duration = Duration::from_secs(10);

pub(super) struct Client<'a> {
    pub(super) fleet: &'a Fleet,
    number: u32,
    pub(super) random: Random,
    calls: u64,
    /// The id of its session, in the handshake era.
    pub(super) session: Option<String>,
}

/// A call: its tool, its word, which begins with the tool's name and which its answer repeats, and how long it works.
pub(super) struct Call {
    pub(super) tool: Tool,
    pub(super) word: String,
    pub(super) beats: u64,
}

impl Call {
    /// How long its script takes.
    pub(super) fn work(&self) -> Duration {
        // A beat and the process that waits for it.
        Duration::from_millis(250) * u32::try_from(self.beats).unwrap_or(0)
    }
}

/// The messages of a response.
pub(super) struct Messages {
    connection: Connection,
    head: Head,
    blocks: EventBlocks,
    is_over: bool,
}

impl Messages {
    fn open(
        address: SocketAddr,
        bytes: &[u8],
        patience: Duration,
        local: &mut Option<SocketAddr>,
    ) -> Result<Self, String> {
        let mut connection = Connection::open_for(address, patience)?;
        *local = connection.local_address();
        connection.send(bytes)?;
        let head = connection.head()?;
        Ok(Self { connection, head, blocks: EventBlocks::default(), is_over: false })
    }

    /// The next one. `None` when the response has ended as it should.
    fn next(&mut self) -> Result<Option<Value>, String> {
        if !self.head.is_events {
            let is_over = std::mem::replace(&mut self.is_over, true);
            return Ok(if is_over { None } else { Some(self.connection.json()?) });
        }
        while let Some(event) = self.connection.event(&mut self.blocks)? {
            if event.message.is_some() {
                return Ok(event.message);
            }
        }
        Ok(None)
    }
}

impl<'a> Client<'a> {
    pub(super) fn new(fleet: &'a Fleet, number: u32, random: Random) -> Self {
        Self { fleet, number, random, calls: 0, session: None }
    }

    /// A call that no other has. `kind` is `call` or `task`.
    pub(super) fn new_call(&mut self, tool: Tool, kind: &str) -> Call {
        self.calls += 1;
        let beats = if self.random.chance(10) { self.random.between(20, 60) } else { self.random.below(10) };
        Call { tool, word: format!("{}-{kind}-{}-{}", tool.name(), self.number, self.calls), beats }
    }

    /// A request with an id of its own: one that was cut off may still run, and the audit logs tell them apart.
    pub(super) fn request(&self, method: &str, params: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.fleet.new_id(), "method": method, "params": params })
    }

    /// Sends a request and reads until `take` has its answer. Everything but the answer is passed to `take` too.
    pub(super) fn exchange(
        &self,
        what: &str,
        address: SocketAddr,
        bytes: &[u8],
        work: Duration,
        mut take: impl FnMut(&Value) -> bool,
    ) -> Asked {
        let (from, mut local, mut head) = (Instant::now(), None, (0, None));
        let said = Messages::open(address, bytes, PATIENCE + work, &mut local).and_then(|mut messages| {
            head = (messages.head.status, messages.head.session.clone());
            while let Some(message) = messages.next()? {
                if message.get("method").is_none() || take(&message) {
                    return Ok(message);
                }
            }
            Err("the stream ended without an answer".to_owned())
        });
        let server = local.and_then(|local| self.fleet.server_of(local));
        let (what, time) = (format!("client {}, {what}", self.number), (from, Instant::now()));
        Asked { what, server, time, work, status: head.0, session: head.1, said }
    }

    /// Enters a request into the ledger. Returns its result, if it has one.
    pub(super) fn enter(&self, asked: &Asked) -> Option<Value> {
        self.fleet.ledger.enter(&self.fleet.faults, asked)
    }

    pub(super) fn blame(&self, wrong: Wrong, asked: &Asked, details: &str) {
        let text = details.chars().take(300).collect::<String>();
        self.fleet.ledger.blame(wrong, &format!("{}, server {:?}: {text}", asked.what, asked.server));
    }

    /// Compares a result of a tool with its call.
    pub(super) fn compare(&self, asked: &Asked, result: &Value, call: &Call) {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == true {
            self.blame(Wrong::ToolFailed, asked, &result.to_string());
        } else if !text.starts_with(&call.word) {
            self.blame(Wrong::BadAnswer, asked, &format!("{} is not in {result}", call.word));
        }
    }

    /// Remembers a task that it was told of.
    pub(super) fn remember(&self, id: &str, call: &Call, is_lasting: bool) {
        let (word, tool, created) = (call.word.clone(), call.tool, Instant::now());
        let task =
            Task { id: id.to_owned(), word, tool, created, is_cancelled: false, end: None, is_lasting };
        self.fleet.ledger.add(task);
    }
}

/// Whether nothing follows on the status of a task.
pub(super) fn is_final(task: &Value) -> bool {
    matches!(task["status"].as_str(), Some("completed" | "failed" | "cancelled"))
}
