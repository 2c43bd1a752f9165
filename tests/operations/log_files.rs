//! Files for debugging: logs, traces, the notes of single calls, and those of a CI run.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn project() -> Project {
    Project::new()
        .tool("noisy", "#!/usr/bin/env bash\necho 'on the side' >&2\necho done\n")
        .tool("fails", "#!/usr/bin/env bash\necho 'not today' >&2\nexit 7\n")
}

/// The lines of a file of JSON objects.
fn objects(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The files in a folder whose names start with this.
fn files(folder: &Path, beginning: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with(beginning));
    found.sort();
    found
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn script_output_is_kept_whatever_the_level_of_the_log() {
    let (project, elsewhere) = (project(), Project::new());
    let folder = elsewhere.path("logs");
    let environment = [("MCPBASH_LOG_DIR", folder.to_str().unwrap()), ("MCPBASH_LOG_LEVEL", "error")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.ask_past_news("call", "tools/call", &json!({ "name": "noisy", "arguments": {} }));
    server.finish();
    assert_eq!(objects(&folder.join("script-output.log"))[0]["stderr"], "on the side");
    assert!(objects(&folder.join("mcp-bash.log")).is_empty());
}

#[test]
fn the_log_folder_has_the_standard_error_of_tools() {
    let (project, elsewhere) = (project(), Project::new());
    let folder = elsewhere.path("new/logs");
    let mut server = Server::ready_with(
        project.root(),
        &[("MCPBASH_LOG_DIR", &folder.display().to_string())],
        "2025-11-25",
    );
    server.call(1, "noisy");
    while server.receive().get("id").is_none() {}
    server.call(2, "fails");
    while server.receive().get("id").is_none() {}
    let stderr = server.finish();
    let output = folder.join("script-output.log");
    let said: Vec<_> = objects(&output)
        .into_iter()
        .filter(|event| event["message"] == "a tool wrote to standard error")
        .collect();
    assert_eq!((&said[0]["tool"], &said[0]["stderr"]), (&json!("noisy"), &json!("on the side")), "{said:?}");
    assert_eq!((&said[1]["tool"], &said[1]["stderr"]), (&json!("fails"), &json!("not today")), "{said:?}");
    let log = folder.join("mcp-bash.log");
    for file in [&log, &output] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for text in [&stderr, &fs::read_to_string(&log).unwrap()] {
        assert!(
            !text.contains("on the side") && !text.contains("not today"),
            "that file alone has it: {text}"
        );
        assert!(text.contains("a call failed"), "{text}");
    }
}

/// Functions that fail after they have printed something, and one that prints without end.
fn failing_functions() -> Project {
    let python = r"from mcp_bash import ToolError, prompt, resource, tool

def inner():
    raise ValueError('no such day')

@tool
def fails() -> int:
    print('on the way')
    return inner()

@tool
def advises() -> int:
    raise ToolError('no such day')

@tool
def floods() -> str:
    for number in range(20000):
        print('line', number)
    return 'done'

@resource('days://today')
def today() -> str:
    return inner()

@prompt
def plan() -> str:
    return inner()
";
    let node = "import { tool } from 'mcp-bash'\nfunction inner() {\n  throw new RangeError('no such day')\n}\nexport const throws = tool('x', {}, () => {\n  console.log('on the way')\n  inner()\n})\n";
    Project::new().file("tools/fails.py", python).file("tools/throws.mjs", node)
}

#[test]
fn logs_of_functions_are_kept_whatever_the_client_receives() {
    let (project, elsewhere) = (failing_functions(), Project::new());
    let folder = elsewhere.path("logs");
    let environment = [("MCPBASH_LOG_DIR", folder.to_str().unwrap())];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.ask("level", "logging/setLevel", &json!({ "level": "emergency" }));
    for (tool, trace) in [("fails", "line 4, in inner"), ("throws", "throws.mjs:3")] {
        let answer = server.ask_past_news(tool, "tools/call", &json!({ "name": tool, "arguments": {} }));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(!answer.to_string().contains("on the way"), "{answer}");
        let log = objects(&folder.join("script-output.log"));
        let of_call = |event: &&Value| event["call"] == format!("Tool '{tool}'");
        let logged: Vec<_> = log.iter().filter(of_call).collect();
        assert_eq!(logged.len(), 2, "{logged:?}");
        assert_eq!((&logged[0]["level"], &logged[0]["text"]), (&json!("info"), &json!("on the way")));
        assert_eq!((&logged[1]["level"], &logged[1]["by"]), (&json!("error"), &json!(tool)));
        assert!(logged[1]["text"].as_str().unwrap().contains(trace), "{logged:?}");
        let log = objects(&folder.join("mcp-bash.log"));
        let failed = log.iter().find(|event| event["message"] == "a call failed" && event["tool"] == tool);
        let failed = failed.unwrap_or_else(|| panic!("{log:?}"));
        assert_eq!(failed["error"], "its result says that it failed", "{failed}");
    }
    for (method, params, what) in [
        ("resources/read", json!({ "uri": "days://today" }), "Resource 'today'"),
        ("prompts/get", json!({ "name": "plan" }), "Prompt 'plan'"),
    ] {
        server.ask(what, method, &params);
        let log = objects(&folder.join("script-output.log"));
        let traces = log.iter().filter(|event| event["call"] == what);
        let traces: Vec<_> = traces.map(|event| event["text"].as_str().unwrap()).collect();
        assert!(traces.len() == 1 && traces[0].contains("line 4, in inner"), "{what}: {traces:?}");
    }
    server.ask("advises", "tools/call", &json!({ "name": "advises", "arguments": {} }));
    let log = objects(&folder.join("mcp-bash.log"));
    assert!(log.iter().any(|event| event["message"] == "a call failed" && event["tool"] == "advises"));
    let stderr = server.finish();
    for said in ["in inner", "on the way", "no such day"] {
        assert!(!stderr.contains(said), "the file alone has it: {stderr}");
        assert!(!log.iter().any(|event| event.to_string().contains(said)), "{log:?}");
    }
}

#[test]
fn the_end_of_a_functions_log_is_kept_up_to_the_limit() {
    for (environment, most) in [
        (("MCPBASH_TOOL_STDERR_TAIL_LIMIT", "4096"), 4096),
        (("MCPBASH_TOOL_STDERR_TAIL_LIMIT", "500"), 500),
        (("MCPBASH_TOOL_STDERR_CAPTURE", "false"), 0),
    ] {
        let (project, elsewhere) = (failing_functions(), Project::new());
        let folder = elsewhere.path("logs");
        let environment = [("MCPBASH_LOG_DIR", folder.to_str().unwrap()), environment];
        let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
        server.ask("level", "logging/setLevel", &json!({ "level": "emergency" }));
        for tool in ["floods", "fails"] {
            server.ask_past_news(tool, "tools/call", &json!({ "name": tool, "arguments": {} }));
        }
        let log = objects(&folder.join("script-output.log"));
        let flood: Vec<_> = log.iter().filter(|event| event["call"] == "Tool 'floods'").collect();
        let text: String = flood.iter().map(|event| event["text"].as_str().unwrap()).collect();
        assert!(text.len() <= most, "{}", text.len());
        if most == 0 {
            assert!(!log.iter().any(|event| event.to_string().contains("no such day")), "{log:?}");
        } else {
            assert!(text.ends_with("line 19999"), "{text}");
            assert_eq!(flood[0]["isCut"], true);
        }
    }
}

#[test]
fn a_result_that_breaks_its_schema_is_logged_with_the_rule_and_without_its_value() {
    let schema =
        r#"{"description":"x","outputSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}"#;
    let project = Project::new()
        .script("tools/wrong/tool.sh", "#!/usr/bin/env bash\necho '{\"a\": \"hunter2\"}'\n")
        .file("tools/wrong/tool.meta.json", schema);
    let mut server = Server::ready(project.root());
    let answer = server.ask(1, "tools/call", &json!({ "name": "wrong", "arguments": {} }));
    assert_eq!(code(&answer), -32603, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("hunter2"), "{answer}");
    let stderr = server.finish();
    assert!(!stderr.contains("hunter2"), "{stderr}");
    let event = stderr.lines().find(|line| line.contains("a call failed")).unwrap();
    let event: Value = serde_json::from_str(event).unwrap();
    assert_eq!(event["error"], "its result does not satisfy its outputSchema", "{event}");
    assert_eq!((&event["rule"], &event["problems"]), (&json!("/properties/a/type"), &json!(1)), "{event}");
}

#[test]
fn a_log_folder_that_cannot_be_created_is_an_error_at_the_start() {
    let project = project().file("taken", "");
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).env("MCPBASH_LOG_DIR", project.path("taken"));
    let output = command.output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("taken"), "{output:?}");
}

