//! Named caller: its calls, and the checks on everything it receives.

use super::SERVER;
use super::mark::Mark;
use super::project::TOOLS;
use crate::audit::{By, Due};
use crate::http::{Connection, EventBlocks, STATELESS, add_meta, delete, get, initialize, post};
use crate::planted;
use crate::random::Random;
use crate::run::Run;
use crate::tally::Outcome;
use crate::violations::{Kind, excerpt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::thread;

pub(super) struct Caller<'a> {
    run: &'a Run,
    name: &'static str,
    /// Among those with the same name.
    number: u32,
    authorization: String,
    /// The process of the server.
    pid: u32,
    address: SocketAddr,
    random: Random,
    calls: u32,
    session: Option<String>,
}

/// An open call.
struct Call {
    mark: Mark,
    message: Value,
    tool: &'static str,
    asks: bool,
    /// The id of its session, if it has one.
    session: Option<String>,
}

type Asked<T> = Result<T, String>;

/// The number of calls in a session before it is deleted.
const CALLS_IN_SESSION: u64 = 30;

impl<'a> Caller<'a> {
    pub(super) fn new(
        run: &'a Run,
        (name, number): (&'static str, u32),
        token: &str,
        (pid, address): (u32, SocketAddr),
        random: Random,
    ) -> Self {
        let authorization = format!("Bearer {token}");
        Self { run, name, number, authorization, pid, address, random, calls: 0, session: None }
    }

    pub(super) fn call_until_over(&mut self) {
        while !self.run.is_over() {
            let made = if self.random.chance(60) { self.call_in_session() } else { self.call_alone() };
            if let Err(problem) = made {
                let what = format!("{} {}: {problem}", self.name, self.number);
                self.run.violations.add(Kind::WrongAnswer, SERVER, &what);
                self.session = None;
            }
        }
        let _ = self.end_session();
    }

    fn call_alone(&mut self) -> Asked<()> {
        let mut call = self.new_call();
        add_meta(&mut call.message, &capabilities());
        loop {
            let answer = self.ask_audited(&call)?;
            let asked = &answer["result"]["inputRequests"];
            let Some(questions) = asked.as_object() else { return self.judge(&call, &answer) };
            // Another request answers the question, and shows which call the state belongs to.
            let own =
                questions.keys().map(|key| (key.clone(), accept(&call))).collect::<serde_json::Map<_, _>>();
            self.run.tally.request(CALLS, Outcome::InputRequired);
            call.message["params"]["inputResponses"] = own.into();
            call.message["params"]["requestState"] = answer["result"]["requestState"].clone();
        }
    }

    fn call_in_session(&mut self) -> Asked<()> {
        if self.session.is_none() {
            self.begin_session()?;
        }
        let mut call = self.new_call();
        call.session.clone_from(&self.session);
        let answer = self.ask_audited(&call)?;
        self.judge(&call, &answer)?;
        if self.random.below(CALLS_IN_SESSION) == 0 { self.end_session() } else { Ok(()) }
    }

    fn new_call(&mut self) -> Call {
        self.calls += 1;
        let mark = Mark { name: self.name.to_owned(), call: format!("{}-{}", self.number, self.calls) };
        let (tool, asks) = self.random.weighted(&TOOLS);
        let message = json!({
            "jsonrpc": "2.0",
            "id": mark.to_string(),
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": { "word": mark.to_string() },
                "_meta": { "progressToken": mark.to_string(), "call": mark.call },
            },
        });
        Call { mark, message, tool, asks, session: None }
    }

    /// Makes a call, and notes what the audit log must say of it.
    fn ask_audited(&self, call: &Call) -> Asked<Value> {
        let asked = self.ask(call);
        let due = asked.as_ref().map_or(Due::Unknown, |answer| Due::Answered(Outcome::of(answer)));
        let by = By::Token(self.name.to_owned());
        self.run.audit.owe_by(by, self.pid, &call.message["id"].to_string(), due);
        asked
    }

    /// Makes a call, checks everything before its answer, and returns the answer.
    fn ask(&self, call: &Call) -> Asked<Value> {
        let stateless = [("Mcp-Method", "tools/call"), ("Mcp-Name", call.tool), STATELESS];
        let headers =
            self.headers(call.session.as_deref(), if call.session.is_some() { &[] } else { &stateless });
        let mut connection = self.send(&post(&headers, &call.message))?;
        let head = connection.head()?;
        if !head.is_events {
            let answer = connection.json()?;
            self.look_at(&answer, Some(&call.mark));
            return if answer["id"] == call.message["id"] {
                Ok(answer)
            } else {
                Err(format!("status {} and {}", head.status, excerpt(&answer.to_string())))
            };
        }
        let mut text = EventBlocks::default();
        while let Some(event) = connection.event(&mut text)? {
            let Some(message) = event.message else { continue };
            self.look_at(&message, Some(&call.mark));
            match message["method"].as_str() {
                Some("elicitation/create") => self.answer(call, &message)?,
                Some(method) => self.run.tally.notification(method),
                None => return Ok(message),
            }
        }
        Err(format!("the stream of {} ended without an answer", call.mark))
    }

