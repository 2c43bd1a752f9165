//! The fixtures of the official conformance suite (`tests/conformance/project`) in detail: the suite checks
//! shapes, these tests check contents, order and ids. The suite uses only HTTP; these tests use standard
//! input and output as well, in both eras.

mod questions;
mod served;

use crate::harness::http::{HttpServer, HttpSession, Incoming, stateless};
use crate::harness::{Project, Server, code};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The capabilities of the suite's own client.
fn everything() -> Value {
    json!({ "sampling": {}, "elicitation": {}, "roots": { "listChanged": true } })
}

/// The same for a session, where the server would ask for roots at the start.
fn user_and_model() -> Value {
    json!({ "sampling": {}, "elicitation": {} })
}

/// A client of a server with the fixtures.
struct Client<'a> {
    project: &'a Project,
    way: Way<'a>,
    /// Its capabilities, if each of its requests carries them.
    offers: Option<Value>,
    last_id: i64,
}

/// The transport of a client.
enum Way<'a> {
    Pipes(Box<Server>),
    Session(HttpSession<'a>),
    /// Over HTTP, each request on its own.
    Posts(&'a HttpServer),
}

/// A request and its answer.
struct Exchange {
    id: i64,
    /// None if the answer comes on a shared stream.
    incoming: Option<Incoming>,
}

fn fixtures() -> Project {
    Project::copy_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/project"))
}

/// Logs only what a client asks for.
const QUIET: [(&str, &str); 1] = [("MCPBASH_LOG_LEVEL", "emergency")];

/// With a session of the newest revision that has sessions, over pipes and over HTTP.
fn with_sessions(offers: &Value, check: impl Fn(&mut Client<'_>)) {
    let project = &fixtures();
    let mut server = Server::start_with(project.root(), &QUIET);
    server.initialize_offering("2025-11-25", offers);
    check(&mut Client { project, way: Way::Pipes(Box::new(server)), offers: None, last_id: 100 });
    let project = &fixtures();
    let server = HttpServer::start_with(project.root(), &[], &QUIET);
    let session = server.session_offering("2025-11-25", offers);
    check(&mut Client { project, way: Way::Session(session), offers: None, last_id: 100 });
}

/// Without sessions, over pipes and over HTTP.
fn without_sessions(offers: &Value, check: impl Fn(&mut Client<'_>)) {
    let project = &fixtures();
    let server = Server::start_with(project.root(), &QUIET);
    let way = Way::Pipes(Box::new(server));
    check(&mut Client { project, way, offers: Some(offers.clone()), last_id: 100 });
    let project = &fixtures();
    let server = HttpServer::start_with(project.root(), &[], &QUIET);
    check(&mut Client { project, way: Way::Posts(&server), offers: Some(offers.clone()), last_id: 100 });
}

/// In both eras.
fn in_every_way(check: impl Fn(&mut Client<'_>)) {
    with_sessions(&user_and_model(), &check);
    without_sessions(&everything(), &check);
}

impl Client<'_> {
    fn has_session(&self) -> bool {
        self.offers.is_none()
    }

    /// Sends a request. Without a session it carries its full `_meta`, merged with that of the params.
    fn send(&mut self, method: &str, mut params: Value) -> Exchange {
        self.last_id += 1;
        let id = self.last_id;
        if let Some(offers) = &self.offers {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = offers.clone();
        }
        let incoming = match &mut self.way {
            Way::Pipes(server) => {
                server.request(id, method, &params);
                None
            }
            Way::Session(session) => Some(session.request(id, method, &params).incoming()),
            Way::Posts(server) => {
                let mut http = server.connect();
                http.send(&stateless(id, method, &params));
                Some(http.incoming())
            }
        };
        Exchange { id, incoming }
    }

    /// The next message.
    fn next(&mut self, exchange: &mut Exchange) -> Value {
        match (&mut self.way, &mut exchange.incoming) {
            (Way::Pipes(server), _) => server.receive(),
            (_, incoming) => incoming.as_mut().and_then(Incoming::next).expect("a message"),
        }
    }

    /// The messages before the answer, and the answer. Nothing follows it.
    fn finish(&mut self, mut exchange: Exchange) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.next(&mut exchange);
            if message["id"] == exchange.id && message.get("method").is_none() {
                if let Some(incoming) = &mut exchange.incoming {
                    assert_eq!(incoming.next(), None, "after the answer");
                }
                return (before, message);
            }
            before.push(message);
        }
    }

    fn exchange(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let exchange = self.send(method, params);
        self.finish(exchange)
    }

    /// The answer. No message may precede it.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        let (before, answer) = self.exchange(method, params);
        assert!(before.is_empty(), "{method}: {before:?}");
        answer
    }

    /// The error of a request, and its status over HTTP.
    fn refusal(&mut self, method: &str, params: Value) -> (i64, Option<u16>) {
        let exchange = self.send(method, params);
        let status = exchange.incoming.as_ref().map(|incoming| incoming.status);
        (code(&self.finish(exchange).1), status)
    }

    /// The result, which must be complete.
    fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        self.complete(&answer)
    }

    /// The result of an answer. It must be complete and of the client's era.
    fn complete(&self, answer: &Value) -> Value {
        let result = &answer["result"];
        assert!(result.is_object(), "{answer}");
        let identity = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        if self.has_session() {
            assert!(result.get("resultType").is_none() && identity.is_null(), "{answer}");
        } else {
            assert_eq!(result["resultType"], "complete", "{answer}");
            assert_eq!((&identity["name"], &identity["version"]), (&json!("conformance"), &json!("1.0.0")));
        }
        result.clone()
    }

    /// The content of a tool that succeeded.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], false, "{result}");
        result["content"].clone()
    }

    /// Calls a tool with more params than its name and arguments.
    fn call_with(&mut self, tool: &str, more: &Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": {} });
        for (name, value) in more.as_object().expect("members") {
            params[name] = value.clone();
        }
        self.answer("tools/call", params)
    }

    /// The next message, which must be a question of the server.
    fn question(&mut self, exchange: &mut Exchange, method: &str) -> Value {
        let question = self.next(exchange);
        assert_eq!(question["method"], method, "{question}");
        assert!(question["id"].is_string() || question["id"].is_i64(), "{question}");
        question
    }

    /// Answers a question of the server.
    fn reply(&mut self, question: &Value, result: &Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        match &mut self.way {
            Way::Pipes(server) => server.send(&answer),
            Way::Session(session) => assert_eq!(session.send(&answer).response().status, 202),
            Way::Posts(_) => panic!("without a session nothing is asked in this way: {question}"),
        }
    }
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn pixel(client: &Client<'_>) -> String {
    BASE64.encode(fs::read(client.project.path("resources/static-binary.png")).expect("a picture"))
}

fn metadata(client: &Client<'_>, tool: &str) -> Value {
    let text = client.project.read(&format!("tools/{tool}/tool.meta.json"));
    serde_json::from_str(&text).expect("metadata")
}
