//! Functions of one process that serve two callers at once: each caller's notifications, questions and
//! answers stay its own, no matter which thread or event does the work.

use crate::harness::http::{Http, HttpServer, Incoming, initialize, post};
use crate::harness::{Project, Server};
use crate::http::callers::token;
use serde_json::{Value, json};

const PYTHON: &str = r"import asyncio, multiprocessing.pool
from concurrent.futures import ThreadPoolExecutor
from mcp_bash import confirm, context, log, meta, tool, worker

worker(processes=1, at_once=4)
pools = {}

def work():
    caller = context().caller
    print('printed by ' + caller)
    log.info('logged by ' + caller)
    answer = confirm('Delete the files of ' + caller + '?')
    print('answered ' + caller)
    return [context().caller, meta()['who'], answer]

@tool
def in_executor() -> list:
    if 'executor' not in pools:
        pools['executor'] = ThreadPoolExecutor(2)
    return pools['executor'].submit(work).result()

@tool
def in_pool() -> list:
    if 'pool' not in pools:
        pools['pool'] = multiprocessing.pool.ThreadPool(2)
    return pools['pool'].apply(work)

@tool
async def in_default_executor() -> list:
    return await asyncio.get_running_loop().run_in_executor(None, work)
";

const NODE: &str = r"import { EventEmitter } from 'node:events'
import { caller, confirm, log, meta, tool, worker } from 'mcp-bash'

worker({ processes: 1, atOnce: 4 })
const bus = new EventEmitter()

const work = async () => {
  const name = caller()
  console.log('printed by ' + name)
  log.info('logged by ' + name)
  const answer = await confirm('Delete the files of ' + name + '?')
  console.log('answered ' + name)
  return [caller(), meta().who, answer]
}

// Another call triggers the event that this one waits for.
export const waits = tool('x', {}, () =>
  new Promise((resolve) => {
    bus.once('wake', () => resolve(work()))
    log.info('waiting')
  }))

export const wakes = tool('x', {}, () => (bus.emit('wake') ? 'woken' : 'nobody waits'))
";

/// A server with one function file, and two callers identified by their tokens.
struct Scene {
    _project: Project,
    _folder: tempfile::TempDir,
    server: HttpServer,
    tokens: [String; 2],
}

impl Scene {
    fn new(path: &str, source: &str) -> Self {
        let project = Project::new().file(path, source);
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens");
        let tokens = ["alice", "bob"].map(|name| token(&file, name, &[]));
        let server = HttpServer::start_with(project.root(), &["--tokens", file.to_str().unwrap()], &[]);
        Self { _project: project, _folder: folder, server, tokens }
    }

    fn callers(&self) -> [Caller<'_>; 2] {
        let [alice, bob] = &self.tokens;
        [Caller::new(&self.server, "alice", alice), Caller::new(&self.server, "bob", bob)]
    }
}

struct Caller<'a> {
    server: &'a HttpServer,
    name: &'static str,
    bearer: String,
    session: String,
}

