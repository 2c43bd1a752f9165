//! `mcp-bash call`: calls a tool from the command line, as a client does.

use crate::harness::{Project, Server, Terminal, exists, wait_until_gone};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// A tool that takes arguments of all types, and prints them as it receives them.
pub(crate) const DISK: &str = r#"{
    "name": "disk",
    "description": "Shows what fills a disk",
    "inputSchema": {
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "Where to look" },
            "top": { "type": "integer", "default": 3, "description": "How many" },
            "showAll": { "type": "boolean" },
            "unit": { "enum": ["kb", "mb"], "type": "string" },
            "ratio": { "type": "number" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "timeout": { "type": "string" }
        },
        "required": ["path"]
    }
}"#;

pub(crate) const ECHO: &str = "#!/bin/sh\nprintf 'got %s\\n' \"$MCP_TOOL_ARGS_JSON\"\n";

pub(crate) fn project() -> Project {
    Project::with_hi().script("tools/disk/tool.sh", ECHO).file("tools/disk/tool.meta.json", DISK)
}

pub(crate) fn command(project: &Project, words: &[&str]) -> Command {
    let mut command = Server::command();
    command.args(words).current_dir(project.root()).stdin(Stdio::null());
    command
}

/// The exit code, standard output and standard error of a command.
pub(crate) fn ran(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(crate) fn run(project: &Project, words: &[&str]) -> (Option<i32>, String, String) {
    ran(command(project, words))
}

fn is(code: i32, stdout: &str, stderr: &str) -> (Option<i32>, String, String) {
    (Some(code), stdout.to_owned(), stderr.to_owned())
}

#[test]
fn arguments_are_pairs_flags_or_json_and_arrive_unchanged() {
    // The schema has a default for `top`.
    let project = project().file("args.json", "{\"path\":\n\"/f\", \"ratio\": 2.50}");
    for (words, got) in [
        (&["path=/var", "ratio=1.10"][..], r#"{"path":"/var","ratio":1.10,"top":3}"#),
        (&["path=a=b", "top=5", "showAll=true"], r#"{"path":"a=b","top":5,"showAll":true}"#),
        (&["path:=\"x\"", "tags=a", "tags=b"], r#"{"path":"x","tags":["a","b"],"top":3}"#),
        (&["--path", "/var", "--top", "5"], r#"{"path":"/var","top":5}"#),
        (
            &["--path=-x", "--show-all", "--tags", "a", "--tags", "b"],
            r#"{"path":"-x","showAll":true,"tags":["a","b"],"top":3}"#,
        ),
        (&["--path", "x", "--showAll=false"], r#"{"path":"x","showAll":false,"top":3}"#),
        (&["--args", r#"{"path":"x","ratio":1e2}"#], r#"{"path":"x","ratio":1e2,"top":3}"#),
        (&["--args", r#"{"path":"x","top":1}"#, "top=2"], r#"{"path":"x","top":2}"#),
        (&["--args", "@args.json"], r#"{"path":"/f","ratio":2.50,"top":3}"#),
        (&["path=x", "timeout=soon"], r#"{"path":"x","timeout":"soon","top":3}"#),
    ] {
        let words = [&["call", "disk"], words].concat();
        assert_eq!(run(&project, &words), is(0, &format!("got {got}\n"), ""), "{words:?}");
    }
    let mut command = command(&project, &["call", "disk", "--args", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"path":"in"}"#).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"got {\"path\":\"in\",\"top\":3}\n");
}

#[test]
fn invalid_command_lines_are_refused_with_a_fix() {
    let project = project();
    for (words, code, problem) in [
        (&["call"][..], 2, None),
        (
            &["call", "--path", "/var", "disk"],
            2,
            Some(
                "`call` takes the name of a tool first, not `--path`; `mcp-bash list` shows which there are",
            ),
        ),
        (&["call", "dik", "path=x"], 4, Some("tool not found: dik; did you mean `disk`?")),
        (
            &["call", "weather"],
            4,
            Some("tool not found: weather; `mcp-bash list tools` shows which there are"),
        ),
        (&["call", "disk", "pth=x"], 2, Some("`disk` has no argument `pth`; did you mean `path`?")),
        (
            &["call", "disk", "colour=x"],
            2,
            Some("`disk` has no argument `colour`; it takes path, top, showAll, unit, ratio, tags, timeout"),
        ),
        (&["call", "disk", "path=x", "path=y"], 2, Some("the argument `path` is given twice")),
        (&["call", "disk", "path=x", "--path", "y"], 2, Some("the argument `path` is given twice")),
        (&["call", "disk", "path=x", "top=many"], 2, Some("the argument `top` takes an integer, not `many`")),
        (
            &["call", "disk", "path"],
            2,
            Some("`path` is no argument: write key=value, key:=JSON, or --args JSON"),
        ),
        (
            &["call", "disk", "--args", "[1]"],
            2,
            Some(
                "--args must be a JSON object: invalid type: sequence, expected an object such as {\"key\": \"value\"} at line 1 column 0",
            ),
        ),
        (
            &["call", "disk", "--args", "@none"],
            2,
            Some("--args cannot be read from none: No such file or directory (os error 2)"),
        ),
        (
            &["call", "disk", "path=x", "--roots", "/no/such"],
            2,
            Some("--roots names `/no/such`, which is no folder"),
        ),
        (
            &["call", "disk", "path=x", "--command", "a 'b"],
            2,
            Some("--command has a quote (') that is not closed"),
        ),
    ] {
        let (status, stdout, stderr) = run(&project, words);
        assert_eq!((status, &*stdout), (Some(code), ""), "{words:?}: {stderr}");
        if let Some(problem) = problem {
            assert_eq!(stderr, format!("mcp-bash: {problem}\n"));
        }
    }
    let broken = self::project().file("tools/broken/tool.meta.json", "{ nonsense");
    let (code, _, stderr) = run(&broken, &["call", "broken"]);
    assert_eq!(code, Some(4));
    assert!(
        stderr.starts_with("mcp-bash: tool not found: broken; ") && stderr.contains("tool.meta.json"),
        "{stderr}"
    );
    let unfit = "The arguments of 'disk' do not fit its inputSchema:\n- `/path` is required\n";
    assert_eq!(run(&project, &["call", "disk"]), is(2, "", unfit));
    let (code, _, stderr) = run(&project, &["call", "disk", "--pth", "x"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("unexpected argument '--pth'") && stderr.contains("'--path'"), "{stderr}");
}

#[test]
fn a_call_of_a_skipped_tool_says_why_it_is_skipped() {
    let project = project()
        .file("tools/pipe.meta.json", r#"{"description": "Counts", "command": ["ls", "|", "wc"]}"#)
        .file("tools/sums.py", "from mcp_bash import tool\n@tool\ndef add(a: int) -> int\n    return a\n");
    for (tool, reason) in [
        ("pipe", "tools/pipe.meta.json: is skipped: `command` has the word `|`, which joins or redirects"),
        ("add", "tools/sums.py:3: is skipped: SyntaxError"),
    ] {
        let (code, _, stderr) = run(&project, &["call", tool]);
        assert_eq!(code, Some(4), "{stderr}");
        assert!(stderr.starts_with(&format!("mcp-bash: tool not found: {tool}; ")), "{stderr}");
        assert!(stderr.contains(reason), "{stderr}");
    }
    let (_, _, stderr) = run(&project, &["call", "weather"]);
    assert!(!stderr.contains("is skipped"), "{stderr}");
}

#[test]
fn a_tool_explains_its_own_flags() {
    let expected = "\
Shows what fills a disk

Usage: mcp-bash call disk [OPTIONS] [key=value]...

Arguments:
  [key=value]...  Arguments in another form: key=value as it is declared below, or key:=JSON

Options:
  -h, --help  Print help

Arguments of the tool:
      --path <STRING>          Where to look [required]
      --top <INTEGER>          How many [default: 3]
      --showAll[=<BOOLEAN>]    [alias: --show-all]
      --unit <STRING>          [one of: kb, mb]
      --ratio <NUMBER>
      --tags <LIST_OF_STRING>

Further arguments of the tool, whose names are flags of mcp-bash or no flags at all; give them as
timeout=value, or in --args '{\"timeout\": …}':
      timeout=<STRING>

`mcp-bash call --help` lists what every call takes.
";
    for words in [&["call", "--help"][..], &["call", "--json", "--help"]] {
        let (code, stdout, _) = run(&project(), words);
        assert!(code == Some(0) && stdout.starts_with("Call a tool, and show the result\n"), "{stdout}");
    }
    let (code, stdout, stderr) = run(&project(), &["call", "disk", "--help"]);
    let stdout = stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<Vec<_>>().concat();
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert_eq!(stdout, expected);
}

#[test]
fn each_class_of_failure_has_an_exit_code() {
    let project = project()
        .tool("fails", "#!/bin/sh\necho half\necho broken >&2\nexit 3\n")
        .tool("slow", "#!/bin/sh\nsleep 600\n")
        .tool("asks", "#!/bin/sh\necho \"${MCP_ELICIT_SUPPORTED:-none}\"\n");
    let (code, stdout, stderr) = run(&project, &["call", "fails"]);
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(stderr.contains("broken"), "{stderr}");
    let (code, stdout, stderr) = run(&project, &["call", "slow", "--timeout", "1"]);
    assert_eq!((code, &*stdout), (Some(5), ""));
    assert!(stderr.contains("timed out after 1 s"), "{stderr}");
    let mut blocked = command(&project, &["call", "hi"]);
    blocked.env("MCPBASH_TOOL_ALLOWLIST", "other");
    let (code, stdout, stderr) = ran(blocked);
    assert_eq!((code, &*stdout), (Some(3), ""));
    assert!(stderr.contains("blocked by policy") && stderr.contains("MCPBASH_TOOL_ALLOWLIST"), "{stderr}");
    // A policy refuses with its own code, and a tool may fail with the same one.
    let guarded = Project::new()
        .tool("hi", "#!/bin/sh\necho hi\n")
        .tool("busy", "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_fail 403 busy\n")
        .tool("picky", "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_fail_invalid_args odd\n")
        .file(
            "server.d/policy.sh",
            "mcp_tools_policy_check() { [ \"$1\" != hi ] || { mcp_tools_error 403 no; return 1; }; }\n",
        );
    for (tool, expected, message) in [
        ("hi", 3, "mcp-bash: no (error 403)\n"),
        ("busy", 1, "mcp-bash: busy (error 403)\n"),
        ("picky", 2, "mcp-bash: odd (error -32602)\n"),
    ] {
        for command in ["call", "run-tool"] {
            let (code, _, stderr) = run(&guarded, &[command, tool]);
            assert_eq!((code, &*stderr), (Some(expected), message), "{command} {tool}");
        }
    }
    // Without a terminal, the script knows that it cannot ask the user.
    assert_eq!(run(&project, &["call", "asks"]), is(0, "0\n", ""));
    let empty = tempfile::tempdir().unwrap();
    let mut command = Server::command();
    command.args(["call", "hi"]).current_dir(empty.path());
    assert_eq!(ran(command).0, Some(2));
}

#[test]
fn run_tool_consents_only_with_yes() {
    let project = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\ntouch \"$MCPBASH_PROJECT_ROOT/ran\"\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#);
    let (code, _, stderr) = run(&project, &["run-tool", "wipe"]);
    assert!(code != Some(0) && !project.path("ran").exists(), "{stderr}");
    let (code, _, stderr) = run(&project, &["run-tool", "--yes", "wipe"]);
    assert!(code == Some(0) && project.path("ran").exists(), "{stderr}");
}

/// Global flags may stand before the command.
#[test]
fn a_flag_before_the_command_takes_no_flag_of_the_call_away() {
    let project = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\ntouch \"$MCPBASH_PROJECT_ROOT/ran\"\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#);
    let root = project.root().to_str().unwrap();
    let (code, _, stderr) = run(&project, &["--project-root", root, "call", "--yes", "wipe"]);
    assert!(code == Some(0) && project.path("ran").exists(), "{stderr}");

    let schema = r#"{"name": "web", "description": "d", "inputSchema": {"type": "object", "properties":
        {"project": {"type": "string"}, "health": {"type": "boolean"}}}}"#;
    let project = Project::new().script("tools/web/tool.sh", ECHO).file("tools/web/tool.meta.json", schema);
    let (_, stdout, stderr) = run(&project, &["-q", "call", "web", "--project", "site", "--health"]);
    assert_eq!(stdout, "got {\"project\":\"site\",\"health\":true}\n", "{stderr}");
}

#[test]
fn json_output_is_the_result_as_the_server_sent_it() {
    let project = project().tool("price", "#!/bin/sh\necho '{\"eur\": 1.10}'\n");
    let (code, stdout, _) = run(&project, &["call", "price", "--json"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains(r#""structuredContent":{"eur":1.10}"#), "{stdout}");
    assert_eq!(
        (stdout.lines().count(), serde_json::from_str::<Value>(&stdout).unwrap()["isError"].clone()),
        (1, json!(false))
    );
    let mut blocked = command(&project, &["call", "hi", "--json"]);
    blocked.env("MCPBASH_TOOL_ALLOW_DEFAULT", "deny");
    let (code, stdout, _) = ran(blocked);
    let error: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &error["error"]["code"]), (Some(3), &json!(-32602)));
}

#[test]
fn pictures_are_saved_on_request_and_never_over_anything() {
    let result = r#"{"content":[{"type":"image","mimeType":"image/png","data":"aGVsbG8="},
        {"type":"resource","resource":{"uri":"file:///x/../../evil name.bin","mimeType":"application/zip","blob":"aGk="}},
        {"type":"resource_link","uri":"https://example.org/","name":"Home"},
        {"type":"text","text":"done"}]}"#;
    let project = Project::new().tool("chart", &format!("#!/bin/sh\ncat <<'E'\n{result}\nE\n"));
    let shown = "[image image/png, 5 bytes; --save DIR keeps it]\n[resource application/zip, 2 bytes; --save DIR keeps it]\n\
                 [link: https://example.org/ Home]\ndone\n";
    assert_eq!(run(&project, &["call", "chart"]), is(0, shown, ""));
    for expected in ["out/chart.png", "out/chart-2.png"] {
        let (code, stdout, _) = run(&project, &["call", "chart", "--save", "out"]);
        assert_eq!(code, Some(0));
        assert!(stdout.contains(expected), "{stdout}");
        assert_eq!(project.read(expected), "hello");
    }
    assert_eq!(project.read("out/evil_name.bin"), "hi");
    // A program reads only the result.
    let (code, stdout, stderr) = run(&project, &["call", "chart", "--save", "all", "--json"]);
    assert_eq!((code, project.read("all/chart.png")), (Some(0), "hello".to_owned()), "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["content"][3]["text"], "done");
    assert_eq!(
        stderr,
        "[image image/png, 5 bytes: all/chart.png]\n[resource application/zip, 2 bytes: all/evil_name.bin]\n"
    );
    let project = project.file("file", "");
    let (code, stdout, stderr) = run(&project, &["call", "chart", "--save", "file", "--json"]);
    assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
}

#[test]
fn hostile_output_is_passed_on_in_pipes_and_harmless_on_terminals() {
    let project = Project::new()
        .tool("paint", "#!/bin/sh\nprintf 'a\\033[31mb\\rc\\n'\n")
        .tool("huge", "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' x\n")
        .tool("binary", "#!/bin/sh\nprintf 'a\\377b\\n'\n");
    assert_eq!(run(&project, &["call", "paint"]), is(0, "a\u{1b}[31mb\rc\n", ""));
    let (code, shown) = Terminal::of_columns(80).start(&command(&project, &["call", "paint"])).finish();
    assert_eq!((code, &*shown), (Some(0), "a\\u{1b}[31mb\\rc\r\n"));
    assert_eq!(run(&project, &["call", "--whole", "huge"]).1.len(), 3_000_001);
    let (code, stdout, _) = run(&project, &["call", "binary"]);
    assert_eq!((code, &*stdout), (Some(0), "a\u{fffd}b\n"));
    // A reader that closes the pipe early gets no error message.
    let mut child = command(&project, &["call", "--whole", "huge"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut few = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn questions_are_asked_on_the_terminal() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\n\
        mcp_elicit 'Who are you?' '{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\
        \"age\":{\"type\":\"integer\",\"minimum\":0}},\"required\":[\"name\",\"age\"]}'\n";
    let project = Project::new().tool("who", script);
    let session = Terminal::of_columns(80).start(&command(&project, &["call", "who", "--json"]));
    let session =
        session.when("name [text]", "Ada\n").when("age [integer]", "old\n").when("whole number", "36\n");
    let (code, shown) = session.finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("Who are you?")
            && shown.contains(r#"{"name":"Ada","age":36}"#.replace('"', "\\\"").as_str()),
        "{shown}"
    );
    let (_, shown) = Terminal::of_columns(80)
        .start(&command(&project, &["call", "who", "--json"]))
        .when("name [text]", "!\n")
        .finish();
    assert!(shown.contains("decline"), "{shown}");
}

#[test]
fn progress_is_a_bar_on_a_terminal_and_nothing_in_a_pipe() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 50 'half way' 100\n\
        mcp_log_warn me careful\nmcp_log_info me chatter\necho end\n";
    let project = Project::new().tool("work", script);
    let (code, shown) = Terminal::of_columns(80).start(&command(&project, &["call", "work"])).finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("[############------------]  50% half way") && shown.contains("careful"),
        "{shown}"
    );
    assert!(shown.ends_with("end\r\n") && !shown.contains("chatter"), "{shown}");
    assert_eq!(run(&project, &["call", "work"]), is(0, "end\n", "warning: careful\n"));
    let (_, stdout, stderr) = run(&project, &["call", "work", "--verbose"]);
    assert!(stdout == "end\n" && stderr.contains("info: chatter"), "{stderr}");
}

/// Starts processes that want to keep running, and prints their process ids.
const TREE: &str = "#!/usr/bin/env bash\ntrap '' TERM\nsetsid sleep 600 &\necho $! >>started\nsleep 600 &\necho $! >>started\n\
    echo $$ >>started\nwait\n";

#[test]
fn ctrl_c_ends_the_call_and_all_its_processes() {
    let project = Project::new().tool("tree", TREE);
    let temporary = tempfile::tempdir().unwrap();
    let mut command = command(&project, &["call", "tree"]);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pids = project.wait_for_started(3);
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(130), &b"mcp-bash: interrupted\n"[..]));
    assert!(pids.iter().all(|pid| !exists(*pid)), "{pids:?}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn ctrl_c_on_a_terminal_is_the_same_even_while_it_asks() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\necho $$ >>started\nmcp_elicit_string 'Name?' name\n";
    let project = Project::new().tool("who", script);
    let session = Terminal::of_columns(80).start(&command(&project, &["call", "who"]));
    let (code, shown) = session.when("name [text]", "\u{3}").finish();
    assert_eq!(code, Some(130), "{shown}");
    for pid in project.wait_for_started(1) {
        wait_until_gone(pid);
    }
}

#[test]
fn an_unanswered_question_does_not_block_the_call() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_elicit_string 'Name?' name\n";
    let project = Project::new().tool("who", script);
    let mut command = command(&project, &["call", "who"]);
    command.env("MCPBASH_MAX_TIMEOUT_SECS", "1").env("MCPBASH_DEFAULT_TOOL_TIMEOUT", "1");
    let (code, shown) = Terminal::of_columns(80).start(&command).when("name [text]", "").finish();
    assert!(matches!(code, Some(1 | 5)), "{code:?} {shown}");
}

#[test]
fn closed_streams_are_no_reason_to_panic() {
    let project = project();
    for line in
        ["call disk path=x >&- 2>&-", "call nothing >&- 2>&-", "call disk 2>&1 | true", "list <&- | true"]
    {
        let mut command = Command::new("bash");
        let program = env!("CARGO_BIN_EXE_mcp-bash");
        let script = format!("set -o pipefail; '{program}' {line}; test $? -lt 100");
        command.args(["-c", &script]).current_dir(project.root()).stdin(Stdio::null());
        let (code, _, stderr) = ran(command);
        assert_eq!((code, &*stderr), (Some(0), ""), "{line}");
    }
}

/// A server in shell: greets, lists one tool, and then does what `on_call` says.
fn other_server(on_call: &str) -> Project {
    let script = format!(
        r#"#!/bin/sh
while read -r line; do
    case $line in
    *'"initialize"'*) echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"o","version":"1"}}}}}}' ;;
    *'"tools/list"'*) echo '{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{{"name":"add","inputSchema":{{"type":"object","properties":{{"a":{{"type":"number"}}}}}}}}]}}}}' ;;
    *'"tools/call"'*) printf '%s\n' "$line" >>"$0.calls"; {on_call} ;;
    esac
done
"#
    );
    Project::new().script("other server", &script)
}

fn call_other(project: &Project, words: &[&str]) -> (Option<i32>, String, String) {
    let server = format!("'{}'", project.path("other server").display());
    let words = [&["call", "add", "a=1.10", "--command", &server], words].concat();
    run(project, &words)
}

#[test]
fn any_other_server_can_be_called() {
    let answer = r#"echo '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"two"}]}}'"#;
    let project = other_server(answer);
    assert_eq!(call_other(&project, &[]), is(0, "two\n", ""));
    assert!(project.read("other server.calls").contains(r#""arguments":{"a":1.10}"#));
    let (code, stdout, _) = call_other(&project, &["--json"]);
    assert_eq!((code, &*stdout), (Some(0), "{\"content\":[{\"type\":\"text\",\"text\":\"two\"}]}\n"));
    // mcp-bash itself is such a server.
    let own = self::project();
    let server = format!("{} --project-root '{}'", env!("CARGO_BIN_EXE_mcp-bash"), own.root().display());
    assert_eq!(run(&own, &["call", "hi", "--command", &server]), is(0, "hi\n", ""));
}

#[test]
fn a_server_that_misbehaves_is_reported_and_terminated() {
    let died = call_other(&other_server("exit 7"), &[]);
    assert_eq!(died, is(6, "", "mcp-bash: the server ended before it answered (exit status: 7)\n"));
    let rubbish = call_other(&other_server("echo 'Hello, I am a server!'"), &[]);
    assert_eq!(
        rubbish,
        is(6, "", "mcp-bash: the server does not speak the protocol: it sent `Hello, I am a server!`\n")
    );
    let silent = call_other(&other_server(":"), &["--timeout", "1"]);
    assert_eq!(silent, is(5, "", "mcp-bash: the server did not answer `tools/call` within 1 s\n"));
    let flood = r#"yes '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'"#;
    assert_eq!(call_other(&other_server(flood), &["--timeout", "1"]).0, Some(5));
    let error = r#"echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no\u001b[31m"}}'"#;
    let (code, _, stderr) = call_other(&other_server(error), &[]);
    assert_eq!(code, Some(1), "{stderr}");
    for (server, problem) in [
        ("false", "ended before it answered"),
        ("/no/such/program x", "failed to start"),
        ("cat /dev/null", "ended before"),
        ("cat", "it sent `initialize`, which only a client asks for"),
    ] {
        let (code, stdout, stderr) = run(&project(), &["call", "x", "--command", server]);
        assert_eq!((code, &*stdout), (Some(6), ""), "{stderr}");
        assert!(stderr.contains(problem), "{stderr}");
        // Only a server that was started can have written something.
        assert_eq!(stderr.contains("--verbose"), !stderr.contains("failed to start"), "{stderr}");
    }
}

#[test]
fn a_server_that_does_not_exit_is_killed_with_its_processes() {
    let stay = "trap '' TERM; sleep 600 & echo $! >>\"${0%/*}/started\"; echo $$ >>\"${0%/*}/started\"; wait; sleep 600";
    let project = other_server(stay);
    let (code, _, _) = call_other(&project, &["--timeout", "1"]);
    assert_eq!(code, Some(5));
    for pid in project.wait_for_started(2) {
        wait_until_gone(pid);
    }
}

#[test]
fn ctrl_c_terminates_another_server_too() {
    let project = other_server("echo $$ >>\"${0%/*}/started\"; sleep 600");
    let server = format!("'{}'", project.path("other server").display());
    let mut command = command(&project, &["call", "add", "--command", &server]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pids = project.wait_for_started(1);
    let own = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(own, Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(130), &b"mcp-bash: interrupted\n"[..]));
    assert!(pids.iter().all(|pid| !exists(*pid)), "{pids:?}");
}
