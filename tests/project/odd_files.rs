//! Special files in place of a project's files: a named pipe without a writer, an endless device, a huge
//! file. In each case the server answers, serves the rest, and exits on request.

use crate::harness::{Project, Server, make_pipe, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A path that may hold a special file, and the effect on the project.
struct Place {
    path: &'static str,
    /// The path in the message on standard error, if there is one at the start.
    told_of: Option<&'static str>,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// The tool `hi` can be called.
    Served,
    /// It is listed and refused, because the project's rules are unknown.
    Refused,
    /// An invalid registration stops everything.
    NothingServed,
}

const fn told(path: &'static str) -> Place {
    Place { path, told_of: Some(path), outcome: Outcome::Served }
}

const PLACES: [Place; 26] = [
    told("tools/odd/tool.sh"),
    told("tools/odd/tool.meta.json"),
    told("tools/odd/tool.sh.meta.json"),
    told("tools/yaml/tool.meta.yaml"),
    told("tools/loner.sh"),
    told("tools/helper/notes"),
    told("tools/odd/icon.png"),
    told("resources/odd.txt"),
    told("resources/odd.meta.json"),
    told("resources/alone.meta.json"),
    told("prompts/odd.md"),
    told("prompts/odd.meta.json"),
    told("prompts/alone.meta.json"),
    Place { path: "prompts/odd.completion", told_of: None, outcome: Outcome::Served },
    Place { path: "providers/odd.sh", told_of: None, outcome: Outcome::Served },
    told("server.d/server.meta.json"),
    told("server.d/server.instructions.md"),
    told("VERSION"),
    told("package.json"),
    told("config/roots.json"),
    told(".registry/tools.json"),
    told(".registry/.tools.stamps"),
    told(".registry/prompts.json"),
    Place { path: "server.d/policy.sh", told_of: None, outcome: Outcome::Refused },
    Place {
        path: "server.d/register.json",
        told_of: Some("server.d/register.json"),
        outcome: Outcome::NothingServed,
    },
    Place {
        path: "server.d/register.sh",
        told_of: Some("server.d/register.sh"),
        outcome: Outcome::NothingServed,
    },
];

/// A project in which each of the places is read.
fn project() -> Project {
    Project::with_hi()
        .tool("odd", "#!/bin/sh\necho odd\n")
        .file(
            "tools/odd/tool.meta.json",
            r#"{"name": "odd", "icons": [{"src": "icon.png", "mimeType": "image/png"}]}"#,
        )
        .file("tools/odd/icon.png", "\u{89}PNG")
        .script("tools/yaml/tool.sh", "#!/bin/sh\necho yaml\n")
        .file("tools/helper/other", "beside it")
        .file("resources/odd.txt", "odd")
        .file("resources/other.txt", "other")
        .file("prompts/odd.md", "odd")
        .file("server.d/notes", "a folder that is there")
        .file("config/notes", "a folder that is there")
        .file("providers/notes", "a folder that is there")
        .file(".registry/notes", "a folder that is there")
}

fn put_pipe(path: &Path) {
    clear(path);
    make_pipe(path, 0o700);
}

fn put_endless(path: &Path) {
    clear(path);
    symlink("/dev/zero", path).expect("a link");
}

fn clear(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

/// A file of one terabyte, which takes no space on disk.
fn put_huge(path: &Path) {
    clear(path);
    fs::File::create(path).expect("a file").set_len(1 << 40).expect("its size");
}

/// The answer to a request, whatever comes before it.
fn ask(server: &mut Server, method: &str, params: &Value) -> Value {
    let id = json!(format!("{method} {params}"));
    server.request(id.clone(), method, params);
    loop {
        let message = server.receive();
        if message["id"] == id {
            return message;
        }
    }
}

fn tool_names(server: &mut Server) -> Vec<String> {
    let list = ask(server, "tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn start(project: &Project) -> Server {
    let environment = [("MCPBASH_ALLOW_PROJECT_HOOKS", "true")];
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

/// Checks that the server works, and uses the special file.
fn examine(server: &mut Server, place: &Place) {
    let path = place.path;
    assert_eq!(ask(server, "ping", &json!({}))["result"], json!({}), "{path}");
    let called = ask(server, "tools/call", &json!({ "name": "hi", "arguments": {} }));
    match place.outcome {
        Outcome::Served => assert_eq!(called["result"]["content"][0]["text"], "hi", "{path}: {called}"),
        Outcome::Refused => {
            let why = called["error"]["message"].as_str().unwrap_or_default();
            assert!(why.contains("policy.sh is not trusted"), "{path}: {called}");
        }
        Outcome::NothingServed => assert!(called.get("error").is_some(), "{path}: {called}"),
    }
    // Whatever the answers are, they arrive.
    ask(server, "tools/call", &json!({ "name": "odd", "arguments": {} }));
    ask(server, "prompts/get", &json!({ "name": "odd" }));
    ask(server, "resources/read", &json!({ "uri": "odd://x" }));
    let reference = json!({ "type": "ref/prompt", "name": "odd" });
    let argument = json!({ "name": "x", "value": "" });
    ask(server, "completion/complete", &json!({ "ref": reference, "argument": argument }));
    for list in ["prompts/list", "resources/list", "resources/templates/list"] {
        ask(server, list, &json!({}));
    }
}

fn end(mut server: Server, path: &str) -> String {
    server.signal(Signal::TERM);
    server.wait();
    let said = server.stderr();
    assert!(!said.contains("panicked"), "{path}: {said}");
    said
}

fn odd_from_the_start(put: fn(&Path), reason: &str) {
    for place in &PLACES {
        let project = project();
        put(&project.path(place.path));
        let mut server = start(&project);
        examine(&mut server, place);
        let said = end(server, place.path);
        if let Some(file) = place.told_of {
            let is_told =
                |line: &str| line.contains(file) && (line.contains(reason) || line.contains("is a link"));
            assert!(said.lines().any(is_told), "{}: {said}", place.path);
        }
    }
}

fn odd_while_it_runs(put: fn(&Path)) {
    for place in &PLACES {
        let project = project();
        let mut server = start(&project);
        assert!(tool_names(&mut server).contains(&"hi".to_owned()));
        put(&project.path(place.path));
        // An invalid file does not replace a valid one, so nothing changes in these cases.
        if place.outcome == Outcome::NothingServed {
            examine(&mut server, &Place { outcome: Outcome::Served, ..*place });
        } else {
            let project = project.tool("late", "#!/bin/sh\n");
            wait_until("the project to be read again", || {
                tool_names(&mut server).contains(&"late".to_owned()).then_some(())
            });
            examine(&mut server, place);
            drop(project);
        }
        end(server, place.path);
    }
}

#[test]
fn a_named_pipe_in_the_place_of_a_file_hangs_nothing() {
    odd_from_the_start(put_pipe, "it is a named pipe, not a file");
}

#[test]
fn a_device_in_the_place_of_a_file_floods_nothing() {
    odd_from_the_start(put_endless, "it is a device, not a file");
}

#[test]
fn a_named_pipe_that_comes_later_hangs_nothing() {
    odd_while_it_runs(put_pipe);
}

#[test]
fn a_device_that_comes_later_floods_nothing() {
    odd_while_it_runs(put_endless);
}

#[test]
fn a_named_pipe_in_the_place_of_a_folder_hangs_nothing() {
    for path in
        ["tools", "resources", "prompts", "providers", "completions", "server.d", "config", ".registry"]
    {
        let project = project();
        let running = start(&project);
        put_pipe(&project.path(path));
        for mut server in [running, start(&project)] {
            for method in ["ping", "tools/list", "resources/list", "prompts/list"] {
                ask(&mut server, method, &json!({}));
            }
            ask(&mut server, "tools/call", &json!({ "name": "hi", "arguments": {} }));
            end(server, path);
        }
    }
}

#[test]
fn a_huge_file_is_refused_with_its_limit() {
    let data = ["tools/odd/tool.meta.json", "tools/yaml/tool.meta.yaml", "prompts/alone.meta.json"];
    let server_files =
        ["server.d/server.meta.json", "server.d/server.instructions.md", "VERSION", "package.json"];
    let others = ["config/roots.json", ".registry/tools.json", ".registry/.tools.stamps"];
    let fatal = ["server.d/register.json", "server.d/register.sh"];
    for path in data.iter().chain(&server_files).chain(&others).chain(&fatal) {
        let project = project();
        put_huge(&project.path(path));
        let mut server = start(&project);
        assert_eq!(ask(&mut server, "ping", &json!({}))["result"], json!({}), "{path}");
        assert_eq!(tool_names(&mut server).contains(&"hi".to_owned()), !fatal.contains(path), "{path}");
        let said = end(server, path);
        let is_told = |line: &str| line.contains(path) && line.contains(" bytes");
        assert!(said.lines().any(is_told), "{path}: {said}");
    }
    let project = project();
    put_huge(&project.path("server.d/policy.sh"));
    let called = ask(&mut start(&project), "tools/call", &json!({ "name": "hi", "arguments": {} }));
    assert!(called["error"]["message"].as_str().unwrap().contains("more than 1048576 bytes"), "{called}");
}

/// The checks apply to the opened file, whatever the catalog has seen.
#[test]
fn a_script_that_just_became_a_pipe_is_refused() {
    let project = project();
    let mut server = start(&project);
    // With a static registry, files are not read again.
    let mut command = Server::command();
    command.args(["registry", "refresh", "--project-root"]).arg(project.root());
    assert!(command.output().expect("the binary runs").status.success());
    end(server, "");
    for put in [put_pipe, put_endless] {
        put(&project.path("tools/hi/tool.sh"));
        server = Server::ready_with(project.root(), &[("MCPBASH_STATIC_REGISTRY", "true")], "2025-11-25");
        let called = ask(&mut server, "tools/call", &json!({ "name": "hi", "arguments": {} }));
        let why = called["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("tools/hi/tool.sh cannot be used: it is a"), "{called}");
        let other = ask(&mut server, "tools/call", &json!({ "name": "odd", "arguments": {} }));
        assert_eq!(other["result"]["content"][0]["text"], "odd");
        end(server, "");
    }
}

#[test]
fn special_files_in_place_of_the_registry_are_replaced() {
    let project = project();
    put_pipe(&project.path(".registry/tools.json"));
    fs::create_dir_all(project.path("elsewhere")).unwrap();
    let project = project.file("elsewhere/precious", "precious");
    let server = start(&project);
    // The temporary file of the registry has a predictable name.
    symlink(
        project.path("elsewhere/precious"),
        project.path(&format!(".registry/.prompts.json.{}", server.child.id())),
    )
    .unwrap();
    put_pipe(&project.path(&format!(".registry/.tools.json.{}", server.child.id())));
    for registry in [".registry/tools.json", ".registry/prompts.json"] {
        wait_until(registry, || {
            project.path(registry).symlink_metadata().is_ok_and(|file| file.is_file()).then_some(())
        });
    }
    assert_eq!(project.read("elsewhere/precious"), "precious");
    end(server, "");
}

fn outcome_of(project: &Project, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut command = Server::command();
    let output = command.args(arguments).arg("--project-root").arg(project.root()).output();
    let output = output.expect("the binary runs");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

#[test]
fn special_files_do_not_block_other_commands() {
    for put in [put_pipe, put_endless, put_huge] {
        let project = project();
        put(&project.path("server.d/health-checks.sh"));
        let (status, report) = outcome_of(&project, &["--health"]);
        assert_eq!((status, &report["projectChecks"]), (Some(1), &json!("failed")), "{report}");
        put(&project.path(".registry/tools.json"));
        let (_, report) = outcome_of(&project, &["registry", "status"]);
        assert_eq!(report["tools"]["status"], "unreadable");
        assert_eq!(outcome_of(&project, &["registry", "refresh"]).0, Some(0));
        assert_eq!(outcome_of(&project, &["registry", "status"]).1["tools"]["status"], "present");
    }
    for put in [put_pipe, put_endless] {
        let project = project();
        let log = project.path("log");
        put(&log);
        assert_eq!(outcome_of(&project, &["--log-file", log.to_str().unwrap()]).0, Some(2));
    }
}

#[test]
fn special_files_do_not_block_commands_that_read_other_files() {
    for (put, what) in [(put_pipe as fn(&Path), "a named pipe"), (put_endless, "a device")] {
        let project = project();
        put(&project.path("server.d/server.meta.json"));
        let (_, report) = outcome_of(&project, &["doctor", "--json"]);
        assert_eq!(report["project"]["serverMetaValid"], false, "{what}: {report}");
        clear(&project.path("server.d/server.meta.json"));
        put(&project.path("VERSION"));
        let (code, report) = outcome_of(&project, &["validate", "--explain-defaults", "--json"]);
        assert!(code.is_some() && report.is_object(), "{what}: {report}");
        fs::create_dir(project.path(".schemas")).unwrap();
        put(&project.path(".schemas/tool.schema.json"));
        let said = said_by(&project, &["schema", "--write"]);
        assert!(said.0 == Some(1) && said.1.contains(&format!("it is {what}, not a file")), "{said:?}");
    }
}

#[test]
fn special_files_in_tests_are_reported() {
    for (put, what) in [(put_pipe as fn(&Path), "a named pipe"), (put_endless, "a device")] {
        let case = "- name: copies\n  files: { a: { from: odd } }\n";
        let project = Project::with_hi().file("tools/hi/tests/hi.yaml", case);
        put(&project.path("tools/hi/tests/odd"));
        let (code, _, out) = said_and_printed(&project, &["test"]);
        assert!(code == Some(1) && out.contains(&format!("it is {what}, not a file")), "{out}");
        put(&project.path("tools/hi/tests/more.yaml"));
        let (code, said) = said_by(&project, &["test"]);
        let told = format!("tools/hi/tests/more.yaml: it is {what}, not a file");
        assert!(code == Some(2) && said.contains(&told), "{said}");
    }
}

/// Any script of the user can create it.
#[test]
fn a_pipe_in_the_cache_of_the_sdk_hangs_no_call_and_no_server() {
    let cache = tempfile::tempdir().unwrap();
    let script = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_emit_text sourced\n";
    let project = Project::new().tool("sourcing", script).file("tools/sums.py", crate::functions::SUMS);
    let call = |words: &[&str]| {
        let mut command = Server::command();
        command.args(words).current_dir(project.root()).env("XDG_CACHE_HOME", cache.path());
        let output = command.output().expect("the binary runs");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let sdk = Path::new(&call(&["sdk-path"])).to_owned();
    for put in [put_pipe, put_endless] {
        for words in [&["call", "sourcing"][..], &["call", "add", "a:=1", "b:=2"]] {
            put(&sdk.join("tool-sdk.sh"));
            assert_eq!(call(words), if words.len() == 2 { "sourced" } else { "3" });
        }
        put(&sdk.join("tool-sdk.sh"));
        let environment = [("XDG_CACHE_HOME", cache.path().to_str().unwrap())];
        let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
        let sum = ask(&mut server, "tools/call", &json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
        assert_eq!(sum["result"]["content"][0]["text"], "3", "{sum}");
        end(server, "the cache");
    }
}

fn said_by(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let (code, said, _) = said_and_printed(project, arguments);
    (code, said)
}

fn said_and_printed(project: &Project, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Server::command().args(arguments).current_dir(project.root()).output();
    let output = output.expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stderr), text(&output.stdout))
}
