//! `mcp-bash call --trace-access`: what a tool touches, what is denied, and the sandbox that is offered for it.

// Elsewhere system calls cannot be traced.
#![cfg(all(target_os = "linux", not(mcp_bash_portable)))]

use super::call::{command, ran};
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const READER: &str = r#"#!/usr/bin/env bash
cat data/in.txt
echo x > "$TMPDIR/scratch"
cat ~/.ssh/id 2>/dev/null || echo "no key"
"#;

fn home() -> TempDir {
    let home = TempDir::new().unwrap();
    std::fs::create_dir(home.path().join(".ssh")).unwrap();
    std::fs::write(home.path().join(".ssh/id"), "the key\n").unwrap();
    home
}

fn reader(metadata: &str) -> Project {
    Project::new()
        .file("data/in.txt", "hello\n")
        .script("tools/reader/tool.sh", READER)
        .file("tools/reader/tool.meta.json", metadata)
}

fn traced(project: &Project, home: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = command(project, &[&["call", "--trace-access"], words].concat());
    command.env("HOME", home);
    ran(command)
}

/// The last sandbox that was offered.
fn offered(stderr: &str) -> Value {
    let (_, text) = stderr.rsplit_once("\"sandbox\": ").unwrap_or_else(|| panic!("{stderr}"));
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next().unwrap().unwrap()
}

#[test]
fn accesses_are_listed_and_the_narrowest_sandbox_is_offered() {
    let (project, home) = (reader("{\n  \"name\": \"reader\"\n}\n"), home());
    let (code, stdout, stderr) = traced(&project, home.path(), &["reader"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "hello\nno key\n"), "{stderr}");
    for line in [
        "`reader`, which declares no sandbox and ran under \"on\":",
        "    project/data/in.txt\n",
        "    denied: ~/.ssh/id\n",
        "    tmp (",
        "/cat\n",
        "write it as `sandbox` into tools/reader/tool.meta.json, or add --yes",
    ] {
        assert!(stderr.contains(line), "{line}: {stderr}");
    }
    let narrow = stderr.split("\"sandbox\": ").nth(1).unwrap();
    assert!(narrow.contains("project/data/in.txt") && !narrow.contains(".ssh"), "{stderr}");
    let expected = json!({"read": ["project/data/in.txt", "~/.ssh/id"], "write": ["tmp"], "network": "none"});
    assert_eq!(offered(&stderr), expected);
    assert_eq!(project.read("tools/reader/tool.meta.json"), "{\n  \"name\": \"reader\"\n}\n");
}

#[test]
fn an_accepted_sandbox_is_written_and_lets_the_tool_work() {
    let (project, home) = (reader("{\n  \"name\": \"reader\",\n  \"description\": \"Reads\"\n}\n"), home());
    let (code, _, stderr) = traced(&project, home.path(), &["reader", "--yes"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("Written into tools/reader/tool.meta.json"), "{stderr}");
    let written = project.read("tools/reader/tool.meta.json");
    assert!(written.starts_with("{\n  \"name\": \"reader\",\n  \"description\": \"Reads\","), "{written}");
    let (code, stdout, stderr) = traced(&project, home.path(), &["reader"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "hello\nthe key\n"), "{stderr}");
    assert!(stderr.contains("ran under the sandbox that it declares"), "{stderr}");
    assert!(!stderr.contains("denied: ") && stderr.contains("declares this sandbox already"), "{stderr}");
}

#[test]
fn a_refused_connection_is_listed_with_the_port_that_would_be_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script =
        format!("#!/usr/bin/env bash\n(: < /dev/tcp/127.0.0.1/{port}) 2>/dev/null || echo refused\n");
    let project = Project::new().tool("caller", &script);
    let (code, stdout, stderr) = traced(&project, home().path(), &["caller"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "refused\n"), "{stderr}");
    // Without a network namespace the socket itself is denied, and no address is tried.
    if stderr.contains("connect\n") {
        assert!(stderr.contains(&format!("denied: 127.0.0.1:{port}")), "{stderr}");
        assert_eq!(offered(&stderr)["network"], json!([format!("localhost:{port}")]));
    }
}

