//! Who receives a secret: the script that declares it, as a variable or as a descriptor, and no other.

use super::{SECRET, called, home, project, serve, text};
use crate::harness::Project;
use serde_json::json;

/// Says whether a value is the secret, without saying it.
const LENGTH_AND_SUM: &str = r#"printf '%s %s\n' "${#TOKEN}" "$(printf %s "$TOKEN" | cksum)""#;

fn length_and_sum(value: &str) -> String {
    let output = std::process::Command::new("sh").args(["-c", LENGTH_AND_SUM]).env("TOKEN", value).output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim_end().to_owned()
}

#[test]
fn only_the_tool_that_declares_a_secret_receives_it() {
    let project = project(&format!("#!/usr/bin/env bash\n{LENGTH_AND_SUM}\n"))
        .tool("other", "#!/usr/bin/env bash\nenv | grep -c ^TOKEN= || true\ntr '\\0' '\\n' </proc/$PPID/environ 2>&1 | grep -c ^TOKEN= || true\n")
        .file("tools/asks/tool.meta.json", r#"{"name": "asks", "description": "Names it in env", "env": ["TOKEN"]}"#)
        .script("tools/asks/tool.sh", "#!/bin/sh\necho \"<${TOKEN-none}>\"\n");
    let home = home();
    // Root can read the memory of any process.
    let nowhere = if rustix::process::geteuid().is_root() { "0\n1" } else { "0\n0" };
    for mode in
        [vec![], vec![("MCPBASH_TOOL_ENV_MODE", "inherit"), ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true")]]
    {
        let mut server = serve(&project, &home, &mode);
        assert_eq!(text(&called(&mut server, "other")), nowhere, "{mode:?}");
        assert_eq!(text(&called(&mut server, "asks")), "<none>", "{mode:?}");
        assert_eq!(text(&called(&mut server, "uses")), length_and_sum(SECRET));
        assert_eq!(text(&called(&mut server, "other")), nowhere, "after it was used");
        server.finish();
    }
}

#[test]
fn env_sh_does_not_give_a_secret_to_everyone() {
    let project = project("#!/bin/sh\necho ok\n")
        .tool("other", "#!/bin/sh\necho \"<${TOKEN-none}>\"\n")
        .file("server.d/env.sh", "export TOKEN=\"exported-$TOKEN\"\n");
    let home = home();
    let mut server = serve(&project, &home, &[]);
    assert_eq!(text(&called(&mut server, "other")), "<none>");
}

#[test]
fn a_secret_can_be_a_descriptor_that_is_read_again_and_never_written() {
    let metadata = json!({
        "name": "file", "description": "Reads it", "secrets": { "KEY_FILE": { "name": "planted", "as": "file" } },
    });
    let script = r#"#!/usr/bin/env bash
case $KEY_FILE in /dev/fd/*) ;; *) echo "not a descriptor: $KEY_FILE"; exit 1 ;; esac
for _ in 1 2; do TOKEN=$(cat "$KEY_FILE"); printf '%s %s\n' "${#TOKEN}" "$(printf %s "$TOKEN" | cksum)"; done
(echo more >>"$KEY_FILE") 2>/dev/null && echo written
env | grep -c S3cr3t || true
"#;
    for sandbox in [json!(null), json!({ "read": ["project"] })] {
        let mut metadata = metadata.clone();
        metadata["sandbox"] = sandbox.clone();
        let project = Project::new()
            .script("tools/file/tool.sh", script)
            .file("tools/file/tool.meta.json", &metadata.to_string())
            .tool("other", "#!/bin/sh\nls -l /proc/self/fd | grep -c memfd || true\n");
        let home = home();
        let mut server = serve(&project, &home, &[("KEY_FILE", SECRET)]);
        let sum = length_and_sum(SECRET);
        assert_eq!(text(&called(&mut server, "file")), format!("{sum}\n{sum}\n0"), "{sandbox}");
        assert_eq!(text(&called(&mut server, "other")), "0");
        server.finish();
    }
}

#[test]
fn prompts_providers_and_workers_receive_theirs() {
    let worker = r#"#!/usr/bin/env python3
import os, sys, json
out = os.fdopen(3, "w", buffering=1)
out.write('{"ready":{"protocol":1}}\n')
for line in sys.stdin:
    call = json.loads(line)
    if "tool" not in call: continue
    token = os.environ.get("TOKEN", "none")
    text = str(len(token)) + " " + token
    result = {"content": [{"type": "text", "text": text}]}
    out.write(json.dumps({"call": call["call"], "result": result}) + "\n")
"#;
    let project = Project::new()
        .script(
            "prompts/p.sh",
            "#!/bin/sh\n# mcp: {\"secrets\": {\"TOKEN\": \"planted\"}}\necho \"${#TOKEN}\"\n",
        )
        .script("prompts/q.sh", "#!/bin/sh\n# mcp: {}\necho \"${#TOKEN}\"\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r", "secrets": {"TOKEN": "planted"}}"#)
        .file("resources/s.meta.json", r#"{"uri": "mine://s"}"#)
        .script("providers/mine.sh", "#!/bin/sh\nprintf %s \"${#TOKEN}\"\n")
        .script("tools/w/tool.py", worker)
        .file(
            "tools/w/tool.meta.json",
            r#"{"name": "w", "description": "A worker", "worker": true, "secrets": {"TOKEN": "planted"}}"#,
        );
    let home = home();
    let mut server = serve(&project, &home, &[]);
    let length = SECRET.len().to_string();
    for (name, expected) in [("p", length.as_str()), ("q", "0")] {
        let prompt = server.ask(1, "prompts/get", &json!({ "name": name }));
        assert_eq!(prompt["result"]["messages"][0]["content"]["text"], expected, "{prompt}");
    }
    for (uri, expected) in [("mine://r", length.as_str()), ("mine://s", "0")] {
        let read = server.ask(2, "resources/read", &json!({ "uri": uri }));
        assert_eq!(read["result"]["contents"][0]["text"], expected, "{read}");
    }
    let answer = called(&mut server, "w");
    assert_eq!(text(&answer), format!("{length} ***"), "{answer}");
}

#[test]
fn a_changed_value_reaches_the_next_call() {
    let project = project(&format!("#!/usr/bin/env bash\n{LENGTH_AND_SUM}\necho \"$TOKEN\"\n"));
    let home = home();
    let file = home.path().join("secrets.json");
    let mut server = serve(&project, &home, &[]);
    for value in ["first-value", "second-and-longer-value"] {
        super::write_private(&file, &json!({ "planted": { "value": value } }).to_string());
        assert_eq!(text(&called(&mut server, "uses")), format!("{}\n***", length_and_sum(value)));
    }
}

#[test]
fn functions_receive_theirs_and_no_others() {
    let python = r#"import os
from mcp_bash import tool

def look():
    token = os.environ.get("TOKEN", "")
    return f"{len(token)} {token}"

@tool(secrets={"TOKEN": "planted"})
def py_uses() -> str:
    """Uses a secret."""
    return look()

@tool
def py_other() -> str:
    """Uses none."""
    return look()
"#;
    let node = r"import { tool } from 'mcp-bash'

const look = () => `${(process.env.TOKEN ?? '').length} ${process.env.TOKEN ?? ''}`

export const node_uses = tool({ description: 'Uses a secret', secrets: { TOKEN: 'planted' } }, look)
export const node_other = tool('Uses none', look)
";
    let project = Project::new().file("tools/of_python.py", python).file("tools/of_node.mjs", node);
    let home = home();
    let mut server = serve(&project, &home, &[]);
    for language in ["py", "node"] {
        let uses = called(&mut server, &format!("{language}_uses"));
        assert_eq!(text(&uses), format!("{} ***", SECRET.len()), "{uses}");
        let other = called(&mut server, &format!("{language}_other"));
        assert_eq!(text(&other), "0", "{other}");
    }
    server.finish();
}