#[test]
fn standard_error_is_not_captured_if_disabled() {
    let project = project();
    let environment = [("MCPBASH_TOOL_STDERR_CAPTURE", "false"), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "fails");
    let answer = server.receive();
    assert!(text(&answer).contains("exit 7") && !answer.to_string().contains("not today"), "{answer}");
}

#[test]
fn notes_of_a_call_have_their_own_file() {
    let script = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_debug checkpoint\ncat \"$MCPBASH_DEBUG_LOG\"\nprintf %s \"$MCPBASH_DEBUG_LOG\" >where\n";
    let (project, elsewhere) = (Project::new().tool("notes", script), Project::new());
    let logs = elsewhere.path("logs").display().to_string();
    for environment in [vec![], vec![("MCPBASH_LOG_DIR", &*logs)]] {
        let mut all = vec![("MCPBASH_LOG_LEVEL", "emergency")];
        all.extend(&environment);
        let mut server = Server::ready_with(project.root(), &all, "2025-11-25");
        let mut paths = Vec::new();
        for id in 1..=2 {
            server.call(id, "notes");
            let answer = server.receive();
            assert_eq!(text(&answer).matches("checkpoint").count(), 1, "nothing of another call: {answer}");
            paths.push(project.read("where"));
        }
        server.finish();
        assert!(paths[0] != paths[1] || environment.is_empty(), "{paths:?}");
        assert_eq!(Path::new(&paths[0]).exists(), !environment.is_empty(), "kept only in a folder of logs");
    }
    assert_eq!(files(Path::new(&logs), "tool-debug.notes.").len(), 2);
}

