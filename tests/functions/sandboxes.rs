//! Functions with a `sandbox` of their own: served by a process of their own, which cannot read the user's home.

use super::{call, quiet_with, text, told_of};
use crate::harness::{Project, Server};
use serde_json::{Value, json};

const PYTHON: &str = r#"import os, subprocess
from mcp_bash import prompt, resource, tool

def look(path):
    child = subprocess.run(["cat", path], capture_output=True, text=True)
    try:
        return [os.getpid(), open(path).read(), child.stdout, os.environ["HOME"]]
    except PermissionError:
        return [os.getpid(), "denied", child.stdout, os.environ["HOME"]]

@tool
def free(path: str) -> list:
    return look(path)

@tool(sandbox="on")
def confined(path: str) -> list:
    return look(path)

@tool(sandbox={"read": ["project", "~/shared"], "cpu_secs": 60})
def partly(path: str) -> list:
    return look(path)

@resource("home://{name}", sandbox="on")
def in_home(name: str) -> str:
    return look(os.environ["LOOKED_AT"])[1]

@prompt(sandbox="on")
def about(path: str) -> str:
    return look(path)[1]
"#;

const NODE: &str = r"import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { prompt, resource, tool, worker } from 'mcp-bash'

worker({ sandbox: 'on' })

const look = (path) => {
  let printed = ''
  try { printed = execFileSync('cat', [path], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }) } catch {}
  try {
    return [process.pid, readFileSync(path, 'utf8'), printed, process.env.HOME]
  } catch (error) {
    if (error.code !== 'EACCES') throw error
    return [process.pid, 'denied', printed, process.env.HOME]
  }
}

export const free = tool({ input: { path: 'string' }, sandbox: 'off' }, ({ path }) => look(path))
export const confined = tool('x', { path: 'string' }, ({ path }) => look(path))
export const partly = tool(
  { input: { path: 'string' }, sandbox: { read: ['project', '~/shared'], cpuSecs: 60 } },
  ({ path }) => look(path),
)
export const in_home = resource('home://{name}', () => look(process.env.LOOKED_AT)[1])
export const about = prompt('x', { path: 'string' }, ({ path }) => look(path)[1])
";

#[test]
fn a_python_function_with_a_sandbox_has_a_process_of_its_own_and_cannot_read_the_home() {
    a_function_with_a_sandbox_is_apart("tools/looking.py", PYTHON);
}

#[test]
fn a_node_function_with_a_sandbox_has_a_process_of_its_own_and_cannot_read_the_home() {
    a_function_with_a_sandbox_is_apart("tools/looking.mjs", NODE);
}

fn a_function_with_a_sandbox_is_apart(file: &str, source: &str) {
    let home = Project::new().file("secret", "a key").file("shared/note", "a note");
    let secret = home.path("secret").to_str().unwrap().to_owned();
    let project = Project::new().file(file, source).file("data.txt", "data");
    // A link inside the project does not lead out of it.
    std::os::unix::fs::symlink(&secret, project.path("link")).unwrap();
    let home_folder = home.root().to_str().unwrap();
    let mut server = quiet_with(
        &project,
        &[("HOME", home_folder), ("LOOKED_AT", &secret), ("MCPBASH_TOOL_ENV_ALLOWLIST", "LOOKED_AT")],
    );
    let mut look = |tool: &str, path: &str| seen(&mut server, tool, path);

    let free = look("free", &secret);
    assert_eq!((&free[1], &free[2], &free[3]), (&json!("a key"), &json!("a key"), &json!(home_folder)));
    let confined = look("confined", &secret);
    assert_eq!((&confined[1], &confined[2]), (&json!("denied"), &json!("")));
    assert_ne!(confined[0], free[0], "they share a process");
    assert_ne!(confined[3], free[3], "it has the home of the user");
    let link = project.path("link");
    assert_eq!(look("confined", link.to_str().unwrap())[1], "denied");
    let data = look("confined", project.path("data.txt").to_str().unwrap());
    assert_eq!((&data[0], &data[1]), (&confined[0], &json!("data")), "the process is kept");

    let note = home.path("shared/note");
    assert_eq!(look("confined", note.to_str().unwrap())[1], "denied");
    let partly = look("partly", note.to_str().unwrap());
    assert_eq!(partly[1], "a note");
    assert!(partly[0] != free[0] && partly[0] != confined[0], "different sandboxes share a process");
    assert_eq!(look("partly", &secret)[1], "denied");

    let read = server.ask_past_news("read", "resources/read", &json!({ "uri": "home://x" }));
    assert_eq!(read["result"]["contents"][0]["text"], "denied", "{read}");
    let prompted = json!({ "name": "about", "arguments": { "path": secret } });
    let prompted = server.ask_past_news("get", "prompts/get", &prompted);
    assert_eq!(prompted["result"]["messages"][0]["content"]["text"], "denied", "{prompted}");
}

