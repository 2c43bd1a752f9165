//! Secrets of a tool that runs elsewhere: they cross with the call, and everything that comes back is searched for them.

use super::custom::{SDK, text};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// With characters that a shell would take for its own.
const OF_VARIABLE: &str = "planted '$(id)' \"`id`\" \\ *:/tmp:";
const OF_FILE: &str = "planted-in-a-file\nwith a second line\n\\and no end";

const SCRIPT: &str = r#"
mcp_progress 10 "at $TOKEN"
mcp_log_warn mine "log $(cat "$KEY_FILE")"
echo "err $TOKEN" >&2
printf %s "$TOKEN" | cksum
cksum <"$KEY_FILE"
d=${KEY_FILE%/call/*}
stat -c %a "$d" "$KEY_FILE" "$d/call.sh"
echo "$TOKEN"
cat "$KEY_FILE"
exit "$(mcp_args_get '.code')"
"#;

fn sum(value: &str) -> String {
    let mut child = Command::new("cksum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), value.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim_end().to_owned()
}

#[test]
fn secrets_reach_the_tool_on_the_other_host_and_nothing_else() {
    let (home, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [store, seen] = ["secrets.json", "seen"].map(|name| home.path().join(name));
    let secrets = json!({ "token": { "value": OF_VARIABLE }, "key": { "value": OF_FILE } });
    fs::write(&store, secrets.to_string()).unwrap();
    fs::set_permissions(&store, Permissions::from_mode(0o600)).unwrap();
    // The launcher writes down what it was started with.
    let launch = format!(
        "{{ env; printf '%s\\n' \"$@\"; }} >>{}; exec env -i -C / PATH=/usr/bin:/bin \"$@\"",
        seen.display()
    );
    let metadata = json!({
        "name": "there",
        "description": "Runs elsewhere.",
        "launcher": { "run": ["sh", "-c", launch, "sh", "{command}"], "temporary": temporary.path() },
        "secrets": { "TOKEN": "token", "KEY_FILE": { "name": "key", "as": "file" } },
    });
    let project = Project::new()
        .script("tools/there/tool.sh", &format!("{SDK}{SCRIPT}"))
        .file("tools/there/tool.meta.json", &metadata.to_string());
    let mut server = Server::ready_with(
        project.root(),
        &[("MCPBASH_SECRETS_FILE", store.to_str().unwrap()), ("HOME", home.path().to_str().unwrap())],
        "2025-11-25",
    );
    let expected = [&*sum(OF_VARIABLE), &sum(OF_FILE), "700\n600\n700", "***", "***"].join("\n");
    let mut all = String::new();
    for code in [0, 3] {
        let meta = json!({ "progressToken": code });
        let params = json!({ "name": "there", "arguments": { "code": code }, "_meta": meta });
        server.request(code, "tools/call", &params);
        let answer: Value = loop {
            let message = server.receive();
            all.push_str(&message.to_string());
            if message["id"] == code {
                break message["result"].clone();
            }
        };
        assert_eq!(answer["isError"] == true, code != 0, "{answer}");
        if code == 0 {
            assert_eq!(text(&answer), expected, "{answer}");
        }
    }
    for method in ["notifications/progress", "notifications/message"] {
        assert!(all.contains(method), "{method} in {all}");
    }
    let stderr = server.finish();
    let started = fs::read_to_string(&seen).unwrap();
    assert!(started.contains("PATH="), "{started}");
    for (what, said) in [("the answers", &all), ("standard error", &stderr), ("the launcher", &started)] {
        for part in ["planted", "$(id)", "with a second line", "and no end"] {
            assert!(!said.contains(part), "{what}: {part} in {said}");
        }
    }
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0, "nothing stays on the other host");
}
