//! Chaos client: calls tools in both eras, and sometimes disconnects before it has its answer.

use super::account::{Account, Fate};
use super::project::STEPS;
use super::told::{Asked, Call, Told, judge};
use super::vandal::Damage;
use crate::audit::Due;
use crate::http::{Connection, EventBlocks, STATELESS, add_meta, delete, get, initialize, post};
use crate::random::Random;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

pub(super) struct Client<'a> {
    number: u32,
    address: SocketAddr,
    account: &'a Account,
    damage: &'a Damage,
    random: Random,
    /// Whether it cuts connections.
    is_chaotic: bool,
    calls: u64,
    session: Option<String>,
}

/// When to cut a connection.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Never,
    /// After so many thousandths of the request.
    InRequest(u64),
    /// This long after the request.
    AfterRequest(Duration),
    /// When the answer has started.
    AfterHead,
    /// After so many events.
    AfterEvents(u64),
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Call,
    CallInSession,
    Cancel,
    Delete,
    Hear,
    Listen,
    Junk,
}

const ACTS: [(u64, Act); 7] = [
    (35, Act::Call),
    (35, Act::CallInSession),
    (6, Act::Cancel),
    (6, Act::Delete),
    (6, Act::Hear),
    (6, Act::Listen),
    (6, Act::Junk),
];

const CALLED: [(u64, &str); 5] = [(4, "quick"), (4, "steps"), (1, "slow"), (1, "large"), (2, "echo")];

