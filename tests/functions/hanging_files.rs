//! Files that hang while they are loaded or asked for their tools: only their own tools are missing.

use crate::functions::{call, names, text};
use crate::harness::http::HttpServer;
use crate::harness::{Project, Server, Terminal, code, wait_until_gone};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Files may take longer than a test waits, so a server that waits for one fails the test.
const FOR_EVER: [(&str, &str); 2] =
    [("MCPBASH_WORKER_START_SECS", "31536000"), ("MCPBASH_PROVIDER_TIMEOUT", "31536000")];

const HANGS_IN_PYTHON: &str = "import os, signal, time
from mcp_bash import tool
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open('started', 'a').write(f'{os.getpid()}\\n')
time.sleep(100000)
@tool
def never() -> int: return 1
";

const HANGS_IN_NODE: &str = "import { appendFileSync } from 'node:fs'
import { tool } from 'mcp-bash'
appendFileSync('started', `${process.pid}\\n`)
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
export const neverToo = tool('x', {}, () => 1)
";

const HANGS_AS_PROVIDER: &str =
    "#!/bin/sh\n# mcp: {\"provider\": true}\ntrap '' TERM\necho $$ >>started\nexec sleep 100000\n";

const IN_PYTHON: &str = "from mcp_bash import tool
@tool
def python() -> str: return 'by Python'
";

const IN_NODE: &str = "import { tool } from 'mcp-bash'
export const node = tool('x', {}, () => 'by Node.js')
";

const PROVIDER: &str = "#!/bin/sh\n# mcp: {\"provider\": true}\ncase $1 in\nlist) echo '{\"name\":\"provided\"}' ;;\nprovided) echo '{\"content\":[{\"type\":\"text\",\"text\":\"by a provider\"}]}' ;;\nesac\n";

/// The names of the good tools, and their results.
const GOOD: [(&str, &str); 4] =
    [("hi", "hi"), ("node", "by Node.js"), ("provided", "by a provider"), ("python", "by Python")];

/// A project with one good file of each kind, and one of each kind that hangs.
fn project() -> Project {
    Project::with_hi()
        .file("tools/good.py", IN_PYTHON)
        .file("tools/good.mjs", IN_NODE)
        .script("tools/good", PROVIDER)
        .file("tools/hangs.py", HANGS_IN_PYTHON)
        .file("tools/hangs.mjs", HANGS_IN_NODE)
        .script("tools/hangs", HANGS_AS_PROVIDER)
}

fn ready(project: &Project, more: &[(&str, &str)]) -> Server {
    let settings = [&FOR_EVER, &[("MCPBASH_LOG_LEVEL", "emergency")][..], more].concat();
    Server::ready_with(project.root(), &settings, "2025-11-25")
}

fn said(answer: &Value) -> &str {
    text(answer).trim()
}

#[test]
fn good_files_are_served_beside_files_that_hang() {
    let project = project();
    let mut server = Server::ready_with(
        project.root(),
        &[&FOR_EVER[..], &[("MCPBASH_LIST_WAIT_SECS", "1")]].concat(),
        "2025-11-25",
    );
    for (tool, expected) in GOOD {
        assert_eq!(said(&call(&mut server, tool, &json!({}))), expected);
    }
    assert_eq!(names(&mut server), GOOD.map(|(name, _)| name));
    let hanging = project.wait_for_started(3);
    let log = server.finish();
    hanging.into_iter().for_each(wait_until_gone);
    for file in ["tools/hangs.py", "tools/hangs.mjs", "tools/hangs "] {
        let told = log.lines().filter(|line| line.contains(file) && line.contains("takes long to say"));
        assert_eq!(told.count(), 1, "{file} in {log}");
    }
}

#[test]
fn over_http_the_port_is_open_at_once() {
    let project = project();
    let settings = [&FOR_EVER[..], &[("MCPBASH_LIST_WAIT_SECS", "1")]].concat();
    let mut server = HttpServer::start_with(project.root(), &[], &settings);
    let session = server.session("2025-11-25");
    for (tool, expected) in GOOD {
        let answer = session.ask(1, "tools/call", &json!({ "name": tool, "arguments": {} }));
        assert_eq!(said(&answer), expected);
    }
    let listed = session.ask(2, "tools/list", &json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(listed.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), GOOD.map(|(name, _)| name));
    let hanging = project.wait_for_started(3);
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    hanging.into_iter().for_each(wait_until_gone);
}

#[test]
fn a_signal_kills_hanging_files_with_the_server() {
    let project = project();
    let mut server = ready(&project, &[]);
    let hanging = project.wait_for_started(3);
    server.signal(Signal::TERM);
    server.wait();
    hanging.into_iter().for_each(wait_until_gone);
}

