//! A worker stays in its sandbox, however many calls it has served.

use super::arena::{Arena, Report};
use super::identity::Identity;
use super::outside::Outside;
use crate::harness::Project;
use serde_json::json;

/// Attacks in the process of the worker itself, and by a program that it starts.
const FUNCTIONS: &str = r#"
import json, os, socket, subprocess
from mcp_bash import tool

@tool
def count(number: int) -> str:
    return f"{os.getpid()} {number}"

@tool
def attack(words: list[str]) -> str:
    return subprocess.run(["bin/hostile", *words], capture_output=True, text=True).stdout

def report(attack: str, work) -> str:
    try:
        return json.dumps({"attack": attack, "done": True, "errno": None, "note": str(work())})
    except OSError as error:
        return json.dumps({"attack": attack, "done": False, "errno": None, "note": str(error)})

@tool
def read(path: str) -> str:
    return report("read", lambda: open(path).read())

@tool
def write(path: str) -> str:
    return report("write", lambda: open(path, "a").write("x"))

@tool
def connect(port: int) -> str:
    return report("connect", lambda: socket.create_connection(("127.0.0.1", port), 5).close())

@tool
def signal(pid: int) -> str:
    return report("signal", lambda: os.kill(pid, 0))
"#;

fn project(sandbox: &str) -> Project {
    let metadata = json!({ "name": "test", "sandbox": sandbox });
    Project::new().file("tools/work.py", FUNCTIONS).file("server.d/server.meta.json", &metadata.to_string())
}

#[test]
fn a_worker_is_as_confined_after_a_hundred_calls_as_before() {
    for identity in Identity::all() {
        let outside = Outside::new(identity);
        for (sandbox, is_done) in [("on", false), ("off", true)] {
            let mut arena = Arena::with_project(identity, project(sandbox));
            let mut processes = Vec::new();
            for number in 0..100 {
                let answer = arena.call("count", &json!({ "number": number }));
                let (pid, counted) =
                    answer.split_once(' ').unwrap_or_else(|| panic!("{identity:?}: {answer}"));
                assert_eq!(counted, number.to_string());
                processes.push(pid.to_owned());
            }
            processes.dedup();
            assert_eq!(processes.len(), 1, "one worker served all calls");
            let (notes, server) = (outside.path("home/notes"), arena.server_pid());
            for (tool, arguments) in [
                ("read", json!({ "path": notes })),
                ("write", json!({ "path": notes })),
                ("connect", json!({ "port": outside.servers.tcp.port() })),
                ("signal", json!({ "pid": server })),
                ("attack", json!({ "words": ["read", notes] })),
                ("attack", json!({ "words": ["by-daemon", "read", notes] })),
                ("attack", json!({ "words": ["tcp", outside.servers.tcp] })),
                ("attack", json!({ "words": ["signal", server.to_string(), "0"] })),
                ("attack", json!({ "words": ["keyctl"] })),
            ] {
                let report = Report::read(&arena.call(tool, &arguments));
                let report = report.unwrap_or_else(|why| panic!("{tool} {arguments}, {identity:?}: {why}"));
                assert_eq!(
                    report.is_done, is_done,
                    "{tool} {arguments}, {sandbox}, {identity:?}: {report:?}"
                );
            }
        }
    }
}
