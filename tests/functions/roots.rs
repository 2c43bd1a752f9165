//! The client's roots in Python and Node.js functions: without a session, the client is asked for them when a
//! function first needs them.

use crate::functions::text;
use crate::harness::{Project, Server, stateless_meta};
use serde_json::{Value, json};
use tempfile::TempDir;

const PYTHON: &str = "from mcp_bash import aio, inside_roots, tool

@tool
def hello() -> str:
    return 'hello'

@tool
def inside(path: str) -> str:
    open('begun', 'a').write('x')
    return str(inside_roots(path))

@tool
async def inside_async(path: str) -> str:
    open('begun', 'a').write('x')
    return str(await aio.inside_roots(path))
";

const NODE: &str = "import { appendFileSync } from 'node:fs'
import { askInsideRoots, insideRoots, tool } from 'mcp-bash'

export const greet = tool('x', {}, () => 'hello')
export const within = tool('x', { path: 'string' }, async ({ path }) => {
  appendFileSync('begun', 'x')
  return askInsideRoots(path)
})
export const known = tool('x', { path: 'string' }, ({ path }) => insideRoots(path))
";

/// The tools that ask for roots.
const ASKING: [&str; 3] = ["inside", "inside_async", "within"];

fn project() -> Project {
    Project::new().file("tools/paths.py", PYTHON).file("tools/folders.mjs", NODE).file("data/x", "")
}

fn call(server: &mut Server, tool: &str, path: &str, more: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "roots": {} });
    let takes_path = !["hello", "greet"].contains(&tool);
    let arguments = if takes_path { json!({ "path": path }) } else { json!({}) };
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    server.ask("call", "tools/call", &params)
}

/// The answer to a call whose client is first asked for its roots, and returns these.
fn answered(server: &mut Server, tool: &str, path: &str, named: &Value) -> Value {
    answered_as("question", server, tool, path, named)
}

/// The same for a question of this name.
fn answered_as(name: &str, server: &mut Server, tool: &str, path: &str, named: &Value) -> Value {
    let asked = call(server, tool, path, &json!({}));
    let questions = &asked["result"]["inputRequests"];
    assert_eq!(questions[name]["method"], "roots/list", "{tool}: {asked}");
    let state = &asked["result"]["requestState"];
    let answers = json!({ name: { "roots": named } });
    call(server, tool, path, &json!({ "requestState": state, "inputResponses": answers }))
}

/// Functions that read a file, in a sandbox.
fn confined() -> Project {
    let python = "from mcp_bash import inside_roots, tool\n\n@tool\ndef read(path: str) -> str:\n    return open(inside_roots(path)).read()\n";
    let node = "import { readFileSync } from 'node:fs'\nimport { askInsideRoots, tool } from 'mcp-bash'\n\nexport const load = \
                tool('x', { path: 'string' }, async ({ path }) => readFileSync(await askInsideRoots(path), 'utf8'))\n";
    let plain = "from mcp_bash import tool\n\n@tool\ndef hello() -> str:\n    return 'hello'\n";
    Project::new()
        .file("server.d/server.meta.json", r#"{"name": "p", "sandbox": "on"}"#)
        .file("tools/reading.py", python)
        .file("tools/loading.mjs", node)
        .file("tools/plain.py", plain)
}

/// A folder of the client, and its list of roots.
fn elsewhere() -> (TempDir, String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().display().to_string();
    let named = json!([{ "uri": format!("file://{path}"), "name": "Mine" }]);
    (folder, path, named)
}

#[test]
fn a_function_asks_for_the_roots_of_the_client_when_it_needs_them() {
    let (_folder, theirs, named) = elsewhere();
    for tool in ASKING {
        let project = project();
        let mut server = Server::start(project.root());
        let path = format!("{theirs}/notes");
        assert_eq!(text(&answered(&mut server, tool, &path, &named)), path, "{tool}");
        // The function waited where it asked, and did not run again for the answer.
        assert_eq!(project.read("begun"), "x", "{tool}");

        // The answer is remembered for the connection, and the project's own folder is not added.
        for tool in ASKING.into_iter().chain(["known"]) {
            let own = project.path("data/x").display().to_string();
            let refused = call(&mut server, tool, &own, &json!({}));
            assert_eq!(refused["result"]["isError"], true, "{tool}: {refused}");
            assert!(text(&refused).ends_with(&format!("outside the open folders ({theirs})")), "{refused}");
            assert_eq!(text(&call(&mut server, tool, &path, &json!({}))), path, "{tool}");
        }
    }
}

#[test]
fn a_function_that_needs_no_roots_costs_no_second_request() {
    let project = project();
    let mut server = Server::start(project.root());
    for tool in ["hello", "greet"] {
        assert_eq!(text(&call(&mut server, tool, "", &json!({}))), "hello");
    }
    // A synchronous function has the folders of the project.
    let own = project.path("data/x").canonicalize().unwrap().display().to_string();
    assert_eq!(text(&call(&mut server, "known", &own, &json!({}))), own);
    let refused = call(&mut server, "known", "/etc/passwd", &json!({}));
    assert!(text(&refused).contains("`await askInsideRoots(path)`"), "{refused}");
}

#[test]
fn a_client_whose_roots_are_all_invalid_opens_nothing_to_functions() {
    let project = project();
    let own = project.path("data/x").canonicalize().unwrap().display().to_string();
    let wrong = json!([{ "uri": "file:///nonexist" }, { "uri": "https://example.com" }]);
    for tool in ASKING {
        let mut server = Server::start(project.root());
        let refused = answered(&mut server, tool, &own, &wrong);
        assert_eq!(refused["result"]["isError"], true, "{tool}: {refused}");
        assert!(text(&refused).contains("no path is allowed"), "{tool}: {refused}");
        // An empty list leaves the project's folders.
        let mut server = Server::start(project.root());
        assert_eq!(text(&answered(&mut server, tool, &own, &json!([]))), own, "{tool}");
    }
}

#[test]
fn a_confined_function_reads_a_file_of_the_user_in_its_first_call() {
    for tool in ["read", "load"] {
        let project = confined();
        let (_folder, theirs, named) = elsewhere();
        let path = format!("{theirs}/notes");
        std::fs::write(&path, "one two").unwrap();
        let mut server = Server::start(project.root());
        assert_eq!(text(&call(&mut server, "hello", "", &json!({}))), "hello", "it needs no roots");
        let answer = answered_as("roots", &mut server, tool, &path, &named);
        assert_eq!(text(&answer), "one two", "{tool}");
        assert_eq!(text(&call(&mut server, tool, &path, &json!({}))), "one two", "{tool}");
    }
}

#[test]
fn with_a_session_functions_know_the_roots_without_asking() {
    let project = project();
    let (_folder, theirs, named) = elsewhere();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
    server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
    let asked = server.receive();
    server.reply(&asked, &json!({ "roots": named }));
    for tool in ASKING.into_iter().chain(["known"]) {
        let path = format!("{theirs}/{tool}");
        let params = json!({ "name": tool, "arguments": { "path": path } });
        assert_eq!(text(&server.ask(tool, "tools/call", &params)), path);
    }
}