#[test]
fn a_hostile_tool_neither_hangs_nor_garbles_the_list() {
    let script = r#"#!/usr/bin/env bash
exec 0<&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
for i in {1..50}; do ( : > "$TMPDIR/$i"; : < "$TMPDIR/$i"; cat /etc/shadow ) 2>/dev/null & done
wait
mkdir -p "$TMPDIR/d"; cd "$TMPDIR/d"
long=$(printf 'a%.0s' {1..200})
for i in {1..30}; do long=$long/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done
cat "$long" 2>/dev/null
for odd in "$MCPBASH_PROJECT_ROOT"/odd/*; do cat "$odd"; done 2>/dev/null
echo done
"#;
    let project = Project::new().tool("hostile", script).file("odd/\n  denied: \u{1b}[31m", "x");
    let odd: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(b"invalid-\xff".to_vec());
    std::fs::write(project.path("odd").join(odd), "y").unwrap();
    let (code, stdout, stderr) = traced(&project, home().path(), &["hostile"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "xydone\n"), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "{stderr}");
    assert!(!stderr.lines().any(|line| line.trim().starts_with("denied: [31m")), "{stderr}");
    let read = &offered(&stderr)["read"];
    assert!(read.as_array().unwrap().contains(&json!("project/odd")), "{stderr}");
}

#[test]
fn a_function_is_traced_in_its_worker() {
    let script = "# mcp: functions\nfrom mcp_bash import tool\n\n@tool\ndef peek() -> str:\n    \"\"\"Peeks\"\"\"\n    return open('data/in.txt').read()\n";
    let project = Project::new().file("data/in.txt", "hello\n").file("tools/peek.py", script);
    let (code, stdout, stderr) = traced(&project, home().path(), &["peek"]);
    assert_eq!((code, stdout.trim()), (Some(0), "hello"), "{stderr}");
    assert!(stderr.contains("    project/data/in.txt\n"), "{stderr}");
    assert!(stderr.contains("where the tool is described"), "{stderr}");
}

#[test]
fn only_tools_of_the_project_are_traced_and_a_yes_without_a_trace_is_for_the_tool() {
    let project = Project::with_hi();
    let (code, _, stderr) = traced(&project, project.root(), &["hi", "--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--trace-access traces a tool of this project"), "{stderr}");
    let schema = r#"{"inputSchema": {"type": "object", "properties": {"yes": {"type": "boolean"}}}}"#;
    let project = Project::new()
        .script("tools/sure/tool.sh", super::call::ECHO)
        .file("tools/sure/tool.meta.json", schema);
    let (code, stdout, _) = super::call::run(&project, &["call", "sure", "--yes"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "got {\"yes\":true}\n"));
}

/// Only root can become another user.
#[test]
fn a_user_without_privileges_can_trace() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (project, home) = (reader("{\"name\": \"reader\"}"), home());
    let owned =
        Command::new("chown").arg("-R").arg("64999:64999").args([project.root(), home.path()]).status();
    assert!(owned.unwrap().success());
    let program = Server::command().get_program().to_owned();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=64999", "--regid=64999", "--clear-groups"]).arg(program);
    command.args(["call", "reader", "--trace-access"]).current_dir(project.root()).stdin(Stdio::null());
    let (code, stdout, stderr) = ran({
        command.env("HOME", home.path()).env("TMPDIR", home.path());
        command
    });
    if stderr.contains("Permission denied (os error 13)") && stdout.is_empty() {
        // The program is in a folder that others cannot read.
        return;
    }
    assert_eq!((code, stdout.as_str()), (Some(0), "hello\nno key\n"), "{stderr}");
    assert!(!stderr.contains("could not be read"), "{stderr}");
    assert!(
        stderr.contains("    denied: ~/.ssh/id\n") && stderr.contains("    project/data/in.txt\n"),
        "{stderr}"
    );
}
