//! Client session: one conversation with a server, its requests and the messages until they are answered.

use crate::connection::Connection;
use crate::error::{Error, Refusal};
use crate::host::{Host, HostAnswer};
use crate::http::HttpError;
use crate::stateless;
use mcp_bash_wire::keys;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashSet;
use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

/// The newest revision with a handshake, which every server of that era can answer.
const REVISION: &str = "2025-11-25";

/// The revision without sessions.
const STATELESS_REVISION: &str = "2026-07-28";

/// The most pages that are read of a server that always has another one.
const MOST_PAGES: usize = 10_000;

/// How many messages are read while the host considers a question; then the server has to wait.
const MOST_HEARD: usize = 100;

pub struct Session {
    connection: Connection,
    next_id: u64,
    greeting: Value,
    /// What every request says about us, with a server that needs no session.
    stateless_meta: Option<Map<String, Value>>,
    /// Messages that came while the host considered a question, to be handled afterwards.
    heard: VecDeque<Vec<u8>>,
}

/// The envelope of a message; its content stays text.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Session {
    /// Initializes the server as a client of that name.
    pub async fn begin(
        connection: Connection,
        name: &str,
        host: &mut impl Host,
        limit: Duration,
    ) -> Result<Self, Error> {
        let mut session = Self {
            connection,
            next_id: 0,
            greeting: Value::Null,
            stateless_meta: None,
            heard: VecDeque::new(),
        };
        if session.connection.as_http().is_some() && session.discover(name, host, limit).await? {
            return Ok(session);
        }
        let hello = json!({
            "protocolVersion": REVISION,
            "capabilities": host.capabilities(),
            "clientInfo": { "name": name, "version": env!("CARGO_PKG_VERSION") },
        });
        let greeting = session.request("initialize", &hello, host, Some(limit)).await?;
        session.greeting = serde_json::from_str(greeting.get()).unwrap_or_default();
        if let Some(http) = session.connection.as_http() {
            http.agree_on(session.greeting["protocolVersion"].as_str(), false);
        }
        host.sent(session.notify("notifications/initialized", &json!({}))?.as_bytes());
        Ok(session)
    }

    /// Asks a server whether it needs no session. False if it does, or does not know the question.
    async fn discover(&mut self, name: &str, host: &mut impl Host, limit: Duration) -> Result<bool, Error> {
        let agree = |connection: &mut Connection, revision: Option<&str>, is_stateless| {
            if let Some(http) = connection.as_http() {
                http.agree_on(revision, is_stateless);
            }
        };
        agree(&mut self.connection, Some(STATELESS_REVISION), true);
        let mut meta = Map::from_iter([
            (keys::PROTOCOL_VERSION.to_owned(), json!(STATELESS_REVISION)),
            (keys::CLIENT_CAPABILITIES.to_owned(), host.capabilities()),
            (keys::CLIENT_INFO.to_owned(), json!({ "name": name, "version": env!("CARGO_PKG_VERSION") })),
        ]);
        meta.extend(host.log_level().map(|level| (keys::LOG_LEVEL.to_owned(), json!(level))));
        self.stateless_meta = Some(meta);
        match self.request("server/discover", &json!({}), host, Some(limit)).await {
            Ok(discovered) => {
                self.greeting = serde_json::from_str(discovered.get()).unwrap_or_default();
                let versions = self.greeting["supportedVersions"].as_array();
                if versions.is_some_and(|versions| versions.iter().any(|known| known == STATELESS_REVISION)) {
                    return Ok(true);
                }
            }
            // A server of the other era wants a handshake first, and says so in any words.
            Err(Error::Refused(_) | Error::Http(HttpError::Status { .. })) => {}
            Err(error) => return Err(error),
        }
        self.stateless_meta = None;
        agree(&mut self.connection, None, false);
        Ok(false)
    }

    /// The server's answer to `initialize` or `server/discover`: its name, its version, its capabilities, its instructions.
    pub fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// The revision that is spoken with the server.
    pub fn revision(&self) -> &str {
        match &self.stateless_meta {
            Some(_) => STATELESS_REVISION,
            None => self.greeting["protocolVersion"].as_str().unwrap_or_default(),
        }
    }

    /// Sends a notification, and returns its text.
    fn notify(&mut self, method: &str, params: &Value) -> Result<String, Error> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        self.connection.send(message.as_bytes())?;
        Ok(message)
    }

    /// The result of a request. Meanwhile `host` receives notifications and answers questions. May be dropped while it
    /// waits, to be followed by [`Session::cancel_last`].
    pub async fn request(
        &mut self,
        method: &str,
        params: &impl serde::Serialize,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Box<RawValue>, Error> {
        let params = to_raw_value(params).map_err(|error| Error::Protocol(error.to_string()))?;
        let Some(limit) = limit else { return self.exchange(method, params, host).await };
        if let Ok(answer) = tokio::time::timeout(limit, self.exchange(method, params, host)).await {
            return answer;
        }
        self.cancel_last("it takes too long")?;
        Err(Error::TimedOut { method: method.to_owned(), after: limit })
    }

    /// The result of a request, which is repeated with answers as long as a server without sessions asks for some.
    async fn exchange(
        &mut self,
        method: &str,
        params: Box<RawValue>,
        host: &mut impl Host,
    ) -> Result<Box<RawValue>, Error> {
        let Some(meta) = self.stateless_meta.clone() else {
            let id = self.send_request(method, &params, host)?;
            return self.answer_to(id, host).await;
        };
        let mut params = stateless::with_meta(&params, &meta)?;
        loop {
            let id = self.send_request(method, &params, host)?;
            let result = self.answer_to(id, host).await?;
            let Some(asked) = stateless::InputRequired::read(&result) else { return Ok(result) };
            params = asked.answered(params, host).await?;
        }
    }

    /// Cancels the last request.
    pub fn cancel_last(&mut self, reason: &str) -> Result<(), Error> {
        if self.stateless_meta.is_some()
            && let Some(http) = self.connection.as_http()
        {
            http.abandon(self.next_id);
            return Ok(());
        }
        let params = json!({ "requestId": self.next_id, "reason": reason });
        self.notify("notifications/cancelled", &params).map(drop)
    }

    /// All entries of a list, from all of its pages: `entries("tools/list", "tools", …)`.
    pub async fn entries(
        &mut self,
        method: &str,
        member: &str,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Vec<Value>, Error> {
        let (mut entries, mut params, mut cursors) = (Vec::new(), json!({}), HashSet::new());
        for _ in 0..MOST_PAGES {
            let page = self.request(method, &params, host, limit).await?;
            let mut page: Value = serde_json::from_str(page.get()).unwrap_or_default();
            if let Some(Value::Array(found)) = page.get_mut(member).map(Value::take) {
                entries.extend(found);
            }
            let Some(Value::String(cursor)) = page.get_mut("nextCursor").map(Value::take) else {
                return Ok(entries);
            };
            params = json!({ "cursor": cursor });
            if !cursors.insert(cursor) {
                return Err(Error::Protocol(format!("pages of {method} that lead back to an earlier one")));
            }
        }
        Err(Error::Protocol(format!("more than {MOST_PAGES} pages of {method}")))
    }

    /// Lets the server shut down.
    pub async fn end(self) {
        self.connection.end().await;
    }

    /// Shuts the server down, whatever it is doing.
    pub async fn end_now(self) {
        self.connection.end_now().await;
    }

    fn send_request(
        &mut self,
        method: &str,
        params: &impl serde::Serialize,
        host: &mut impl Host,
    ) -> Result<u64, Error> {
        self.next_id += 1;
        let params = to_raw_value(params).map_err(|error| Error::Protocol(error.to_string()))?;
        let method = Value::from(method);
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":{},"method":{method},"params":{params}}}"#, self.next_id);
        self.connection.send(message.as_bytes())?;
        host.sent(message.as_bytes());
        Ok(self.next_id)
    }

    /// Waits for the answer to one request. An answer to another request is too late, and is ignored.
    async fn answer_to(&mut self, id: u64, host: &mut impl Host) -> Result<Box<RawValue>, Error> {
        let own_id = id.to_string();
        loop {
            let line = match self.heard.pop_front() {
                Some(line) => line,
                None => self.connection.next().await?,
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            host.received(&line);
            let Ok(message) = serde_json::from_slice::<Message<'_>>(&line) else {
                return Err(Error::Protocol(excerpt(&line)));
            };
            match (&message.method, message.id) {
                (Some(method), Some(_)) if method == "initialize" => {
                    // A program that repeats what it reads, such as `cat`.
                    return Err(Error::Protocol("`initialize`, which only a client asks for".to_owned()));
                }
                (Some(method), None) => host.notified(method, &value(message.params)),
                (Some(method), Some(id)) => {
                    let params = value(message.params);
                    let asked = host.asked(method, &params);
                    if let Some(answered) = self.hear_meanwhile(asked, id, &own_id).await? {
                        self.answer(id, answered)?;
                    }
                }
                (None, id) if id.is_some_and(|id| id.get() == own_id) => {
                    return match (message.result, message.error) {
                        (Some(result), _) => Ok(result.to_owned()),
                        (None, Some(error)) => Err(Error::Refused(refusal(error))),
                        (None, None) => Err(Error::Protocol(excerpt(&line))),
                    };
                }
                (None, _) => {}
            }
        }
    }

    /// The host's answer to a question, unless the server withdraws the question meanwhile or does without it.
    async fn hear_meanwhile(
        &mut self,
        asked: impl Future<Output = HostAnswer>,
        question: &RawValue,
        own_id: &str,
    ) -> Result<Option<HostAnswer>, Error> {
        let mut asked = pin!(asked);
        while self.heard.len() < MOST_HEARD {
            tokio::select! {
                biased;
                answered = &mut asked => return Ok(Some(answered)),
                line = self.connection.next() => {
                    let line = line?;
                    let is_over = is_over(&line, question, own_id);
                    self.heard.push_back(line);
                    if is_over {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(asked.await))
    }

    fn answer(&mut self, id: &RawValue, answered: HostAnswer) -> Result<(), Error> {
        let answer = match answered {
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(why) => {
                let error = json!({ "code": -32601, "message": why });
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
            }
        };
        self.connection.send(answer.as_bytes())
    }
}

/// Whether a message says that a question need not be answered any more: it is cancelled, or the request it belongs to
/// has ended.
fn is_over(line: &[u8], question: &RawValue, own_id: &str) -> bool {
    let Ok(message) = serde_json::from_slice::<Message<'_>>(line) else { return false };
    match message.method.as_deref() {
        Some("notifications/cancelled") => {
            let cancelled = value(message.params)["requestId"].to_string();
            cancelled == question.get()
        }
        Some(_) => false,
        None => message.id.is_some_and(|id| id.get() == own_id),
    }
}

fn value(params: Option<&RawValue>) -> Value {
    params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
}

fn refusal(error: &RawValue) -> Refusal {
    let read: Value = serde_json::from_str(error.get()).unwrap_or_default();
    Refusal {
        code: read["code"].as_i64().unwrap_or_default(),
        message: read["message"].as_str().unwrap_or("an error without a message").to_owned(),
        text: error.to_owned(),
    }
}

/// The beginning of a line that is not a message.
fn excerpt(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let beginning: String = text.trim_end().chars().take(80).collect();
    format!("`{beginning}`")
}