impl<'a> Caller<'a> {
    fn new(server: &'a HttpServer, name: &'static str, token: &str) -> Self {
        let bearer = format!("Bearer {token}");
        let message = initialize("2025-11-25", &json!({ "elicitation": {} })).to_string();
        let answer = server.send(&post(&[("Authorization", &bearer)], &message));
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let caller = Self { server, name, bearer, session };
        caller.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let level =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "logging/setLevel", "params": { "level": "info" } });
        assert_eq!(caller.send(&level).response().status, 200);
        caller
    }

    fn send(&self, message: &Value) -> Http {
        let mut http = self.server.connect();
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Mcp-Session-Id", &self.session),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        http.send(&post(&headers, &message.to_string()));
        http
    }

    /// Sends a message that gets no answer.
    fn tell(&self, message: &Value) {
        assert_eq!(self.send(message).response().status, 202);
    }

    fn call(&self, id: u32, tool: &str) -> Incoming {
        let params = json!({ "name": tool, "arguments": {}, "_meta": { "who": self.name } });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).incoming()
    }

    /// Reads up to the question. The question and everything before it must be for this caller.
    fn question(&self, messages: &mut Incoming) -> Value {
        let mut told = Vec::new();
        loop {
            let message = messages.next().expect("a question");
            if message["method"] != "elicitation/create" {
                told.push(message["params"]["data"].clone());
                continue;
            }
            assert_eq!(told, self.all_of(&["printed by", "logged by"]));
            assert_eq!(message["params"]["message"], format!("Delete the files of {}?", self.name));
            return message;
        }
    }

    fn answer(&self, question: &Value, yes: bool) {
        let result = json!({ "action": "accept", "content": { "confirmed": yes } });
        self.tell(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    }

    /// The rest of a call: its output after the question, and its result.
    fn expect_end(&self, messages: &mut Incoming, yes: bool) {
        let printed = messages.next().expect("what is printed");
        assert_eq!(printed["params"]["data"], self.all_of(&["answered"])[0], "{printed}");
        let result = messages.next().expect("a result");
        let text = result["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(text, format!(r#"["{0}","{0}",{yes}]"#, self.name), "{result}");
        assert_eq!(messages.next(), None);
    }

    fn all_of(&self, words: &[&str]) -> Vec<Value> {
        words.iter().map(|word| json!(format!("{word} {}", self.name))).collect()
    }
}

#[test]
fn each_caller_receives_only_its_own_notifications_and_questions() {
    let scene = Scene::new("tools/pooled.py", PYTHON);
    let [alice, bob] = scene.callers();
    for (number, tool) in ["in_executor", "in_pool", "in_default_executor"].iter().enumerate() {
        for round in 0..4 {
            let id = u32::try_from(number * 4 + round + 1).unwrap();
            let (first, second) = if round % 2 == 0 { (&alice, &bob) } else { (&bob, &alice) };
            let mut of_first = first.call(id, tool);
            let asked_first = first.question(&mut of_first);
            let mut of_second = second.call(id, tool);
            let asked_second = second.question(&mut of_second);
            // One caller's yes does not count for the other.
            second.answer(&asked_second, true);
            second.expect_end(&mut of_second, true);
            first.answer(&asked_first, false);
            first.expect_end(&mut of_first, false);
        }
    }
}

#[test]
fn a_listener_runs_for_the_caller_that_added_it() {
    let scene = Scene::new("tools/listening.mjs", NODE);
    let [alice, bob] = scene.callers();
    for (waiting, waking) in [(&alice, &bob), (&bob, &alice)] {
        let mut messages = waiting.call(1, "waits");
        assert_eq!(messages.next().unwrap()["params"]["data"], "waiting");
        let mut woken = waking.call(2, "wakes");
        assert_eq!(woken.next().unwrap()["result"]["content"][0]["text"], "woken");
        assert_eq!(woken.next(), None);
        let question = waiting.question(&mut messages);
        waiting.answer(&question, true);
        waiting.expect_end(&mut messages, true);
    }
}

#[test]
fn a_value_that_no_frame_can_hold_costs_one_call_and_not_the_worker() {
    let project = Project::new()
        .file(
            "tools/odd.py",
            r"from mcp_bash import tool, worker
worker(processes=1)
calls = []
@tool
def odd(what: str) -> dict:
    calls.append(what)
    value = 10 ** 2000 if what == 'digits' else len(calls)
    for _ in range(150 if what == 'nesting' else 0):
        value = [value]
    return {'value': value}
",
        )
        .file(
            "tools/odd.mjs",
            r"import { tool, worker } from 'mcp-bash'
worker({ processes: 1 })
let calls = 0
export const odd_node = tool('x', { what: 'string' }, ({ what }) => {
  calls += 1
  let value = calls
  for (let n = 0; n < (what === 'nesting' ? 150 : 0); n += 1) value = [value]
  return { value }
})
",
        );
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    server.initialize("2025-11-25");
    let mut call = |tool: &str, what: &str| {
        let params = json!({ "name": tool, "arguments": { "what": what } });
        server.ask_past_news(what, "tools/call", &params)["result"].clone()
    };
    for (tool, odd) in [("odd", "digits"), ("odd", "nesting"), ("odd_node", "nesting")] {
        let refused = call(tool, odd);
        assert_eq!(refused["isError"], true, "{refused}");
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("cannot be sent") && text.contains("structuredContent.value"), "{text}");
    }
    // One process has served all calls.
    assert_eq!(call("odd", "count")["structuredContent"]["value"], 3);
    assert_eq!(call("odd_node", "count")["structuredContent"]["value"], 2);
}
