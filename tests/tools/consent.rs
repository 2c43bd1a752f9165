//! Tools that run only with the consent of a person: over stdio, on the command line, as functions, in tests of a project.

use crate::command_line::call::{command, run};
use crate::harness::{Project, Server, Terminal, stateless_meta};
use crate::testing::test;
use serde_json::{Value, json};

const REMOVE: &str = r#"{
    "name": "remove", "description": "Removes a file", "confirm": "Remove {file}?",
    "argv": ["{file}"],
    "inputSchema": {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}
}"#;

/// A tool that notes each of its runs.
fn project() -> Project {
    Project::new()
        .script("tools/remove/tool.sh", "#!/bin/sh\necho \"$1\" >>runs\necho \"removed $1\"\n")
        .file("tools/remove/tool.meta.json", REMOVE)
}

fn runs(project: &Project) -> Vec<String> {
    let runs = std::fs::read_to_string(project.path("runs")).unwrap_or_default();
    runs.lines().map(str::to_owned).collect()
}

fn chosen(choice: &str) -> Value {
    json!({ "action": "accept", "content": { "consent": choice } })
}

fn remove(file: &str) -> Value {
    json!({ "name": "remove", "arguments": { "file": file } })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_session_asks_before_the_script_runs() {
    let project = project();
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-06-18", &json!({ "elicitation": {} }));
    let mut choose = |id: u32, file: &str, choice: &str| {
        server.request(id, "tools/call", &remove(file));
        let asked = server.receive();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"].get("mode"), None, "that revision has no modes: {asked}");
        let message = asked["params"]["message"].as_str().expect("a message");
        assert!(message.contains(&format!("Remove \"{file}\"?")), "{message}");
        server.reply(&asked, &chosen(choice));
        text(&server.receive()).trim_end().to_owned()
    };
    assert_eq!(choose(1, "a", "no"), "Tool 'remove' was not run: the user declined");
    assert_eq!(choose(2, "a", "session"), "removed a");
    assert_eq!(choose(3, "b", "once"), "removed b");
    assert_eq!(text(&server.ask(4, "tools/call", &remove("a"))).trim_end(), "removed a");
    assert_eq!(runs(&project), ["a", "b", "a"]);
    server.finish();
}

#[test]
fn without_a_session_the_answer_comes_with_another_request() {
    let project = project();
    let mut server = Server::start(project.root());
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    let mut call = |id: u32, file: &str, asked: Option<&Value>, choice: &str| {
        let mut params = remove(file);
        params["_meta"] = meta.clone();
        if let Some(asked) = asked {
            params["requestState"] = asked["result"]["requestState"].clone();
            params["inputResponses"] = json!({ "consent": chosen(choice) });
        }
        server.ask(id, "tools/call", &params)
    };
    let asked = call(1, "a", None, "");
    assert_eq!(asked["result"]["inputRequests"]["consent"]["method"], "elicitation/create", "{asked}");
    let altered = call(2, "b", Some(&asked), "once");
    assert_eq!(altered["error"]["code"], -32602, "{altered}");
    assert_eq!(runs(&project), [""; 0]);
    assert_eq!(text(&call(3, "a", Some(&asked), "once")).trim_end(), "removed a");
    let replayed = call(4, "a", Some(&asked), "once");
    assert_eq!(replayed["error"], altered["error"], "refused in the same words");
    let asked = call(5, "a", None, "");
    assert!(text(&call(6, "a", Some(&asked), "no")).contains("the user declined"));
    assert_eq!(runs(&project), ["a"]);
    server.finish();
}

#[test]
fn only_the_operator_can_allow_calls_without_consent() {
    let project = project()
        .file("server.d/env.sh", "export MCPBASH_ALLOW_UNCONFIRMED=true\n")
        .file("server.d/server.meta.json", r#"{"settings": {"allowUnconfirmed": "true"}}"#);
    let mut server = Server::ready(project.root());
    let refused = server.ask(1, "tools/call", &remove("a"));
    assert_eq!(refused["result"]["isError"], true);
    assert!(text(&refused).ends_with("MCPBASH_ALLOW_UNCONFIRMED=remove"), "{refused}");
    assert_eq!(refused["result"]["structuredContent"]["error"]["reason"], "unavailable", "{refused}");
    let log = server.finish();
    assert!(log.contains("a call was not run for lack of consent") && log.contains("unavailable"), "{log}");
    assert!(log.contains("MCPBASH_ALLOW_UNCONFIRMED") && log.contains("opens a gate"), "{log}");
    assert_eq!(runs(&project), [""; 0]);

    let environment = [("MCPBASH_ALLOW_UNCONFIRMED", "remove")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    assert_eq!(text(&server.ask(1, "tools/call", &remove("a"))).trim_end(), "removed a");
    let log = server.finish();
    assert!(log.contains("a call runs without the consent that its tool asks for"), "{log}");
}

#[test]
fn the_command_line_asks_on_the_terminal_or_has_the_consent_already() {
    let project = project();
    let (code, shown) = Terminal::of_columns(100)
        .start(&command(&project, &["call", "remove", "file=a"]))
        .when("Run it?", "once\n")
        .finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("May the tool `remove` run?") && shown.contains("removed a"), "{shown}");
    let (code, shown) = Terminal::of_columns(100)
        .start(&command(&project, &["call", "remove", "file=a"]))
        .when("Run it?", "!\n")
        .finish();
    assert_eq!(code, Some(3), "{shown}");
    assert_eq!(runs(&project), ["a"]);

    let (code, _, shown) = run(&project, &["call", "remove", "file=b"]);
    assert_eq!(code, Some(3), "{shown}");
    let (code, printed, _) = run(&project, &["call", "--yes", "remove", "file=c"]);
    assert_eq!((code, printed.trim_end()), (Some(0), "removed c"));
    assert_eq!(runs(&project), ["a", "c"]);
}

#[test]
fn yes_after_the_name_of_a_tool_is_for_the_tool_only_if_it_has_such_an_argument() {
    let project = project();
    for (words, file) in [
        (&["call", "remove", "file=d", "--yes"][..], "d"),
        (&["call", "remove", "-y", "--file", "e"], "e"),
        (&["run-tool", "remove", "--file=f", "--yes"], "f"),
    ] {
        let (code, printed, said) = run(&project, words);
        assert_eq!(code, Some(0), "{words:?}: {printed}{said}");
        assert!(printed.contains(&format!("removed {file}")), "{words:?}: {printed}");
    }
    // `--yes` as the value of another flag is that value.
    let (code, printed, _) = run(&project, &["call", "remove", "--file", "--yes"]);
    assert!(code != Some(0) && !printed.contains("removed"), "{printed}");
    let metadata = json!({
        "name": "sure", "description": "Asks", "confirm": true,
        "inputSchema": { "type": "object", "properties": { "yes": { "type": "boolean" } } },
    });
    let project = project
        .script("tools/sure/tool.sh", "#!/bin/sh\necho ran\n")
        .file("tools/sure/tool.meta.json", &metadata.to_string());
    let (code, printed, _) = run(&project, &["call", "sure", "--yes"]);
    assert!(code == Some(3) && !printed.contains("ran\n"), "{printed}");
    let (code, printed, _) = run(&project, &["call", "--yes", "sure", "--yes"]);
    assert_eq!((code, &*printed), (Some(0), "ran\n"));
}

#[test]
fn without_a_terminal_the_command_line_says_how_to_consent() {
    let (_, printed, said) = run(&project(), &["call", "remove", "file=b"]);
    assert!(format!("{printed}{said}").contains("needs the consent of a person"), "{printed}{said}");
    assert!(said.contains("`mcp-bash call --yes TOOL …` gives the consent"), "{said}");
}

#[test]
fn yes_on_the_command_line_answers_no_other_question() {
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_elicit_confirm 'Really?'\n";
    let project = Project::new()
        .script("tools/asks/tool.sh", script)
        .file("tools/asks/tool.meta.json", r#"{"name": "asks", "description": "Asks", "confirm": true}"#);
    let (code, printed, _) = run(&project, &["call", "--yes", "asks"]);
    assert_eq!(code, Some(0));
    assert!(printed.contains("decline"), "{printed}");
}

#[test]
fn functions_declare_it_too() {
    let project = Project::new()
        .file(
            "tools/py.py",
            "from mcp_bash import tool\n\n@tool(confirm='Drop {table}?')\ndef drop(table: str) -> str:\n    \"Drops.\"\n    return 'dropped ' + table\n",
        )
        .file(
            "tools/js.mjs",
            "import { tool } from 'mcp-bash'\nexport const wipe = tool({ description: 'Wipes.', confirm: true }, () => 'wiped')\n",
        );
    let mut server = Server::start(project.root());
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    let mut consented = |id: u32, params: &Value| {
        server.request(id, "tools/call", params);
        let asked = loop {
            let message = server.receive();
            if message["method"] != "notifications/tools/list_changed"
                && message["method"] != "notifications/message"
            {
                break message;
            }
        };
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        server.reply(&asked, &chosen("once"));
        let answer = server.receive();
        (asked["params"]["message"].as_str().unwrap().to_owned(), text(&answer).to_owned())
    };
    let (question, answer) = consented(1, &json!({ "name": "drop", "arguments": { "table": "x" } }));
    assert!(question.contains("Drop \"x\"?"), "{question}");
    assert_eq!(answer, "dropped x");
    let (question, answer) = consented(2, &json!({ "name": "wipe", "arguments": {} }));
    assert!(question.contains("It gets no arguments."), "{question}");
    assert_eq!(answer, "wiped");
    server.finish();
}

#[test]
fn a_wrong_declaration_never_ends_as_none() {
    let project = project()
        .tool("plain", "#!/bin/sh\necho ran\n")
        .script("tools/typo/tool.sh", "#!/bin/sh\necho ran\n")
        .file(
            "tools/typo/tool.meta.json",
            r#"{"name": "typo", "confirm": "Remove {fil}?", "inputSchema":
            {"type": "object", "properties": {"file": {"type": "string"}}}}"#,
        )
        .file("server.d/server.meta.json", r#"{"confirm": "destructiv"}"#);
    let mut server = Server::ready(project.root());
    let listed = server.ask_past_news(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools");
    assert!(tools.iter().all(|tool| tool["name"] != "typo"), "{listed}");
    assert!(tools.iter().all(|tool| tool["_meta"]["mcpbash/confirm"] == true), "all of them ask: {listed}");
    let log = server.finish();
    assert!(log.contains("`confirm` uses the argument `fil`"), "{log}");
    assert!(log.contains("makes all tools ask for consent"), "{log}");
}

#[test]
fn a_registry_of_a_version_without_consent_is_not_believed() {
    let project = project();
    let mut server = Server::ready(project.root());
    server.ask(1, "tools/list", &json!({}));
    server.finish();
    let registry = project.read(".registry/tools.json");
    let older = registry.replace(r#""confirm":"Remove {file}?","#, "");
    assert_ne!(registry, older, "it is kept there: {registry}");
    project.write(".registry/tools.json", &older);
    let stamps = project.read(".registry/.tools.stamps");
    assert!(stamps.starts_with("4 signs"), "{stamps}");
    project.write(".registry/.tools.stamps", &stamps.replacen("4 signs", "3 signs", 1));
    let mut server = Server::ready(project.root());
    let refused = server.ask(1, "tools/call", &remove("a"));
    assert!(text(&refused).contains("needs the consent"), "{refused}");
    server.finish();
}

#[test]
fn a_case_says_whether_its_user_consents() {
    let cases = |text: &str| project().file("tools/remove/tests/remove.yaml", text);
    let passed = test(
        &cases(
            "- {name: agrees, arguments: {file: a}, confirm: true, expect: {contains: removed a}}\n\
             - {name: refuses, arguments: {file: a}, confirm: false, expect: {error: the user declined}}\n",
        ),
        &[],
    );
    assert_eq!(passed.code, Some(0), "{passed:?}");
    let problem = |project: &Project| {
        let ran = test(project, &[]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        ran.stdout
    };
    let unsaid = problem(&cases("arguments: {file: a}\nexpect: {error: closed}\n"));
    assert!(unsaid.contains("say `confirm: true` or `confirm: false` in the case"), "{unsaid}");
    let never_asked = Project::new()
        .tool("plain", "#!/bin/sh\necho ran\n")
        .file("tools/plain/tests/plain.yaml", "confirm: true\n");
    let unused = problem(&never_asked);
    assert!(unused.contains("it has not asked for the consent that `confirm` gives"), "{unused}");
}
