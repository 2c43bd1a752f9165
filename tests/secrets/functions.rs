//! Secrets of functions, in Python and JavaScript: only theirs, and gone from everything that they say.

use super::{SECRET, home, text};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PYTHON: &str = r#"import os
import sys
from mcp_bash import ToolError, log, progress, tool

def token():
    return os.environ.get("TOKEN", "none")

@tool(secrets={"TOKEN": "planted"})
def py_says(how: str) -> dict:
    """Says its secret in every way."""
    progress(1, 2, f"progress {token()}")
    log.error(f"log {token()}")
    print(f"printed {token()}")
    print(f"stderr {token()}", file=sys.stderr)
    if how == "raises":
        raise ValueError(f"raised {token()}")
    if how == "fails":
        raise ToolError(f"failed {token()}")
    return {token(): [token()], "length": len(token())}

@tool
def py_other(how: str) -> dict:
    """Has none."""
    return {"length": len(token())}
"#;

const NODE: &str = r"import { ToolError, log, progress, tool } from 'mcp-bash'

const token = () => process.env.TOKEN ?? 'none'

const says = ({ how }) => {
  progress(1, 2, `progress ${token()}`)
  log.error(`log ${token()}`)
  console.log(`printed ${token()}`)
  process.stderr.write(`stderr ${token()}\n`)
  if (how === 'raises') throw new TypeError(`raised ${token()}`)
  if (how === 'fails') throw new ToolError(`failed ${token()}`)
  return { [token()]: [token()], length: token().length }
}

const input = { how: 'string' }

export const node_says = tool({ description: 'Says its secret', input, secrets: { TOKEN: 'planted' } }, says)
export const node_other = tool({ description: 'Has none', input }, () => ({ length: token().length }))
";

/// Everything that a call brings.
fn call(server: &mut Server, tool: &str, how: &str) -> (Value, Vec<Value>) {
    let params = json!({ "name": tool, "arguments": { "how": how }, "_meta": { "progressToken": how } });
    server.request("call", "tools/call", &params);
    let mut before = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == "call" {
            return (message, before);
        }
        before.push(message);
    }
}

#[test]
fn a_secret_of_a_function_is_gone_from_all_that_it_says() {
    let project = Project::new().file("tools/of_python.py", PYTHON).file("tools/of_node.mjs", NODE);
    let (home, logs) = (home(), tempfile::tempdir().unwrap());
    let file = home.path().join("secrets.json");
    let environment = [
        ("TOKEN", SECRET),
        ("MCPBASH_SECRETS_FILE", file.to_str().unwrap()),
        ("MCPBASH_LOG_LEVEL", "debug"),
        ("MCPBASH_LOG_DIR", logs.path().to_str().unwrap()),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.ask_past_news("level", "logging/setLevel", &json!({ "level": "debug" }));
    for language in ["py", "node"] {
        for how in ["returns", "raises", "fails"] {
            let (answer, before) = call(&mut server, &format!("{language}_says"), how);
            let all = format!("{answer}{before:?}");
            assert!(!all.contains("S3cr3t"), "{language} {how}: {all}");
            let methods: BTreeSet<&str> = before.iter().filter_map(|one| one["method"].as_str()).collect();
            for method in ["notifications/progress", "notifications/message"] {
                assert!(methods.contains(method), "{language} {how}: {method} in {all}");
            }
            for kind in ["progress", "log", "printed"] {
                assert!(all.contains(&format!("{kind} ***")), "{language} {how}: {kind} in {all}");
            }
            match how {
                "returns" => {
                    let structured = &answer["result"]["structuredContent"];
                    assert_eq!(structured["length"], SECRET.len(), "it has the secret: {answer}");
                    assert_eq!(structured["***"], json!(["***"]), "{answer}");
                }
                _ => assert!(text(&answer).contains("***"), "{answer}"),
            }
        }
        let (answer, _) = call(&mut server, &format!("{language}_other"), "returns");
        assert_eq!(answer["result"]["structuredContent"]["length"], "none".len(), "{answer}");
    }
    let said = server.finish();
    assert!(!said.contains("S3cr3t"), "{said}");
    for entry in std::fs::read_dir(logs.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(!text.contains("S3cr3t"), "{}: {text}", path.display());
    }
}
