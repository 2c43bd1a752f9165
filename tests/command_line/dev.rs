//! `mcp-bash dev`: an ordinary server that shows every exchange in plain words.

use crate::harness::{Project, Server, Terminal, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const HELLO: &str = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 50 half\necho aside >&2\n\
    printf 'Hello, %s!\\n' \"$(mcp_args_get .name)\"\n";

const SCHEMA: &str = r#"{"name": "hello", "description": "Greets somebody",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}, "api_key": {"type": "string"}}}}"#;

fn dev(project: &Project, words: &[&str], environment: &[(&str, &str)]) -> Server {
    let mut command = Server::command();
    command.arg("dev").args(words).arg(project.root()).envs(environment.iter().copied());
    Server::spawn(command)
}

fn call(server: &mut Server, id: u64, tool: &str, arguments: &Value) {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": id } });
    server.request(id, "tools/call", &params);
    while server.receive()["id"] != json!(id) {}
}

/// The lines with `T` in place of times and `N` in place of sizes.
fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).copied().unwrap_or_default().trim_end_matches([',', ':']);
            let is_number = word.parse::<f64>().is_ok();
            let word = match next {
                "ms" | "s" if is_number => "T",
                "bytes" if is_number => "N",
                _ => word,
            };
            shown.push_str(if index > 0 { " " } else { "" });
            shown.push_str(word);
        }
        shown.push('\n');
    }
    shown.replace("T s", "T ms")
}

