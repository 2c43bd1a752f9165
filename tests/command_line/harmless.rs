//! Untrusted text cannot take over the reader's terminal: names of files, tools and clients, versions,
//! exceptions and results. Escape sequences, direction marks and invisible characters are shown as escapes.

use crate::harness::http::{Http, post};
use crate::harness::{Project, Server, Terminal};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::process::Command;

/// A sequence that clears the screen, one in a single character, a title, a direction override, and an
/// invisible character.
const EVIL: &str = "e\u{1b}[2J\u{9b}31m\u{1b}]0;t\u{7}\u{202e}\u{2066}v\u{200b}\u{7f}il";

/// The same as a person reads it.
const SHOWN: &str = r"e\u{1b}[2J\u{9b}31m\u{1b}]0;t\u{7}\u{202e}\u{2066}v\u{200b}\u{7f}il";

/// Our own colours, and the line ends that terminals produce.
const OURS: [&str; 9] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[35m",
    "\u{1b}[36m",
    "\r\n",
];

fn assert_harmless(what: &str, shown: &str) {
    let rest = OURS.iter().fold(shown.to_owned(), |rest, ours| rest.replace(ours, "\n"));
    // A progress bar overwrites itself.
    let rest = rest.replace("\r\u{1b}[K", "");
    let is_bad = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!rest.contains(is_bad), "{what}: {rest:?}");
}

/// A project in which every name and every text is hostile.
fn evil_project() -> Project {
    let described = json!({ "name": "plain", "description": EVIL, "inputSchema": { "type": "object",
        "properties": { EVIL: { "type": "string", "description": EVIL } } } });
    let says = format!("#!/bin/sh\nprintf '%s\\n' '{EVIL}'; printf '%s\\n' '{EVIL}' >&2\n");
    Project::new()
        .file("server.d/server.meta.json", &json!({ "name": EVIL, "version": EVIL, "title": EVIL }).to_string())
        .tool(EVIL, &says)
        .script("tools/plain/tool.sh", &says)
        .file("tools/plain/tool.meta.json", &described.to_string())
        .tool("fails", &format!("{says}exit 3\n"))
        .file(&format!("tools/broken-{EVIL}/tool.meta.json"), "{")
        .file("tools/raises.py", "from mcp_bash import tool\n\n@tool\ndef f() -> int:\n    return 1\n\nraise ValueError('a\\x1b[2J\\x9b\\u202e')\n")
        .file("resources/r.meta.json", &json!({ "name": EVIL, "uri": "file:///r", "description": EVIL }).to_string())
        .file(&format!("prompts/{EVIL}/prompt.md"), EVIL)
        .file(&format!("tests/{EVIL}.test.yaml"), "- [")
        .script(&format!("providers/{EVIL}.sh"), "#!/bin/sh\n")
}

fn command(project: &Project, words: &[&str]) -> Command {
    let mut command = Server::command();
    command.args(words).current_dir(project.root()).env("TERM", "xterm").env("HOME", project.path("home"));
    command
}

#[test]
fn no_command_lets_a_project_take_over_the_terminal() {
    let project = evil_project();
    for words in [
        &["list"][..],
        &["list", "resources"],
        &["list", "prompts"],
        &["list", "--json"],
        &["validate"],
        &["validate", "--explain-defaults"],
        &["health"],
        &["doctor"],
        &["test"],
        &["call", "plain"],
        &["call", "plain", "--help"],
        &["call", "plain", "--json"],
        &["call", "fails"],
        &["call", EVIL],
        &["call", "nothing", "--project-root", EVIL],
        &["read", "file:///nothing"],
        &["run-tool", "plain"],
        &["provider", "tools/plain/tool.sh"],
        &["import", EVIL],
        &["config", "--show"],
        &["registry", "status"],
    ] {
        let (_, shown) = Terminal::of_columns(200).start(&command(&project, words)).finish();
        assert!(!shown.is_empty(), "{words:?}");
        assert_harmless(&format!("{words:?}"), &shown);
    }
    let (code, shown) = Terminal::of_columns(200).start(&command(&project, &["call", "plain"])).finish();
    assert!(code == Some(0) && shown.contains(SHOWN), "{shown}");
}

#[test]
fn a_pipe_gets_results_exactly_as_they_are() {
    let project = evil_project();
    let output = command(&project, &["call", "plain"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{EVIL}\n"));
    // Joiners between characters or words stay as the author wrote them.
    let project = Project::new().tool("wide", "#!/bin/sh\nprintf 'می\u{200c}خواهم 👩\u{200d}💻\\n\\tb\\n'\n");
    let (_, shown) = Terminal::of_columns(80).start(&command(&project, &["call", "wide"])).finish();
    assert_eq!(shown, "می\u{200c}خواهم 👩\u{200d}💻\r\n\tb\r\n");
}

/// The first message of a client with a hostile name, which asks for a hostile revision.
fn evil_greeting() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": EVIL, "capabilities": {}, "clientInfo": { "name": EVIL, "version": "\n1" } } })
}

#[test]
fn a_remote_caller_cannot_write_to_the_terminal_of_the_operator() {
    let project = evil_project();
    let mut serve = command(&project, &["serve", "--http", "127.0.0.1:0"]);
    serve.env("MCPBASH_LOG_LEVEL", "debug");
    let mut session = Terminal::of_columns(200).start(&serve);
    session.wait_for("Serving at http://");
    let address = session.wait_for("/mcp");
    let address = address.strip_suffix("/mcp").unwrap();
    let mut http = Http::new(TcpStream::connect(address).unwrap());
    http.send(&post(&[], &evil_greeting().to_string()));
    assert_eq!(http.response().status, 200);
    session.wait_for("client connected");
    session.press("\u{3}");
    let (_, shown) = session.finish();
    assert_harmless("the log", &shown);
    let connected = shown.lines().find(|line| line.contains("client connected")).unwrap();
    assert!(connected.contains(r"\u202e") && connected.contains(r"\n1"), "{connected}");
    assert!(shown.contains(r"tools/broken-e\u{1b}[2J"), "{shown}");
}

#[test]
fn a_json_log_is_harmless_too_and_loses_nothing() {
    let (project, elsewhere) = (evil_project(), Project::new());
    let path = elsewhere.path("server.log");
    let mut command = Server::command();
    command.arg("serve").arg(project.root()).arg("--log-file").arg(&path).env("MCPBASH_LOG_LEVEL", "debug");
    let mut server = Server::spawn(command);
    server.send(&evil_greeting());
    while server.receive()["id"] != 1 {}
    let stderr = server.finish();
    for log in [stderr, elsewhere.read("server.log")] {
        assert_harmless("the log", &log);
        let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let connected = events.into_iter().find(|event| event["message"] == "client connected").unwrap();
        assert_eq!(connected["client"], format!("{EVIL} \n1"), "{connected}");
        assert_eq!(connected["requested"], EVIL, "{connected}");
    }
}