#[test]
fn log_files_are_private_even_in_a_world_readable_folder() {
    let script = "#!/usr/bin/env bash\numask 0\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_debug s3cr3t\necho done\n";
    let project = Project::with_hi().tool("notes", script);
    let elsewhere = Project::new();
    let logs = elsewhere.path("logs");
    fs::create_dir(&logs).unwrap();
    fs::set_permissions(&logs, fs::Permissions::from_mode(0o755)).unwrap();
    let environment = [("MCPBASH_TRACE_TOOLS", "true"), ("MCPBASH_LOG_DIR", &*logs.display().to_string())];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    for (id, tool) in [(1, "notes"), (2, "hi")] {
        server.call(id, tool);
        assert!(server.receive()["result"].is_object(), "{tool}");
    }
    server.finish();
    let all = files(&logs, "");
    for kind in ["tool-debug.notes.", "trace.notes.", "mcp-bash.log"] {
        assert_eq!(files(&logs, kind).len(), 1, "{kind} among {all:?}");
    }
    for file in &all {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(files(&logs, "tool-debug.hi.").len(), 0, "a call without notes leaves no file: {all:?}");
}

#[test]
fn commands_of_bash_scripts_are_recorded_up_to_a_limit() {
    let project = project().tool(
        "long",
        "#!/usr/bin/env bash\nset -u\nfor ((i = 0; i < 500; i++)); do :; done\nprintf '%s' \"$i\"\n",
    );
    let elsewhere = Project::new();
    let logs = elsewhere.path("logs");
    let environment = [
        ("MCPBASH_TRACE_TOOLS", "true"),
        ("MCPBASH_TRACE_MAX_BYTES", "2000"),
        ("MCPBASH_LOG_DIR", &*logs.display().to_string()),
        ("MCPBASH_LOG_LEVEL", "emergency"),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "long");
    let answer = server.receive();
    assert_eq!(text(&answer), "500");
    assert!(!answer.to_string().contains("+ tool.sh"), "standard error is the script's own: {answer}");
    let traces = files(&logs, "trace.long.");
    assert_eq!(traces.len(), 1, "{traces:?}");
    let trace = fs::read_to_string(&traces[0]).unwrap();
    assert!(trace.len() <= 2000 && trace.ends_with("+ tool.sh:4: printf %s 500\n"), "{trace}");
    // It does not affect scripts in other languages.
    let project = Project::with_hi();
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "hi");
    assert_eq!(text(&server.receive()), "hi");
}

#[test]
fn a_result_that_breaks_its_schema_is_explained_on_request() {
    let schema = r#"{"name": "s", "outputSchema": {"type": "object", "required": ["x"]}}"#;
    let project = Project::new()
        .tool("s", "#!/usr/bin/env bash\necho trouble >&2\necho '{}'\n")
        .file("tools/s/tool.meta.json", schema);
    for (wanted, explained) in [("false", false), ("true", true)] {
        let environment = [("MCPBASH_DEBUG_ERRORS", wanted), ("MCPBASH_LOG_LEVEL", "emergency")];
        let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
        server.call(1, "s");
        let answer = server.receive();
        assert_eq!(code(&answer), -32603, "{answer}");
        let data = &answer["error"]["data"];
        assert_eq!(
            data["tool"] == "s" && data["exitCode"] == 0 && data["traceAvailable"] == false,
            explained,
            "{answer}"
        );
        assert_eq!(
            data["stderrTail"].as_str().is_some_and(|said| said.contains("trouble")),
            explained,
            "{answer}"
        );
    }
}

