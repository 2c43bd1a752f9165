//! Executables that describe themselves: files in `tools/` that mention `inputSchema` or are marked, and
//! answer `list`.

use crate::harness::{Project, Server, code, wait_until};
use serde_json::{Value, json};
use std::process::{Command, Output};

/// Two tools, and instructions for the model, as a shell script.
const TEAM: &str = r#"#!/usr/bin/env bash
set -u
number() { sed -n "s/.*\"$1\"[[:space:]]*:[[:space:]]*\([0-9.]*\).*/\1/p" <<<"$2"; }
word() { sed -n "s/.*\"$1\"[[:space:]]*:[[:space:]]*\"\([^\"]*\)\".*/\1/p" <<<"$2"; }
result() { printf '{"content":[{"type":"text","text":"%s"}],"isError":false}\n' "$1"; }
case "$1" in
list)
	cat <<'EOT'
{ "name": "echo", "title": "Echo Tool", "description": "Echoes the input text.", "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] } }
{
  "name": "add",
  "title": "Addition Tool",
  "description": "Adds two numbers.",
  "inputSchema": { "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } }, "required": ["a", "b"] }
}
EOT
	;;
instructions) echo; echo "Add before you echo."; echo ;;
echo) result "$(word text "$2")" ;;
add)
	a=$(number a "$2") b=$(number b "$2")
	result "$((a + b))"
	;;
*) echo "Unknown: $1"; exit 1 ;;
esac
"#;

/// The same in Python.
const TEAM_IN_PYTHON: &str = r#"#!/usr/bin/env python3
import json, sys
def result(text):
    print(json.dumps({"content": [{"type": "text", "text": str(text)}], "isError": False}))
