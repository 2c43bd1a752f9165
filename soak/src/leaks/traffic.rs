//! Leak traffic: repeated often enough for a leak to show.

use crate::http::{Connection, EventBlocks, Server, add_meta, delete, initialize, post};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// An operation that is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Ping,
    Call,
    Session,
    Cancel,
    Drop,
    Vanish,
    Burst,
}

/// Each act, its description, and its number of repetitions.
pub(super) const ACTS: [(Act, &str, u64); 7] = [
    (Act::Ping, "pings", 1_000_000),
    (Act::Call, "calls of a Python function", 100_000),
    (Act::Session, "sessions opened and deleted", 100_000),
    (Act::Cancel, "calls of a function cancelled", 100_000),
    (Act::Drop, "connections dropped in mid call", 100_000),
    (Act::Vanish, "readers that vanish from a result of 10 MB", 400),
    (Act::Burst, "calls with 3 MB of arguments and of results", 400),
];

/// The bytes that each call of a burst sends, and receives.
const BURST: usize = 3_000_000;

/// The called functions: in a worker, so that most of the time is spent in the server.
pub(super) const FUNCTIONS: &str = "import asyncio
from mcp_bash import progress, tool

LARGE = 'x' * 10_000_000

@tool
def echo(word: str) -> str: return word

@tool
async def wait() -> str:
    progress(1)
    await asyncio.sleep(600)

@tool
def large() -> str: return LARGE
";

/// A client that does one thing after another on persistent connections.
pub(super) struct Worker {
    address: SocketAddr,
    connection: Connection,
    /// A second connection, for messages while the first waits for an answer.
    beside: Connection,
    session: String,
    number: u64,
}

impl Worker {
    pub(super) fn new(server: &Server) -> Result<Self, String> {
        let mut connection = Connection::open(server.address)?;
        let beside = Connection::open(server.address)?;
        let session = open_session(&mut connection)?;
        Ok(Self { address: server.address, connection, beside, session, number: 0 })
    }

    /// Does it once.
    pub(super) fn act(&mut self, act: Act) -> Result<(), String> {
        self.number += 1;
        match act {
            Act::Ping => self.ask("ping", &json!({})),
            Act::Burst => {
                self.ask("tools/call", &json!({ "name": "echo", "arguments": { "word": "w".repeat(BURST) } }))
            }
            Act::Call => self.ask("tools/call", &json!({ "name": "echo", "arguments": { "word": "w" } })),
            Act::Session => {
                let id = open_session(&mut self.connection)?;
                self.connection.send(&delete(&[("MCP-Session-Id", &id)]))?;
                self.expect(200)
            }
            Act::Cancel => self.cancel(),
            Act::Drop => {
                let mut connection = Connection::open(self.address)?;
                connection.send(&self.stateless("wait"))?;
                // The answer has started. Unread data resets the connection, so the server detects it at
                // once.
                Ok(connection.wait_for_answer()?)
            }
            Act::Vanish => {
                let mut connection = Connection::open(self.address)?;
                connection.send(&self.stateless("large"))?;
                let status = connection.head()?.status;
                if status == 200 { Ok(()) } else { Err(format!("{status} instead of 200")) }
            }
        }
    }

    /// Closes what it opened.
    pub(super) fn leave(mut self) -> Result<(), String> {
        self.connection.send(&delete(&[("MCP-Session-Id", &self.session)]))?;
        self.expect(200)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.connection.send(&self.of_session(&self.request(method, params)))?;
        let status = self.connection.head()?.status;
        let answer = self.connection.json()?;
        if status == 200 && answer["result"].is_object() { Ok(()) } else { Err(format!("{status} {answer}")) }
    }

    fn cancel(&mut self) -> Result<(), String> {
        let meta = json!({ "progressToken": self.number });
        let call = self.request("tools/call", &json!({ "name": "wait", "arguments": {}, "_meta": meta }));
        self.connection.send(&self.of_session(&call))?;
        // Its first event shows that it has begun.
        let (head, mut text) = (self.connection.head()?, EventBlocks::default());
        if !head.is_events || self.connection.event(&mut text)?.is_none() {
            return Err(format!("a call that tells nothing: {}", head.status));
        }
        let params = json!({ "requestId": self.number });
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.beside.send(&self.of_session(&cancel))?;
        let status = self.beside.head()?.status;
        self.beside.json()?;
        if status != 202 {
            return Err(format!("a cancellation: {status}"));
        }
        while self.connection.event(&mut text)?.is_some() {}
        Ok(())
    }

    fn expect(&mut self, status: u16) -> Result<(), String> {
        let head = self.connection.head()?;
        self.connection.json()?;
        if head.status == status { Ok(()) } else { Err(format!("{} instead of {status}", head.status)) }
    }

    fn request(&self, method: &str, params: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.number, "method": method, "params": params })
    }

    fn of_session(&self, message: &Value) -> Vec<u8> {
        post(&[("MCP-Session-Id", &self.session), ("MCP-Protocol-Version", "2025-11-25")], message)
    }

    /// A call that belongs to its connection.
    fn stateless(&self, tool: &str) -> Vec<u8> {
        let meta = json!({ "progressToken": self.number });
        let mut message =
            self.request("tools/call", &json!({ "name": tool, "arguments": {}, "_meta": meta }));
        add_meta(&mut message, &json!({}));
        let headers = [crate::http::STATELESS, ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        post(&headers, &message)
    }
}

fn open_session(connection: &mut Connection) -> Result<String, String> {
    connection.send(&post(&[], &initialize(&json!({}))))?;
    let head = connection.head()?;
    let answer = connection.json()?;
    let id = head.session.ok_or_else(|| format!("no session: {} {answer}", head.status))?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    connection.send(&post(&[("MCP-Session-Id", &id)], &ready))?;
    let status = connection.head()?.status;
    connection.json()?;
    if status == 202 { Ok(id) } else { Err(format!("a session that is not ready: {status}")) }
}
