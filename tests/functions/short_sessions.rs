//! Clients that start a server for each list or call: the cached definitions are there for the next one, and
//! an interpreter starts once.

use crate::functions::{call, names, quiet, quiet_with, text};
use crate::harness::{Project, Server};
use serde_json::{Value, json};

/// Records in `loaded` that it was loaded.
const IN_PYTHON: &str = "from mcp_bash import tool
open('loaded', 'a').write('p')
@tool
def python() -> str: return 'by Python'
";

const IN_NODE: &str = "import { appendFileSync } from 'node:fs'
import { tool } from 'mcp-bash'
appendFileSync('loaded', 'n')
export const node = tool('x', {}, () => 'by Node.js')
";

const PROVIDER: &str = "#!/bin/sh\n# mcp: {\"provider\": true}\ncase $1 in\nlist) printf a >>loaded; echo '{\"name\":\"provided\"}' ;;\nprovided) echo '{\"content\":[]}' ;;\nesac\n";

fn project() -> Project {
    Project::new()
        .file("tools/one.py", IN_PYTHON)
        .file("tools/two.mjs", IN_NODE)
        .script("tools/three", PROVIDER)
}

/// How often the files were loaded or listed, whichever came first.
fn loaded(project: &Project) -> String {
    let mut loaded: Vec<char> = project.read("loaded").chars().collect();
    loaded.sort_unstable();
    loaded.into_iter().collect()
}

/// A session that ends as soon as everything is sent.
fn session(project: &Project, method: &str, params: &Value) -> Value {
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    server.send_together(&[
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params }),
    ]);
    server.close_input();
    let mut answers = server.rest();
    assert!(server.wait().success());
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 2], "{answers:?}");
    answers.pop().unwrap()
}

fn listed(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn definitions_read_in_the_shortest_session_are_known_to_the_next() {
    let project = project();
    let list = || session(&project, "tools/list", &json!({}));
    assert_eq!(listed(&list()), ["node", "provided", "python"]);
    assert_eq!(loaded(&project), "anp");
    assert_eq!(listed(&list()), ["node", "provided", "python"]);
    assert_eq!(loaded(&project), "anp", "nobody is asked again");
    let called = session(&project, "tools/call", &json!({ "name": "python", "arguments": {} }));
    assert_eq!(text(&called), "by Python");
    assert_eq!(loaded(&project), "anpp", "only what is called is loaded");
}

#[test]
fn a_call_alone_fills_the_cache() {
    let project = Project::new().file("tools/one.py", IN_PYTHON);
    let called = session(&project, "tools/call", &json!({ "name": "python", "arguments": {} }));
    assert_eq!(text(&called), "by Python");
    assert_eq!(loaded(&project), "p");
    assert_eq!(listed(&session(&project, "tools/list", &json!({}))), ["python"]);
    assert_eq!(loaded(&project), "p");
}

#[test]
fn the_process_that_listed_the_tools_serves_the_calls() {
    let project = project();
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["node", "provided", "python"]);
    for _ in 0..2 {
        assert_eq!(text(&call(&mut server, "python", &json!({}))), "by Python");
        assert_eq!(text(&call(&mut server, "node", &json!({}))), "by Node.js");
    }
    assert_eq!(loaded(&project), "anp");
}

#[test]
fn a_command_that_calls_loads_the_file_once() {
    let project = Project::new().file("tools/one.py", IN_PYTHON);
    let run = || {
        let mut command = Server::command();
        let output = command.args(["call", "python", "--project-root"]).arg(project.root()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(), "by Python\n");
    assert_eq!(loaded(&project), "p");
    assert_eq!(run(), "by Python\n");
    assert_eq!(loaded(&project), "pp", "once for the call, and not for what there is");
}

#[test]
fn a_process_without_the_requested_variables_serves_no_call() {
    let needs = "import os
from mcp_bash import tool, worker
open('loaded', 'a').write('p')
worker(env=['WANTED'])
@tool
def wanted() -> str: return os.environ.get('WANTED', 'nothing')
";
    let project = Project::new().file("tools/needs.py", needs);
    let mut server = quiet_with(&project, &[("WANTED", "something")]);
    assert_eq!(names(&mut server), ["wanted"]);
    assert_eq!(text(&call(&mut server, "wanted", &json!({}))), "something");
    assert_eq!(loaded(&project), "pp");
}

#[test]
fn a_process_whose_file_has_changed_serves_no_call() {
    let project = Project::new().file("tools/one.py", IN_PYTHON);
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["python"]);
    let project = project.file("tools/one.py", &IN_PYTHON.replace("by Python", "by other Python"));
    assert_eq!(text(&call(&mut server, "python", &json!({}))), "by other Python");
    assert!(loaded(&project).len() >= 2);
}