verb = sys.argv[1]
if verb == "list":
    for name, properties in {"echo": {"text": {"type": "string"}}, "add": {"a": {"type": "number"}, "b": {"type": "number"}}}.items():
        print(json.dumps({"name": name, "description": "In Python.", "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}}))
elif verb == "instructions":
    print("Add before you echo.")
elif verb == "echo":
    result(json.loads(sys.argv[2])["text"])
elif verb == "add":
    arguments = json.loads(sys.argv[2])
    result(arguments["a"] + arguments["b"])
else:
    sys.exit(1)
"#;

/// The same as a program to compile. It reads its arguments from standard input.
const TEAM_IN_RUST: &str = r##"
use std::io::Read;
fn main() {
    let verb = std::env::args().nth(1).unwrap_or_default();
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let after = |name: &str| input.split(&format!("\"{name}\":")).nth(1).unwrap().trim_start().to_owned();
    let number = |name: &str| -> f64 { after(name).split([',', '}']).next().unwrap().trim().parse().unwrap() };
    match &*verb {
        "list" => {
            println!(r#"{{"name":"echo","inputSchema":{{"type":"object","properties":{{"text":{{"type":"string"}}}},"required":["text"]}}}}"#);
            println!(r#"{{"name":"add","inputSchema":{{"type":"object","properties":{{"a":{{"type":"number"}},"b":{{"type":"number"}}}},"required":["a","b"]}}}}"#);
        }
        "instructions" => println!("Add before you echo."),
        "echo" => println!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, after("text").split('"').nth(1).unwrap()),
        "add" => println!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, number("a") + number("b")),
        _ => std::process::exit(1),
    }
}
"##;

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    server.ask("call", "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

fn names(server: &mut Server) -> Vec<String> {
    let answer = server.ask_past_news("names", "tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// A provider that lists one tool and then runs this code.
fn provider(tool: &str, does: &str) -> String {
    format!(
        "#!/bin/sh\n# mcp: {{\"provider\": true}}\ncase $1 in\nlist) echo '{{\"name\":\"{tool}\"}}' ;;\n{tool}) {does} ;;\n*) exit 1 ;;\nesac\n"
    )
}

/// A script that declares itself a provider, and runs this code.
fn marked(does: &str) -> String {
    format!("#!/bin/sh\n# mcp: {{\"provider\": true}}\n{does}\n")
}

/// Uses both tools as a client would.
fn try_out(project: &Project) {
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["add", "echo"]);
    server.finish();
    // The handshake waits for no provider: it contains the instructions of known ones.
    let mut server = Server::start(project.root());
    assert_eq!(server.initialize("2025-11-25")["instructions"], "Add before you echo.");
    assert_eq!(names(&mut server), ["add", "echo"]);
    assert_eq!(text(&call(&mut server, "echo", &json!({ "text": "Hello" }))), "Hello");
    assert_eq!(text(&call(&mut server, "add", &json!({ "a": 40, "b": 2 }))), "42");
    // Arguments are checked against the schema before the provider runs.
    let unfit = call(&mut server, "add", &json!({ "a": 40 }));
    assert_eq!(unfit["result"]["isError"], true);
    assert!(text(&unfit).contains('b'), "{unfit}");
}

#[test]
fn a_shell_script_provides_tools() {
    let project = Project::new().script("tools/team.sh", TEAM);
    try_out(&project);
    let mut server = Server::ready(project.root());
    let tools = server.ask(1, "tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools[0]["title"], "Addition Tool");
    assert_eq!(tools[1]["description"], "Echoes the input text.");
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["text"]));
}

#[test]
fn a_python_script_provides_tools() {
    try_out(&Project::new().script("tools/team", TEAM_IN_PYTHON));
}

#[test]
fn a_compiled_program_provides_tools() {
    let project = Project::new().file("team.rs", TEAM_IN_RUST).file("tools/.keep", "");
    let compiled = Command::new(std::env::var("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2021", "-o"])
        .arg(project.path("tools/team"))
        .arg(project.path("team.rs"))
        .status();
    assert!(compiled.unwrap().success());
    try_out(&project);
}

#[test]
fn both_kinds_live_in_one_folder() {
    let project = Project::with_hi()
        .script("tools/team.sh", TEAM)
        .script("tools/inline.sh", "#!/bin/sh\n# mcp: {\"name\": \"inline\"}\necho inline\n")
        .script("tools/beside.sh", "#!/bin/sh\necho beside\n")
        .file("tools/beside.meta.json", r#"{"name": "beside"}"#)
        .file("tools/README.md", "not executable")
        .file("server.d/server.instructions.md", "Be kind.");
    let mut server = Server::start(project.root());
    assert_eq!(server.initialize("2025-11-25")["instructions"], "Be kind.");
    assert_eq!(names(&mut server), ["add", "beside", "echo", "hi", "inline"]);
    server.finish();
    let mut server = Server::start(project.root());
    assert_eq!(server.initialize("2025-11-25")["instructions"], "Be kind.\n\nAdd before you echo.");
    assert_eq!(names(&mut server), ["add", "beside", "echo", "hi", "inline"]);
    assert_eq!(text(&call(&mut server, "beside", &json!({}))), "beside");
    assert_eq!(text(&call(&mut server, "add", &json!({ "a": 1, "b": 2 }))), "3");
}

#[test]
fn failures_are_errors_as_documented() {
    let project = Project::new()
        .script("tools/fails", &provider("fails", "echo 'disk full'; echo aside >&2; exit 3"))
        .script("tools/rubbish", &provider("rubbish", "echo '{oops'"))
        .script("tools/shapeless", &provider("shapeless", "echo '{\"text\": 1}'"))
        .script("tools/own-error", &provider("own-error", "echo '{\"content\":[],\"isError\":true}'"))
        .script("tools/slow", &provider("slow", "sleep 1000"))
        .script("tools/denied", &provider("denied", "echo '{\"content\":[]}'"));
    let allowed = "fails rubbish shapeless own-error slow";
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_TOOL_ALLOWLIST", allowed)], "2025-11-25");
    let mut error = |tool: &str| {
        let answer = call(&mut server, tool, &json!({}));
        (code(&answer), answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned())
    };
    assert_eq!(error("fails"), (-32603, "Tool 'fails' failed (exit 3): disk full\naside".to_owned()));
    let (number, message) = error("rubbish");
    assert_eq!(number, -32603);
    assert!(message.starts_with("Tool 'rubbish' returned invalid JSON: "), "{message}");
    assert_eq!(
        error("shapeless"),
        (-32603, "Tool 'shapeless' returned invalid JSON:\n{\"text\": 1}".to_owned())
    );
    assert!(error("denied").1.contains("MCPBASH_TOOL_ALLOWLIST"));
    assert_eq!(call(&mut server, "own-error", &json!({}))["result"]["isError"], true);
    let slow = server.ask(2, "tools/call", &json!({ "name": "slow", "timeoutSecs": 1 }));
    assert_eq!(slow["result"]["structuredContent"]["error"]["type"], "timeout");
}

#[test]
fn a_name_in_two_providers_is_served_by_neither() {
    let project = Project::new()
        .tool("hi", "#!/bin/sh\necho script\n")
        .script("tools/a", &provider("hi", "echo '{\"content\":[]}'"))
        .script("tools/b", &provider("twice", "echo '{\"content\":[]}'"))
        .script("tools/c", &provider("twice", "echo '{\"content\":[]}'"))
        .script("tools/d", &provider("alone", "echo '{\"content\":[]}'"));
    let mut server = Server::ready(project.root());
    let (hi, twice) = ("hi:tools/a,tools/hi/tool.sh", "twice:tools/c,tools/b");
    let listed = server.ask_past_news(1, "tools/list", &json!({}));
    assert_eq!(code(&listed), -32603);
    assert_eq!(listed["error"]["message"], format!("Duplicate tool names: {hi} {twice}"));
    let called = call(&mut server, "twice", &json!({}));
    assert_eq!(code(&called), -32603);
    assert_eq!(called["error"]["message"], format!("Tool name 'twice' duplicated ({twice})"));
    assert_eq!(call(&mut server, "alone", &json!({}))["result"]["content"], json!([]));

    // Once fixed, everything works again.
    for file in ["tools/a", "tools/c"] {
        std::fs::remove_file(project.path(file)).unwrap();
    }
    wait_until("the names to be distinct", || {
        server.request("again", "tools/list", &json!({}));
        loop {
            let message = server.receive();
            if message["id"] == "again" {
                let result = message.get("result")?;
                return (result["tools"].as_array().unwrap().len() == 3).then_some(());
            }
        }
    });
}

#[test]
fn a_provider_that_does_not_answer_hides_no_other() {
    let project = Project::new()
        .script("tools/good", &provider("good", "echo '{\"content\":[]}'"))
        .script("tools/fails", &marked("echo 'no licence' >&2; exit 7"))
        .script("tools/hangs", &marked("echo thinking; sleep 1000"))
        .script("tools/prints-rubbish", &marked("echo 'Usage: me [OPTION]'"))
        .script("tools/nameless", &marked("echo '{\"description\": \"x\"}'"))
        .script("tools/empty", &marked(":"))
        .script("tools/floods", &marked("yes | head -c 3000000"));
    let settings = [("MCPBASH_PROVIDER_TIMEOUT", "3"), ("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "1000000")];
    let mut server = Server::ready_with(project.root(), &settings, "2025-11-25");
    assert_eq!(names(&mut server), ["good"]);
    let log = server.finish();
    for (file, said) in [
        ("tools/fails", "failed (exit 7) and printed: no licence"),
        ("tools/hangs", "timed out after 3 s"),
        ("tools/hangs", "thinking"),
        ("tools/prints-rubbish", "Usage: me [OPTION]"),
        ("tools/nameless", "`name` is missing"),
        ("tools/empty", "named no tool"),
        ("tools/floods", "printed more than 1000000 bytes"),
    ] {
        let file = project.path(file).display().to_string();
        assert!(
            log.lines().any(|line| line.contains(&file) && line.contains(said)),
            "{file}: {said} in {log}"
        );
    }
    let mut health = Server::command();
    health.args(["--health", "--project-root"]).arg(project.root()).envs(settings);
    let report = String::from_utf8(health.output().unwrap().stdout).unwrap();
    assert!(report.contains("no licence") && report.contains(r#""tools":1"#), "{report}");

    let strict = [settings[0], settings[1], ("MCPBASH_STRICT_PROVIDERS", "true")];
    let mut server = Server::ready_with(project.root(), &strict, "2025-11-25");
    let listed = server.ask_past_news(1, "tools/list", &json!({}));
    assert_eq!(code(&listed), -32603);
    let message = listed["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Tool listing failed: ") && message.contains("no licence"), "{message}");
    assert_eq!(call(&mut server, "good", &json!({}))["result"]["content"], json!([]));
}

#[test]
fn an_unchanged_provider_is_not_asked_again() {
    let counting = |tool: &str| {
        marked(&format!("echo \"$1\" >>asked\n[ \"$1\" = list ] && echo '{{\"name\":\"{tool}\"}}'"))
    };
    let project = Project::new().script("tools/counts", &counting("first"));
    let quiet = [("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &quiet, "2025-11-25");
    assert_eq!(names(&mut server), ["first"]);
    project.wait_for_file(".registry/.providers.stamps");
    server.finish();
    let mut server = Server::ready_with(project.root(), &quiet, "2025-11-25");
    assert_eq!(names(&mut server), ["first"]);
    assert_eq!(project.read("asked"), "list\ninstructions\n");

    let project = project.script("tools/counts", &counting("second"));
    let announced = server.receive();
    assert_eq!(announced["method"], "notifications/tools/list_changed");
    assert_eq!(names(&mut server), ["second"]);
    assert_eq!(project.read("asked"), "list\ninstructions\nlist\ninstructions\n");
}

#[test]
fn a_provider_that_leaves_children_blocks_no_request() {
    let project = Project::new().script(
        "tools/leaves",
        "#!/bin/sh\n# mcp: {\"provider\": true}\nsleep 1000 &\ncase $1 in\nlist) echo '{\"name\":\"leaves\"}' ;;\nleaves) echo '{\"content\":[{\"type\":\"text\",\"text\":\"left\"}]}' ;;\nesac\n",
    );
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["leaves"]);
    assert_eq!(text(&call(&mut server, "leaves", &json!({}))), "left");
}

#[test]
fn arguments_that_are_too_long_are_on_standard_input() {
    let reads =
        provider("size", "printf '{\"content\":[{\"type\":\"text\",\"text\":\"%s %s\"}]}' $# \"$(wc -c)\"");
    let project = Project::new()
        .script("tools/reads", &reads)
        .script("tools/cannot", &provider("cannot", "[ $# -gt 1 ] || { echo 'no arguments'; exit 2; }"));
    let mut server = Server::ready(project.root());
    let long = json!({ "text": "x".repeat(200_000) });
    assert_eq!(
        text(&call(&mut server, "size", &json!({}))).split_whitespace().collect::<Vec<_>>(),
        ["2", "2"]
    );
    let words = call(&mut server, "size", &long);
    assert_eq!(text(&words).split_whitespace().collect::<Vec<_>>(), ["1", "200011"]);
    let answer = call(&mut server, "cannot", &long);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("no arguments") && message.contains("only on its standard input"), "{message}");
}

fn check(project: &Project, file: &str) -> Output {
    let mut command = Server::command();
    command.args(["provider", "check"]).arg(project.path(file)).output().unwrap()
}

#[test]
fn the_check_shows_what_a_client_would_see() {
    let project = Project::new()
        .script("tools/team.sh", TEAM)
        .script(
            "elsewhere/ping",
            &provider("ping", "echo '{\"content\":[{\"type\":\"text\",\"text\":\"pong\"}]}'"),
        )
        .script("tools/broken", &provider("broken", "echo oops"))
        .script("tools/mute", &marked("exit 2"))
        .script("tools/plain", "#!/bin/sh\ntouch ran\n");
    let shown = |file: &str| {
        let output = check(&project, file);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = shown("tools/team.sh");
    assert_eq!(status, Some(0), "{text}");
    for words in ["2 tools", "Add before you echo.", "add: Adds two numbers.", "not called: it needs a, b"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let (status, text) = shown("elsewhere/ping");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("1 tool\n") && text.contains("called without arguments: a result: pong"), "{text}");
    let (status, text) = shown("tools/broken");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("returned invalid JSON"), "{text}");
    let (status, text) = shown("tools/mute");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("failed (exit 2)"), "{text}");
    let (status, text) = shown("tools/plain");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains(r#"`# mcp: {"provider": true}`"#) && !project.path("ran").exists(), "{text}");
    let missing = check(&project, "nowhere");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("nowhere"));
}