#[test]
fn a_newer_version_of_a_file_kills_the_older_process() {
    for (file, hangs, good, tool) in [
        ("tools/changes.py", HANGS_IN_PYTHON, IN_PYTHON, "python"),
        ("tools/changes.mjs", HANGS_IN_NODE, IN_NODE, "node"),
    ] {
        let project = Project::with_hi().file(file, hangs);
        let mut server = ready(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
        assert_eq!(names(&mut server), ["hi"]);
        let [older] = project.wait_for_started(1)[..] else { panic!("it was started more than once") };
        let project = project.file(file, good);
        assert_eq!(server.receive()["method"], "notifications/tools/list_changed");
        wait_until_gone(older);
        assert_eq!(names(&mut server), ["hi", tool]);

        // Replaced again by a version that hangs: known tools stay, and the rest keeps working.
        let project =
            project.file(file, &format!("{}{hangs}", if file.ends_with("py") { "#\n" } else { "//\n" }));
        let [_, newer] = project.wait_for_started(2)[..] else { panic!("it was started more than once") };
        assert_eq!(said(&call(&mut server, "hi", &json!({}))), "hi");
        assert_eq!(names(&mut server), ["hi", tool]);
        project.remove(file);
        wait_until_gone(newer);
        assert_eq!(server.receive()["method"], "notifications/tools/list_changed");
        assert_eq!(names(&mut server), ["hi"]);
        server.finish();
    }
}

#[test]
fn a_newer_version_of_a_provider_kills_the_older_process() {
    let project = Project::with_hi().script("tools/changes", HANGS_AS_PROVIDER);
    let mut server = ready(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
    assert_eq!(names(&mut server), ["hi"]);
    let [older] = project.wait_for_started(1)[..] else { panic!("it was started more than once") };
    let _project = project.script("tools/changes", PROVIDER);
    assert_eq!(server.receive()["method"], "notifications/tools/list_changed");
    wait_until_gone(older);
    assert_eq!(names(&mut server), ["hi", "provided"]);
}

#[test]
fn a_list_waits_for_a_file_and_nothing_else_does() {
    let project = Project::with_hi().file("tools/hangs.py", HANGS_IN_PYTHON);
    let mut server = ready(&project, &[("MCPBASH_LIST_WAIT_SECS", "31536000")]);
    server.request("list", "tools/list", &json!({}));
    project.wait_for_started(1);
    server.expect_silence();
    assert_eq!(said(&call(&mut server, "hi", &json!({}))), "hi");
    server.request("unknown", "tools/call", &json!({ "name": "python", "arguments": {} }));
    server.expect_silence();
    // A cancelled list is not answered.
    server.request("cancelled", "prompts/list", &json!({}));
    server.notify("notifications/cancelled", &json!({ "requestId": "cancelled" }));
    let _project = project.file("tools/hangs.py", IN_PYTHON);
    let mut next = || std::iter::repeat_with(|| server.receive()).find(|message| message["id"].is_string());
    let mut answers = [next().unwrap(), next().unwrap()];
    answers.sort_by_key(|answer| answer["id"].to_string());
    let [listed, called] = answers;
    let listed = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
    assert_eq!(listed.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["hi", "python"]);
    assert_eq!(said(&called), "by Python");
    server.expect_silence();
}

#[test]
fn a_list_that_waits_is_answered_after_the_end_of_input() {
    let project = Project::with_hi().file("tools/hangs.py", HANGS_IN_PYTHON);
    let mut server = ready(&project, &[("MCPBASH_LIST_WAIT_SECS", "1")]);
    server.request("list", "tools/list", &json!({}));
    server.close_input();
    let answers = server.rest();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["result"]["tools"][0]["name"], "hi");
}

#[test]
fn a_call_waits_only_so_long_for_a_tool_that_may_appear() {
    let project = Project::with_hi().file("tools/hangs.py", HANGS_IN_PYTHON);
    let mut server = ready(&project, &[("MCPBASH_DEFAULT_TOOL_TIMEOUT", "1")]);
    let refused = call(&mut server, "never", &json!({}));
    assert_eq!(code(&refused), -32602);
    assert_eq!(refused["error"]["message"], "Unknown tool: never (tools/hangs.py is still being loaded)");
}

#[test]
fn a_command_names_the_file_it_waits_for() {
    let waits = format!("open('gate').readline()\n{IN_PYTHON}");
    let project = Project::with_hi().gate().file("tools/waits.py", &waits);
    let mut command = Server::command();
    command.args(["list", "tools", "--project-root"]).arg(project.root());
    let mut session = Terminal::of_columns(80).start(&command);
    session.wait_for("waiting for tools/waits.py to say what there is");
    project.open_gate();
    session.wait_for("python");
    assert_eq!(session.finish().0, Some(0));
}
