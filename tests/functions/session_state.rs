//! The state of a session: kept between calls by the server, whichever process serves them, and never shared between
//! sessions or callers. The state of a module is shared, so a file that has one is served by one process.

use crate::functions::{call, quiet, text};
use crate::harness::http::{HttpServer, HttpSession, stateless};
use crate::harness::{Project, Server};
use serde_json::{Value, json};

const PYTHON: &str = r#"import os
from mcp_bash import Context, tool, worker

worker(processes=4, max_calls=1)

@tool
def count(ctx: Context) -> list:
    """Counts the calls of a session. Each call has a process of its own."""
    ctx.state["n"] = ctx.state.get("n", 0) + 1
    return [ctx.state["n"], os.getpid()]

@tool
def fill(ctx: Context, size: int) -> str:
    """Fills the state."""
    ctx.state["large"] = "x" * size
    return "filled"
"#;

const NODE: &str = r"import { tool, worker } from 'mcp-bash'
worker({ processes: 4, maxCalls: 1 })
export const count = tool('Counts the calls of a session.', {}, (_, { state }) => {
  state.n = (state.n ?? 0) + 1
  return [state.n, process.pid]
})
";

fn counted(answer: &Value) -> (u64, u64) {
    let value: Value = serde_json::from_str(text(answer)).unwrap_or_else(|_| panic!("{answer}"));
    (value[0].as_u64().unwrap(), value[1].as_u64().unwrap())
}

#[test]
fn state_is_kept_from_one_process_to_the_next() {
    for (file, source) in [("tools/state.py", PYTHON), ("tools/state.mjs", NODE)] {
        let project = Project::new().file(file, source);
        let mut server = quiet(&project);
        let calls: Vec<_> = (0..3).map(|_| counted(&call(&mut server, "count", &json!({})))).collect();
        assert_eq!(calls.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [1, 2, 3]);
        assert_ne!(calls[0].1, calls[2].1, "the same process");
        server.finish();
        // Another session begins without it.
        let mut server = quiet(&project);
        assert_eq!(counted(&call(&mut server, "count", &json!({}))).0, 1);
    }
}

#[test]
fn sessions_over_http_have_their_own() {
    let project = Project::new().file("tools/state.py", PYTHON);
    let server = HttpServer::start(project.root());
    let [one, other] = [server.session("2025-11-25"), server.session("2025-11-25")];
    let count = |session: &HttpSession<'_>, id: u32| {
        let params = json!({ "name": "count", "arguments": {} });
        let mut messages = session.request(id, "tools/call", &params).incoming();
        counted(&std::iter::from_fn(|| messages.next()).find(|message| message["id"] == id).unwrap()).0
    };
    assert_eq!(
        [count(&one, 1), count(&other, 1), count(&one, 2), count(&one, 3), count(&other, 2)],
        [1, 1, 2, 3, 2]
    );
    // A request without a session has none, and says so.
    let answer =
        server.send(&stateless(1, "tools/call", &json!({ "name": "count", "arguments": {} }))).json();
    assert!(text(&answer).contains("This client has no session"), "{answer}");
    assert_eq!(count(&other, 3), 3);
}

#[test]
fn too_much_state_fails_the_call_and_leaves_the_rest() {
    let project = Project::new().file("tools/state.py", PYTHON);
    let mut server = quiet(&project);
    assert_eq!(counted(&call(&mut server, "count", &json!({}))).0, 1);
    let refused = call(&mut server, "fill", &json!({ "size": 70_000 }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains("65536 are allowed"), "{refused}");
    assert_eq!(text(&call(&mut server, "fill", &json!({ "size": 60_000 }))), "filled");
    assert_eq!(counted(&call(&mut server, "count", &json!({}))).0, 2);
}

const VISITS: &str = r#"import os, time
from mcp_bash import tool

VISITS = []

@tool
def visit(name: str) -> list:
    """Notes a visit."""
    VISITS.append(name)
    time.sleep(0.05)
    return [len(VISITS), os.getpid()]
"#;

/// Sends several calls at once and collects their answers.
fn visits(server: &mut Server) -> Vec<(u64, u64)> {
    for id in 0..6 {
        server.request(id, "tools/call", &json!({ "name": "visit", "arguments": { "name": "x" } }));
    }
    let mut found = Vec::new();
    while found.len() < 6 {
        let message = server.receive();
        if message["id"].is_u64() {
            found.push(counted(&message));
        }
    }
    found
}

#[test]
fn a_file_with_state_in_its_module_is_served_by_one_process() {
    let project = Project::new().file("tools/visits.py", VISITS);
    let found = visits(&mut quiet(&project));
    assert!(found.iter().all(|(_, process)| *process == found[0].1), "{found:?}");
    let mut counts: Vec<u64> = found.iter().map(|(count, _)| *count).collect();
    counts.sort_unstable();
    assert_eq!(counts.last(), Some(&6));
}

#[test]
fn state_that_several_processes_would_have_is_reported() {
    let several =
        VISITS.replace("VISITS = []", "from mcp_bash import worker\nworker(processes=2)\nVISITS = []");
    let project = Project::new().file("tools/visits.py", &several);
    for command in ["validate", "doctor"] {
        let said = Server::command().args([command, "--project-root"]).arg(project.root()).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains("each of them has its own `VISITS` (line 6)"), "{command}: {said}");
        assert!(said.contains("worker(processes=…)"), "{command}: {said}");
    }
    // Nothing is said of a file that has one process.
    let project = Project::new().file("tools/visits.py", VISITS);
    let said = Server::command().args(["validate", "--project-root"]).arg(project.root()).output().unwrap();
    assert!(!String::from_utf8_lossy(&said.stdout).contains("VISITS"));
}