#[test]
fn every_exchange_is_shown_in_order_with_times_and_sizes() {
    let project = Project::new()
        .tool("hello", HELLO)
        .file("tools/hello/tool.meta.json", SCHEMA)
        .file("server.d/server.meta.json", r#"{"name": "greeter", "version": "1.2.3"}"#);
    let mut server = dev(&project, &[], &[]);
    server.initialize("2025-11-25");
    server.ask(2, "tools/list", &json!({}));
    call(&mut server, 3, "hello", &json!({ "name": "Ada", "api_key": "k1" }));
    server.ask(4, "tools/call", &json!({ "name": "helo" }));
    server.notify("notifications/cancelled", &json!({ "requestId": 99, "reason": "late" }));
    server.send_bytes(b"no JSON\n");
    server.receive_line();
    let shown = without_numbers(&server.finish());
    let expected = "\
→ #init initialize from test 1, protocol 2025-11-25
← #init result T ms, N bytes: greeter 1.2.3, protocol 2025-11-25
→ notifications/initialized
→ #2 tools/list
← #2 result T ms, N bytes: 1 tool: hello
→ #3 tools/call hello {name: \"Ada\", api_key: \"[redacted]\"}
← progress 50 half
· hello wrote to standard error: aside
← #3 result T ms, N bytes: Hello, Ada!
→ #4 tools/call helo
← #4 error -32602 Unknown tool: helo T ms
→ #99 cancelled: late
→ [7 bytes that are not JSON]
← #? error -32700 Parse error \"unexpected character at byte 1\"
";
    assert_eq!(shown, expected);
}

#[test]
fn questions_and_their_answers_are_shown() {
    let ask = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_elicit_string 'Which town?' >/dev/null\necho ok\n";
    let project = Project::new().tool("ask", ask);
    let mut server = dev(&project, &[], &[]);
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.call(1, "ask");
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.reply(&question, &json!({ "action": "accept", "content": { "value": "Rome" } }));
    while server.receive()["id"] != json!(1) {}
    let shown = without_numbers(&server.finish());
    let id = question["id"].as_str().map_or_else(|| question["id"].to_string(), str::to_owned);
    for line in [
        format!("← #{id} elicitation/create asks: Which town?\n"),
        format!("→ #{id} answer T ms: {{action: \"accept\", content: {{value: \"Rome\"}}}}\n"),
    ] {
        assert!(shown.contains(&line), "{line} in {shown}");
    }
}

#[test]
fn script_output_cannot_take_over_the_terminal() {
    let script =
        "#!/bin/sh\nprintf '\\033]0;owned\\007\\033[2Jx\\r\\n\\302\\233y'\nprintf '\\033[31m' >&2\nexit 3\n";
    let project = Project::new().tool("evil", script);
    let mut server = dev(&project, &[], &[]);
    server.initialize("2025-11-25");
    call(&mut server, 1, "evil", &json!({ "\u{1b}[5m": "\u{202e}" }));
    let shown = server.finish();
    let harmful = shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!(harmful, None, "{shown:?}");
    assert!(shown.contains("#1 failed"), "{shown}");
}

#[test]
fn long_values_are_shortened_unless_full_output_is_requested() {
    let project = Project::new().tool("long", "#!/bin/sh\nhead -c 5000 /dev/zero | tr '\\0' '~'\n");
    for (words, count) in [(&[][..], 160), (&["-v"][..], 5000)] {
        let mut server = dev(&project, words, &[]);
        server.initialize("2025-11-25");
        call(&mut server, 1, "long", &json!({}));
        let shown = server.finish();
        assert_eq!(shown.matches('~').count(), count, "{words:?}");
        assert_eq!(shown.contains('…'), words.is_empty(), "{shown}");
    }
}

#[test]
fn changes_of_the_project_are_reported_by_name() {
    let project = Project::with_hi();
    let log = Project::new();
    let file = log.path("dev.log");
    let mut server = dev(&project, &["--log-file", file.to_str().unwrap()], &[]);
    server.initialize("2025-11-25");
    let shown = |words: &str| wait_until(words, || log.read("dev.log").contains(words).then_some(()));
    let project = project.tool("new", "#!/bin/sh\necho new\n");
    shown("↻ tools: added new\n");
    project.write("tools/hi/tool.meta.json", r#"{"name": "hi", "description": "Says something else"}"#);
    shown("↻ tools: changed hi\n");
    project.remove("tools/new");
    shown("↻ tools: removed new\n");
    project.write("tools/hi/tool.meta.json", r#"{"name": "hi", "description": "Says something else", }"#);
    shown("· warning: ");
    shown("↻ tools: removed hi\n");
    assert_eq!(server.finish(), log.read("dev.log"), "the file has what standard error has");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_terminal_shows_how_to_connect_a_client() {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.arg("dev").arg(project.root()).env("TERM", "xterm").env_remove("NO_COLOR");
    let mut session = Terminal::of_columns(200).start(&command);
    let shown = session.wait_for("Ctrl-C ends it.\r\n");
    let (root, own) = (project.root().display(), fs::canonicalize(env!("CARGO_BIN_EXE_mcp-bash")).unwrap());
    let own = own.display();
    let expected = format!(
        "mcp-bash dev serves {root} (1 tool) and waits for a client on standard input.\r\n\
         Give your client this command in place of the usual one, and read along here or in a file:\r\n  \
         {own} dev {root} --log-file /tmp/mcp-bash-dev.log\r\n\
         To call tools by hand: mcp-bash dev --client {root}\r\nCtrl-C ends it.\r\n"
    );
    assert_eq!(shown, expected);
    session.press("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    session.wait_for("\u{1b}[33m→\u{1b}[0m #1 ping");
    session.press("\u{3}");
    session.finish();
}

#[test]
fn findings_of_the_checks_are_shown_on_save() {
    let project = Project::with_hi().tool("odd", "#!/no/such/interpreter\n");
    let mut server = dev(&project, &[], &[]);
    server.initialize("2025-11-25");
    wait_until("the registry", || project.path(".registry/tools.json").exists().then_some(()));
    // The same thread makes the checks, after it writes the registry.
    project.write("tools/hi/tool.meta.json", r#"{"name": "hi", "description": "Says something else"}"#);
    while server.receive()["method"] != "notifications/tools/list_changed" {}
    let shown = server.finish();
    assert!(shown.contains("· problem: ") && shown.contains("/no/such/interpreter"), "{shown}");
}

#[test]
fn the_secret_is_never_shown() {
    let secret = "a-secret-of-more-than-32-characters";
    let project = Project::with_hi();
    let mut server = dev(&project, &["-v"], &[("MCPBASH_REMOTE_TOKEN", secret)]);
    let meta = json!({ "mcpbash/remoteToken": secret, "other": format!("x{secret}") });
    server.request(1, "tools/list", &json!({ "_meta": meta, "note": secret }));
    server.receive_line();
    let shown = server.finish();
    assert!(!shown.contains(secret) && shown.contains("→ #1 tools/list"), "{shown}");
}

#[test]
fn a_reader_who_stops_reading_does_not_stop_the_server() {
    let project = Project::with_hi();
    let mut command = Server::command();
    // A pipe that is not read, and soon full.
    let (reader, writer) = std::io::pipe().unwrap();
    command.arg("dev").arg("-v").arg(project.root());
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(writer)
        .spawn()
        .unwrap();
    drop(command);
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    for id in 0..300 {
        use std::io::{BufRead, Write};
        let filler = "x".repeat(1000);
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"f":"{filler}"}}}}"#)
            .unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains(&format!("\"id\":{id}")), "{line}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    drop(reader);
}

#[test]
fn a_file_that_other_users_can_read_is_refused() {
    let project = Project::with_hi().file("open.log", "");
    let output = Server::command()
        .arg("dev")
        .arg("--log-file")
        .arg(project.path("open.log"))
        .arg(project.root())
        .output()
        .unwrap();
    let expected = format!(
        "mcp-bash: failed to write the log to {}: others may read or write it; run `chmod 600` on it\n",
        project.path("open.log").display()
    );
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(2), &*expected)
    );
}
