//! `mcp-bash run-tool`: calls a tool with the flags that older scripts use, and prints its result as JSON.

use crate::command_line::call::{DISK, ECHO, command, project, ran, run};
use crate::harness::{Project, Server, wait_until_gone};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

fn result(project: &Project, words: &[&str]) -> (Option<i32>, Value) {
    let (code, stdout, stderr) = run(project, words);
    let result = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout} {stderr}"));
    (code, result)
}

#[test]
fn the_result_is_printed_with_the_name_of_the_tool() {
    let project = project()
        .tool("structured", "#!/bin/sh\necho '{\"n\": 1.10}'\n")
        .tool("fails", "#!/bin/sh\necho broken >&2\nexit 3\n")
        .tool("slow", "#!/bin/sh\nsleep 600\n");
    let (code, printed) = result(&project, &["run-tool", "disk", "--args", r#"{"path":"/x"}"#]);
    let expected = json!({
        "content": [{ "type": "text", "text": "got {\"path\":\"/x\",\"top\":3}" }],
        "isError": false, "_meta": { "exitCode": 0 }, "name": "disk",
    });
    assert_eq!((code, printed), (Some(0), expected));
    let (code, stdout, _) = run(&project, &["run-tool", "structured"]);
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains(r#""structuredContent":{"n":1.10}"#) && stdout.contains(r#""name":"structured""#),
        "{stdout}"
    );
    let (code, printed) = result(&project, &["run-tool", "fails"]);
    assert_eq!(
        (code, &printed["isError"], &printed["_meta"]["exitCode"]),
        (Some(1), &json!(true), &json!(3))
    );
    let (code, printed) = result(&project, &["run-tool", "slow", "--timeout", "1"]);
    assert_eq!((code, &printed["structuredContent"]["error"]["type"]), (Some(5), &json!("timeout")));
    let (code, printed) = result(&project, &["run-tool", "disk", "--path", "/var", "--top", "5"]);
    assert_eq!(
        (code, &printed["content"][0]["text"]),
        (Some(0), &json!("got {\"path\":\"/var\",\"top\":5}"))
    );
    let (code, printed) = result(&project, &["run-tool", "disk"]);
    assert_eq!((code, &printed["isError"]), (Some(2), &json!(true)));
}

#[test]
fn a_missing_or_forbidden_tool_is_an_error_for_programs_and_people() {
    let project = project();
    let (code, stdout, stderr) = run(&project, &["run-tool", "dsik"]);
    let message = "tool not found: dsik; did you mean `disk`?";
    assert_eq!((code, &*stderr), (Some(4), &*format!("mcp-bash: {message}\n")));
    let printed: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(printed, json!({ "_mcpToolError": true, "code": -32602, "message": message }));
    let denied = |words: &[&str]| {
        let mut command = command(&project, words);
        command.env("MCPBASH_TOOL_ALLOW_DEFAULT", "deny");
        ran(command)
    };
    let (code, stdout, stderr) = denied(&["run-tool", "hi"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("blocked by policy") && stderr.contains("--allow-self"), "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["_mcpToolError"], json!(true));
    for words in
        [&["--allow-self"][..], &["--allow", "hi"], &["--allow-all"], &["--allow", "x", "--allow", "hi"]]
    {
        assert_eq!(denied(&[&["run-tool", "hi"], words].concat()).0, Some(0), "{words:?}");
        assert_eq!(denied(&[&["run-tool"], words, &["hi"]].concat()).0, Some(0), "{words:?}");
    }
    assert_eq!(denied(&["run-tool", "hi", "--allow", "other"]).0, Some(3));
    // The project's own policy still decides.
    let project = project.file("server.d/policy.sh", "mcp_tools_policy_check() { return 1; }\n");
    assert_eq!(run(&project, &["run-tool", "hi", "--allow-all"]).0, Some(3));
}

#[test]
fn a_dry_run_prints_the_command_and_runs_nothing() {
    let project = project().tool("touches", "#!/bin/sh\ntouch ran\n");
    let ready = "Status: Ready to execute (re-run without --dry-run to run)\n";
    let (code, stdout, _) =
        run(&project, &["run-tool", "touches", "--dry-run", "--timeout", "8", "--roots", "."]);
    assert_eq!(
        (code, stdout),
        (Some(0), format!("Tool: touches\nArgs: 2 bytes\nRoots: 1\nTimeout: 8\n{ready}"))
    );
    assert!(!project.path("ran").exists());
    let (code, stdout, _) = run(&project, &["run-tool", "disk", "--dry-run"]);
    let unfit = "Status: The arguments do not fit the inputSchema of the tool\n";
    assert_eq!(
        (code, stdout),
        (Some(2), format!("Tool: disk\nArgs: 2 bytes\nRoots: 0\nTimeout: 600\n{unfit}"))
    );
}

#[test]
fn roots_reach_the_tool_and_must_be_folders() {
    let project = Project::new()
        .tool("roots", "#!/bin/sh\necho \"$MCP_ROOTS_PATHS\"\n")
        .file("a dir/x", "")
        .file("b/x", "");
    let (code, printed) = result(&project, &["run-tool", "roots", "--roots", "a dir,b"]);
    let root = project.root().canonicalize().unwrap();
    let expected = format!("{0}/a dir\n{0}/b", root.display());
    assert_eq!((code, printed["content"][0]["text"].as_str()), (Some(0), Some(&*expected)));
    let (code, stdout, stderr) = run(&project, &["run-tool", "roots", "--roots", "a dir,none"]);
    assert_eq!(
        (code, &*stdout, &*stderr),
        (Some(2), "", "mcp-bash: --roots names `none`, which is no folder\n")
    );
    assert_eq!(run(&project, &["run-tool", "roots", "--roots", "b/x"]).0, Some(2));
}

#[test]
fn print_env_lists_the_paths_of_a_tool() {
    let project = project().file("server.d/env.sh", "touch ran\n").file("config/a.sh", "touch ran\n");
    let cache = tempfile::tempdir().unwrap();
    let words = [
        "run-tool",
        "disk",
        "--print-env",
        "--with-server-env",
        "--source",
        "config/a.sh",
        "--source",
        "none.sh",
    ];
    let mut command = command(&project, &words);
    command.env("XDG_CACHE_HOME", cache.path());
    let (code, stdout, stderr) = ran(command);
    assert_eq!((code, &*stderr), (Some(0), ""));
    let root = project.root().canonicalize().unwrap().display().to_string();
    let stdout = stdout.replace(&root, "ROOT").replace(&*project.root().to_string_lossy(), "ROOT");
    let home = std::fs::read_dir(cache.path().join("mcp-bash")).unwrap().next().unwrap().unwrap().path();
    let beginning = format!("sdk-{}-", env!("CARGO_PKG_VERSION"));
    assert!(home.file_name().unwrap().to_string_lossy().starts_with(&beginning), "{home:?}");
    let expected = "MCPBASH_PROJECT_ROOT=ROOT\nMCPBASH_HOME=HOME\nMCP_SDK=HOME/sdk\nMCPBASH_MODE=full\n\
        WILL_SOURCE_SERVER_ENV=ROOT/server.d/env.sh\nWILL_SOURCE[0]=ROOT/config/a.sh\n\
        WILL_SOURCE[1]=(not found: ROOT/none.sh)\nROOTS=none\n";
    assert_eq!(stdout.replace(&*home.to_string_lossy(), "HOME"), expected);
    assert!(!project.path("ran").exists());
}

const SHOW: &str = "#!/bin/sh\necho \"A=${MCPBASH_A:-none} B=${B_VAR:-none}\"\n";

fn sourced(project: &Project, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = command(project, &[&["run-tool", "show"], words].concat());
    command.env("B_VAR", "b");
    ran(command)
}

#[test]
fn files_are_sourced_before_anything_else_in_their_order() {
    let project = Project::new()
        .tool("show", SHOW)
        .file("one.sh", "echo noise\nexport MCPBASH_A=one\n")
        .file("two.sh", "export MCPBASH_A=\"$MCPBASH_A two\"\n")
        .file("allow.sh", "export MCPBASH_TOOL_ENV_MODE=allowlist MCPBASH_TOOL_ENV_ALLOWLIST=B_VAR\n");
    let (code, stdout, stderr) =
        sourced(&project, &["--source", "one.sh", "--source", "two.sh", "--verbose"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("A=one two B=none"), "{stdout}");
    assert!(
        stderr.contains("run-tool: sourcing") && stderr.contains("two.sh") && stderr.contains("noise"),
        "{stderr}"
    );
    // Sourced variables count as settings too.
    assert!(sourced(&project, &["--source", "allow.sh"]).1.contains("B=b"));
    let project = project
        .file("server.d/env.sh", "export MCPBASH_TOOL_ENV_MODE=allowlist MCPBASH_TOOL_ENV_ALLOWLIST=B_VAR\n");
    assert!(sourced(&project, &[]).1.contains("B=none"));
    assert!(sourced(&project, &["--with-server-env"]).1.contains("B=b"));
    let mut command = command(&project, &["run-tool", "show"]);
    command.env("B_VAR", "b").env("MCPBASH_RUN_TOOL_SOURCE_SERVER_ENV", "1");
    assert!(ran(command).1.contains("B=b"));
}

#[test]
fn a_file_that_cannot_be_sourced_is_an_error() {
    let project = Project::new()
        .tool("show", SHOW)
        .file("broken.sh", "if then\n")
        .file("exits.sh", "exit 0\n")
        .file("open.sh", "export MCPBASH_A=evil\n");
    std::fs::set_permissions(project.path("open.sh"), Permissions::from_mode(0o666)).unwrap();
    for (file, code, problem) in [
        ("none.sh", 2, "env file not found"),
        ("broken.sh", 2, "syntax error"),
        ("exits.sh", 2, "ends the shell with exit; use return"),
        ("open.sh", 3, "is not trusted"),
        ("tools", 2, "env file not found"),
    ] {
        let (status, stdout, stderr) = sourced(&project, &["--source", file]);
        assert_eq!((status, &*stdout), (Some(code), ""), "{file}: {stderr}");
        assert!(stderr.contains(problem), "{stderr}");
    }
}

#[test]
fn options_for_local_projects_are_refused_for_another_server() {
    let other = Project::new().tool("mark", "#!/bin/sh\ntouch \"$MCPBASH_PROJECT_ROOT/ran\"\n");
    let server = format!(
        "'{}' --project-root '{}'",
        Server::command().get_program().to_str().unwrap(),
        other.root().display()
    );
    for flag in [
        &["--dry-run"][..],
        &["--print-env"],
        &["--source", "a.sh"],
        &["--minimal"],
        &["--no-refresh"],
        &["--allow-all"],
        &["--allow", "mark"],
        &["--allow-self"],
        &["--with-server-env"],
    ] {
        let words = [&["run-tool", "mark", "--command", &server], flag].concat();
        let (code, stdout, stderr) = run(&project(), &words);
        assert_eq!((code, &*stdout), (Some(2), ""), "{flag:?}: {stderr}");
        assert!(stderr.contains("--command") && stderr.contains(flag[0]), "{stderr}");
    }
    assert!(!other.path("ran").exists());
}

#[test]
fn a_file_that_takes_too_long_is_killed_with_its_processes() {
    let slow = "echo $$ >>started\nsleep 600 & echo $! >>started\nwait\n";
    let project = Project::new().tool("show", SHOW).file("slow.sh", slow);
    let (code, stdout, stderr) = sourced(&project, &["--source", "slow.sh", "--timeout", "1"]);
    assert_eq!((code, &*stdout), (Some(5), ""), "{stderr}");
    assert!(stderr.contains("slow.sh did not end within 1 s"), "{stderr}");
    for signal in [Signal::INT, Signal::TERM] {
        for pid in project.wait_for_started(2) {
            wait_until_gone(pid);
        }
        std::fs::remove_file(project.path("started")).unwrap();
        let mut command = command(&project, &["run-tool", "show", "--source", "slow.sh"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        project.wait_for_started(2);
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(130), &b"mcp-bash: interrupted\n"[..]));
    }
    for pid in project.wait_for_started(2) {
        wait_until_gone(pid);
    }
}

#[test]
fn a_sourced_file_cannot_break_the_shell() {
    let project = Project::new()
        .tool("show", SHOW)
        .file(
            "reads.sh",
            "cat\nexport MCPBASH_A=$'two\\nlines'\nset -- x y\nsleep 600 >/dev/null 2>&1 &\necho $! >>started\n",
        )
        .file("trap.sh", "trap 'exit 0' EXIT\nexit 0\n")
        .file("kill.sh", "kill -9 $$\n");
    let mut command = command(&project, &["run-tool", "show", "--source", "reads.sh", "--args", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"n\":1}").unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("A=two\\nlines"), "{output:?}");
    for pid in project.wait_for_started(1) {
        let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
    }
    for (file, problem) in [("trap.sh", "exit status: 0"), ("kill.sh", "signal: 9")] {
        let (code, stdout, stderr) = sourced(&project, &["--source", file]);
        assert_eq!((code, &*stdout), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(file) && stderr.contains(problem), "{stderr}");
    }
}

#[test]
fn new_tools_are_found_at_once_unless_disabled() {
    let project = project();
    let (code, stdout, stderr) = run(&project, &["run-tool", "hi", "--no-refresh"]);
    assert_eq!((code, &*stdout), (Some(2), ""));
    assert!(stderr.contains("registry cache missing") && stderr.contains("registry refresh"), "{stderr}");
    assert_eq!(run(&project, &["registry", "refresh"]).0, Some(0));
    let project = project
        .script("tools/later/tool.sh", ECHO)
        .file("tools/later/tool.meta.json", &DISK.replace("disk", "later"));
    assert_eq!(run(&project, &["run-tool", "later", "path=x"]).0, Some(0));
    assert_eq!(run(&project, &["run-tool", "later", "path=x", "--no-refresh"]).0, Some(4));
    assert_eq!(run(&project, &["run-tool", "hi", "--no-refresh"]).0, Some(0));
    let project = project.file(".registry/tools.json", "{\"not\":\"a registry\"");
    let (code, _, stderr) = run(&project, &["run-tool", "hi", "--no-refresh"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("invalid tools registry cache"), "{stderr}");
    let (code, _, stderr) = run(&project, &["run-tool", "hi", "--minimal"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("leave out --minimal"), "{stderr}");
}

#[test]
fn tests_of_functions_find_the_sdk_of_their_language() {
    let project = Project::new()
        .file(
            "tools/sums.py",
            "from mcp_bash import progress, tool\n@tool\ndef add(a: int) -> int:\n    progress(1)\n    return a + 1\n",
        )
        .file("tools/sums.mjs", "import { tool } from 'mcp-bash'\nexport const one = tool('One.', {}, () => 1)\n")
        .file("own.mjs", "import { one } from './tools/sums.mjs'\nconsole.log(one({}))\n");
    let by_hand = |shell: &str| {
        let mut command = Server::command_of("sh");
        command.args(["-ec", shell]).env("MCP_BASH", Server::command().get_program());
        command.current_dir(project.root());
        ran(command)
    };
    let python = r#"PYTHONPATH=tools:$("$MCP_BASH" sdk-path --lang python) python3 -c 'import sums; print(sums.add(1))'"#;
    assert_eq!(by_hand(python).1, "2\n");
    assert_eq!(by_hand(r#"node --import "$("$MCP_BASH" sdk-path --lang node)" own.mjs"#).1, "1\n");
    let (code, _, said) = by_hand(r#""$MCP_BASH" sdk-path --lang perl"#);
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn a_script_can_be_run_by_hand_with_the_sdk() {
    let project = Project::new()
        .tool("hello", "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_emit_text hello\n");
    let cache = tempfile::tempdir().unwrap();
    let path = || {
        let mut command = command(&project, &["sdk-path"]);
        command.env("XDG_CACHE_HOME", cache.path());
        ran(command)
    };
    let (code, first, _) = path();
    assert_eq!(code, Some(0));
    let sdk = first.trim();
    let by_hand =
        std::process::Command::new(project.path("tools/hello/tool.sh")).env("MCP_SDK", sdk).output().unwrap();
    assert!(String::from_utf8_lossy(&by_hand.stdout).contains("hello"), "{by_hand:?}");
    // An edited copy is restored.
    std::fs::write(format!("{sdk}/tool-sdk.sh"), "evil").unwrap();
    assert_eq!(path().1, first);
    assert!(!std::fs::read_to_string(format!("{sdk}/tool-sdk.sh")).unwrap().contains("evil"));
    assert_eq!(std::fs::read_dir(cache.path().join("mcp-bash")).unwrap().count(), 1);
}