#[test]
fn a_ci_run_gets_a_summary_of_failures_and_environment() {
    let (project, elsewhere) = (project(), Project::new());
    let logs = elsewhere.path("logs");
    let environment = [
        ("MCPBASH_CI_MODE", "true"),
        ("MCPBASH_LOG_DIR", &*logs.display().to_string()),
        ("MCPBASH_TMP_ROOT", &*elsewhere.path("tmp").display().to_string()),
        ("MCPBASH_TRACE_TOOLS", "true"),
        ("MCPBASH_LOG_LEVEL", "emergency"),
        ("SECRET", "hunter2"),
    ];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.ask(1, "tools/call", &json!({ "name": "fails", "arguments": { "a": 1, "b": "private" } }));
    server.call(2, "noisy");
    server.receive();
    server.finish();
    let summary = objects(&logs.join("failure-summary.jsonl"));
    assert_eq!(summary.len(), 1, "{summary:?}");
    let failure = &summary[0];
    assert_eq!(
        (&failure["tool"], &failure["exitCode"], &failure["timedOut"]),
        (&json!("fails"), &json!(7), &json!(false))
    );
    assert_eq!((&failure["argCount"], &failure["stderrTail"]), (&json!(2), &json!("not today\n")));
    assert!(
        failure["argHash"].as_str().unwrap().len() == 64 && !failure.to_string().contains("private"),
        "{failure}"
    );
    assert_eq!(failure["traceLine"], "+ tool.sh:3: exit 7");
    let snapshot = &objects(&logs.join("env-snapshot.json"))[0];
    assert!(
        snapshot["bashVersion"].as_str().unwrap().starts_with(|first: char| first.is_ascii_digit()),
        "{snapshot}"
    );
    assert!(
        snapshot["envBytes"].as_u64().unwrap() > 0 && !snapshot.to_string().contains("hunter2"),
        "{snapshot}"
    );
    assert_eq!(files(&elsewhere.path("tmp"), "").len(), 1, "the private folder is kept where it was wanted");
}

#[test]
fn scripts_receive_variables_about_the_server() {
    let script = "#!/usr/bin/env bash\necho \"$MCPBASH_FRAMEWORK_VERSION\"; cat \"$MCPBASH_HOME/VERSION\"; touch \"$MCPBASH_STATE_DIR/x\" && echo \"$MCPBASH_TMP_ROOT\"\n";
    let (project, elsewhere) = (Project::new().tool("told", script), Project::new());
    let temporary = elsewhere.root().canonicalize().unwrap().display().to_string();
    let environment = [("MCPBASH_TMP_ROOT", &*temporary), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "told");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text(&server.receive()), format!("{version}\n{version}\n{temporary}"));
    assert_eq!(files(elsewhere.root(), "").len(), 1, "the private folder is there");
    server.finish();
    assert_eq!(files(elsewhere.root(), "").len(), 0, "and goes with the server");
}

#[test]
fn log_files_are_kept_on_request() {
    let (project, elsewhere) = (project(), Project::new());
    let temporary = elsewhere.root().display().to_string();
    let environment = [("MCPBASH_TMP_ROOT", &*temporary), ("MCPBASH_KEEP_LOGS", "true")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    server.call(1, "noisy");
    server.receive();
    server.finish();
    assert_eq!(files(elsewhere.root(), "").len(), 1, "the private folder outlives the server");
}

#[test]
fn lines_on_a_terminal_have_timestamps_on_request() {
    let project = Project::new().file("tools/broken/tool.meta.json", "{");
    let warning = |environment: &[(&str, &str)]| {
        // `script` gives the server a terminal; its input ends at once.
        let served =
            format!("{} --project-root {}", env!("CARGO_BIN_EXE_mcp-bash"), project.root().display());
        let mut command = Command::new("script");
        command.args(["-qec", &served, "/dev/null"]).stdin(Stdio::null()).envs(environment.iter().copied());
        let output = command.output().expect("`script` of util-linux");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = shown.lines().find(|line| line.contains("mcp-bash warning:"));
        line.unwrap_or_else(|| panic!("{shown}")).to_owned()
    };
    assert!(warning(&[]).starts_with("mcp-bash warning:"));
    let timed = warning(&[("MCPBASH_LOG_TIMESTAMP", "true")]);
    let (time, _) = timed.split_once(" mcp-bash warning:").unwrap_or_else(|| panic!("{timed}"));
    assert!(time.starts_with("20") && time.contains('T') && time.ends_with('Z'), "{timed}");
}