    /// Everything that a caller receives must belong to it and to this call.
    fn look_at(&self, message: &Value, call: Option<&Mark>) {
        let text = message.to_string();
        if planted::is_in(text.as_bytes()) {
            self.run.violations.add(Kind::Secret, SERVER, &excerpt(&text));
        }
        let is_own = |mark: &Mark| mark.name == self.name && call.is_none_or(|call| *call == *mark);
        if let Some(foreign) = Mark::all_in(&text).into_iter().find(|mark| !is_own(mark)) {
            let whose = call.map_or_else(|| self.name.to_owned(), Mark::to_string);
            let what = format!("{whose} got what is of {foreign}: {}", excerpt(&text));
            self.run.violations.add(Kind::ForeignCaller, SERVER, &what);
        }
    }

    /// Answers a question of the call with its own mark.
    fn answer(&self, call: &Call, question: &Value) -> Asked<()> {
        self.run.tally.question("answered by a caller with a name");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": accept(call) });
        let headers = self.headers(call.session.as_deref(), &[]);
        let status = self.send(&post(&headers, &answer))?.head()?.status;
        if status == 202 { Ok(()) } else { Err(format!("status {status} for an answer")) }
    }

    /// The result contains the mark of its call and no other; a call that asks also returns its own caller's
    /// answer.
    fn judge(&self, call: &Call, answer: &Value) -> Asked<()> {
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let (own, least) = (call.mark.to_string(), if call.asks { 2 } else { 1 });
        let is_whole = answer["result"]["isError"] != true && text.matches(&own).count() >= least;
        let outcome = if is_whole { Outcome::Result } else { Outcome::ToolError };
        self.run.tally.request(CALLS, outcome);
        if is_whole { Ok(()) } else { Err(format!("{own}, {}: {}", call.tool, excerpt(&answer.to_string()))) }
    }

    fn begin_session(&mut self) -> Asked<()> {
        let hello = post(&self.headers(None, &[]), &initialize(&capabilities()));
        let head = self.send(&hello)?.head()?;
        let session = head.session.ok_or_else(|| format!("no session, but status {}", head.status))?;
        let headers = self.headers(Some(&session), &[]);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(&post(&headers, &ready))?.head()?;
        let level = json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": "debug" } });
        self.send(&post(&headers, &level))?.head()?;
        self.session = Some(session);
        Ok(())
    }

    /// Checks the session's messages outside calls, and deletes it.
    fn end_session(&mut self) -> Asked<()> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let headers = self.headers(Some(&session), &[]);
        let mut unasked = self.send(&get(&headers, None))?;
        let head = unasked.head()?;
        if !head.is_events {
            return Err(format!("status {} for the stream of a session", head.status));
        }
        let status = thread::scope(|scope| {
            scope.spawn(|| {
                let mut text = EventBlocks::default();
                // It ends with the session.
                while let Ok(Some(event)) = unasked.event(&mut text) {
                    event.message.iter().for_each(|message| self.look_at(message, None));
                }
            });
            Ok::<_, String>(self.send(&delete(&headers))?.head()?.status)
        })?;
        if status == 200 { Ok(()) } else { Err(format!("status {status} for the end of a session")) }
    }

    fn headers<'b>(
        &'b self,
        session: Option<&'b str>,
        others: &[(&'b str, &'b str)],
    ) -> Vec<(&'b str, &'b str)> {
        let session = session.map(|session| ("Mcp-Session-Id", session));
        [&[("Authorization", &*self.authorization)], session.as_slice(), others].concat()
    }

    fn send(&self, bytes: &[u8]) -> Asked<Connection> {
        let mut connection = Connection::open(self.address)?;
        connection.send(bytes)?;
        Ok(connection)
    }
}

/// The name under which these calls are counted.
const CALLS: &str = "tools/call by name";

fn capabilities() -> Value {
    json!({ "elicitation": {} })
}

fn accept(call: &Call) -> Value {
    json!({ "action": "accept", "content": { "who": call.mark.to_string() } })
}