/// Invalid requests, and the status of their refusals.
const JUNK: [(&str, u16); 4] = [
    ("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 3\r\n\r\n{}\n", 421),
    ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n{}\n", 415),
    ("PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405),
    ("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
];

impl<'a> Client<'a> {
    pub(super) fn new(
        number: u32,
        address: SocketAddr,
        account: &'a Account,
        damage: &'a Damage,
        random: Random,
        is_chaotic: bool,
    ) -> Self {
        Self { number, address, account, damage, random, is_chaotic, calls: 0, session: None }
    }

    /// Does one random thing.
    pub(super) fn act(&mut self) {
        let (account, act) = (self.account, self.random.weighted(&ACTS));
        account.settle(&format!("client {}, {act:?} {}", self.number, self.calls + 1), || match act {
            Act::Call => {
                let (tool, cut) = (self.random.weighted(&CALLED), self.cut());
                self.call_alone(tool, cut)
            }
            Act::CallInSession => self.call_in_session(),
            Act::Cancel => self.stop_call(false),
            Act::Delete => self.stop_call(true),
            Act::Hear => self.hear(),
            Act::Listen => self.listen(),
            Act::Junk => self.send_junk(),
        });
    }

    /// Calls something slow, and waits for the answer.
    pub(super) fn call_slowly(&mut self) {
        let account = self.account;
        account.settle("a call while the server ends", || self.call_alone("slow", Cut::Never));
    }

    /// Whether a tool works.
    pub(super) fn is_served(&mut self, tool: &'static str) -> Result<(), String> {
        match self.call_alone(tool, Cut::Never)? {
            Fate::Answered => Ok(()),
            fate => Err(format!("a call of `{tool}` is {fate:?}")),
        }
    }

    /// All lists, as text.
    pub(super) fn lists(&mut self) -> Result<String, String> {
        let mut lists = Vec::new();
        for method in ["tools/list", "prompts/list", "resources/list"] {
            let mut message = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": {} });
            add_meta(&mut message, &json!({}));
            let mut connection = self.send(&post(&[("Mcp-Method", method), STATELESS], &message))?;
            connection.head()?;
            lists.push(connection.json()?["result"].to_string());
        }
        Ok(lists.join("\n"))
    }

    /// Deletes its session.
    pub(super) fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            let account = self.account;
            account.settle("the end of a session", || {
                let mut connection = self.send(&delete(&[of_session(&session)]))?;
                let status = connection.head()?.status;
                if status == 200 { Ok(Fate::Answered) } else { Err(format!("status {status}")) }
            });
        }
    }

    fn cut(&mut self) -> Cut {
        if !self.is_chaotic || self.random.chance(50) {
            return Cut::Never;
        }
        let random = &mut self.random;
        match random.below(4) {
            0 => Cut::InRequest(random.below(1000)),
            1 => Cut::AfterRequest(random.millis(0, 100)),
            2 => Cut::AfterHead,
            _ => Cut::AfterEvents(random.below(STEPS + 2)),
        }
    }

    fn new_call(&mut self, tool: &'static str, has_progress: bool) -> Call {
        self.calls += 1;
        let id = format!("w{}-{}", self.number, self.calls);
        let mut params = json!({ "name": tool, "arguments": { "word": id } });
        if has_progress {
            params["_meta"] = json!({ "progressToken": id });
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        Call { id, tool, message, damage: self.damage.count() }
    }

    fn send(&self, bytes: &[u8]) -> Result<Connection, String> {
        let mut connection = Connection::open(self.address)?;
        connection.send(bytes)?;
        Ok(connection)
    }

    /// Sends a whole call, of which the audit log has one line at most, and exactly one if it is answered.
    fn send_call(&self, call: &Call, bytes: &[u8]) -> Result<Connection, String> {
        self.account.owe(&call.id, Due::Unknown);
        self.send(bytes)
    }

    /// A call without a session.
    fn call_alone(&mut self, tool: &'static str, cut: Cut) -> Asked {
        let has_progress = self.random.chance(60);
        let mut call = self.new_call(tool, has_progress);
        add_meta(&mut call.message, &json!({}));
        let bytes = post(&[("Mcp-Method", "tools/call"), ("Mcp-Name", tool), STATELESS], &call.message);
        if let Cut::InRequest(thousandths) = cut {
            let end = bytes.len() * usize::try_from(thousandths).unwrap_or(0) / 1000;
            self.send(&bytes[..end])?;
            return Ok(Fate::GivenUp);
        }
        let mut connection = self.send_call(&call, &bytes)?;
        if self.is_chaotic && self.random.chance(20) {
            self.account.note("requests after which the client said no more");
            connection.half_close()?;
        }
        if let Cut::AfterRequest(wait) = cut {
            sleep(wait);
            return Ok(Fate::GivenUp);
        }
        let head = connection.head()?;
        if matches!(cut, Cut::AfterHead) {
            return Ok(Fate::GivenUp);
        }
        if !head.is_events {
            return judge(self.account, &head, &connection.json()?, &call);
        }
        let (mut text, mut told) = (EventBlocks::default(), Told::nothing(self.account, self.damage));
        let mut left = if let Cut::AfterEvents(count) = cut { count } else { u64::MAX };
        while let Some(event) = connection.event(&mut text)? {
            if event.id.is_some() {
                return Err("an event without a session has an id".to_owned());
            }
            if left == 0 {
                return Ok(Fate::GivenUp);
            }
            told.take(event, &call)?;
            left -= 1;
        }
        told.judge(&head, &call)
    }

    /// The id of a live session.
    fn session(&mut self) -> Result<String, String> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let mut connection = self.send(&post(&[], &initialize(&json!({}))))?;
        let head = connection.head()?;
        let session = head.session.ok_or_else(|| format!("no session, but status {}", head.status))?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let status = self.send(&post(&[of_session(&session)], &ready))?.head()?.status;
        if status != 202 {
            return Err(format!("status {status} for a notification"));
        }
        self.session = Some(session.clone());
        Ok(session)
    }

    /// A call in a session, whose stream is cut and resumed until it was received completely.
    fn call_in_session(&mut self) -> Asked {
        let session = self.session()?;
        let tool = self.random.weighted(&CALLED);
        let call = self.new_call(tool, true);
        let mut connection = self.send_call(&call, &post(&[of_session(&session)], &call.message))?;
        if self.is_chaotic && self.random.chance(10) {
            return Ok(Fate::GivenUp);
        }
        let head = connection.head()?;
        if !head.is_events {
            return judge(self.account, &head, &connection.json()?, &call);
        }
        let (mut text, mut told, mut last) =
            (EventBlocks::default(), Told::nothing(self.account, self.damage), None);
        loop {
            let mut left =
                if self.is_chaotic && self.random.chance(70) { self.random.below(4) } else { u64::MAX };
            let is_whole = loop {
                if left == 0 && last.is_some() {
                    break false;
                }
                let Some(event) = connection.event(&mut text)? else { break true };
                left = left.saturating_sub(1);
                last = event.id.clone().or(last);
                told.take(event, &call)?;
            };
            if is_whole {
                return told.judge(&head, &call);
            }
            self.account.note("streams resumed");
            text = EventBlocks::default();
            connection = self.send(&get(&[of_session(&session)], last.as_deref()))?;
            let head = connection.head()?;
            if head.status != 200 || !head.is_events {
                return Err(format!("status {} for the rest after {last:?}", head.status));
            }
        }
    }

    /// A call that is cancelled, or whose session is deleted.
    fn stop_call(&mut self, ends_session: bool) -> Asked {
        let session = self.session()?;
        let call = self.new_call("slow", false);
        let mut connection = self.send_call(&call, &post(&[of_session(&session)], &call.message))?;
        sleep(self.random.millis(0, 200));
        let (stop, expected) = if ends_session {
            self.session = None;
            (delete(&[of_session(&session)]), 200)
        } else {
            let params = json!({ "requestId": call.id });
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            (post(&[of_session(&session)], &cancel), 202)
        };
        let status = self.send(&stop)?.head()?.status;
        if status != expected {
            return Err(format!("status {status} when it was stopped"));
        }
        let head = connection.head()?;
        let body = if head.is_events { Value::Null } else { connection.json()? };
        match body {
            Value::Null => Ok(Fate::GivenUp),
            // It finished first, or its session was deleted before it arrived.
            body => judge(self.account, &head, &body, &call),
        }
    }

    /// The stream of messages that belong to no request.
    fn hear(&mut self) -> Asked {
        let session = self.session()?;
        let mut connection = self.send(&get(&[of_session(&session)], None))?;
        let head = connection.head()?;
        match head.status {
            200 => connection
                .event(&mut EventBlocks::default())?
                .map(|_| Fate::GivenUp)
                .ok_or("it ended".to_owned()),
            // The one before was not missed yet.
            409 => Ok(Fate::Refused),
            status => Err(format!("status {status}")),
        }
    }

    fn listen(&mut self) -> Asked {
        self.calls += 1;
        let params = json!({ "notifications": { "toolsListChanged": true } });
        let id = format!("l{}-{}", self.number, self.calls);
        let mut message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params });
        add_meta(&mut message, &json!({}));
        let mut connection =
            self.send(&post(&[("Mcp-Method", "subscriptions/listen"), STATELESS], &message))?;
        let head = connection.head()?;
        let event = if head.is_events { connection.event(&mut EventBlocks::default())? } else { None };
        let acknowledged = event.and_then(|event| event.message);
        let method = acknowledged.as_ref().and_then(|message| message["method"].as_str());
        match method {
            Some("notifications/subscriptions/acknowledged") => Ok(Fate::GivenUp),
            _ => Err(format!("status {} and {acknowledged:?}", head.status)),
        }
    }

    fn send_junk(&mut self) -> Asked {
        let (junk, expected) = *self.random.pick(&JUNK);
        let status = self.send(junk.as_bytes())?.head()?.status;
        if status == expected { Ok(Fate::Refused) } else { Err(format!("status {status}, not {expected}")) }
    }
}

fn of_session(session: &str) -> (&'static str, &str) {
    ("Mcp-Session-Id", session)
}