/// What a function saw: its process, the file as it and as a child reads it, and its home.
fn seen(server: &mut Server, tool: &str, path: &str) -> Value {
    let answer = call(server, tool, &json!({ "path": path }));
    serde_json::from_str(text(&answer)).unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
fn a_sandbox_that_cannot_be_understood_is_named_and_its_file_is_not_served() {
    for (file, source, problem) in [
        (
            "tools/key.py",
            "from mcp_bash import tool\n\n@tool(sandbox={'reads': []})\ndef f() -> int:\n    return 1\n",
            "@tool(sandbox=…) knows no key 'reads'; there are mode, read, write",
        ),
        (
            "tools/word.py",
            "from mcp_bash import worker, tool\nworker(sandbox='maybe')\n@tool\ndef f() -> int:\n    return 1\n",
            "`sandbox` is 'maybe', and must be",
        ),
        (
            "tools/key.mjs",
            "import { tool } from 'mcp-bash'\nexport const f = tool({ input: {}, sandbox: { netwrk: 'all' } }, () => 1)\n",
            "`sandbox` of tool() knows no key `netwrk`",
        ),
        (
            "tools/path.mjs",
            "import { tool } from 'mcp-bash'\nexport const f = tool({ input: {}, sandbox: { read: ['logs'] } }, () => 1)\n",
            "`sandbox.read`: 'logs' is neither an absolute path nor",
        ),
    ] {
        let project = Project::new().file(file, source);
        let mut server = Server::ready(project.root());
        let listed = server.ask_past_news("list", "tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"], json!([]), "{file}");
        let told = told_of(server, file);
        assert!(told.contains(problem), "{file}: {told}");
    }
}

/// As for a process of its own, the result says what would allow it.
#[test]
fn a_denial_is_explained() {
    let python =
        "from mcp_bash import tool\n\n@tool\ndef read(path: str) -> str:\n    return open(path).read()\n";
    let node = "import { readFileSync } from 'node:fs'\nimport { tool } from 'mcp-bash'\n\nexport const load = \
                tool('x', { path: 'string' }, ({ path }) => readFileSync(path, 'utf8'))\n";
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().canonicalize().unwrap().join("notes");
    std::fs::write(&file, "one").unwrap();
    let project = Project::new()
        .file("server.d/server.meta.json", r#"{"name": "p", "sandbox": "on"}"#)
        .file("tools/reading.py", python)
        .file("tools/loading.mjs", node);
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    for tool in ["read", "load"] {
        let mut told = |path: &str| {
            let params = json!({ "name": tool, "arguments": { "path": path } });
            let answer = server.ask(tool, "tools/call", &params);
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            answer["result"]["content"].to_string()
        };
        let denied = told(&file.display().to_string());
        assert!(denied.contains("Probably denied by its sandbox: reading "), "{denied}");
        assert!(denied.contains("metadata would allow it"), "{denied}");
        // A failure of another kind is not explained.
        let missing = told(&project.path("none").display().to_string());
        assert!(!missing.contains("sandbox"), "{missing}");
    }
}
