//! A file runs for discovery only if it carries a mark.

use crate::harness::{Project, Server, code, wait_until};
use serde_json::{Value, json};
use std::process::Output;

/// Does its work whenever it runs, whatever its arguments.
const CLEANUP: &str = "#!/bin/sh\nrm -f precious\necho cleaned\n";

/// Lists one tool, and records its arguments.
fn counting(tool: &str, comment: &str) -> String {
    format!(
        "#!/bin/sh\n# {comment}\necho \"$1\" >>asked\n\
         case $1 in\nlist) echo '{{\"name\":\"{tool}\"}}' ;;\n{tool}) echo '{{\"content\":[]}}' ;;\n*) exit 1 ;;\nesac\n"
    )
}

fn tools(server: &mut Server) -> Vec<Value> {
    let answer = server.ask("names", "tools/list", &json!({}));
    answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn names(server: &mut Server) -> Vec<String> {
    tools(server).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn run(project: &Project, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Server::command();
    command.args(arguments).arg("--project-root").arg(project.root()).envs(environment.iter().copied());
    command.output().expect("the binary runs")
}

/// Waits until clients are notified that the tools have changed.
fn wait_for_change(server: &mut Server) {
    while server.receive()["method"] != "notifications/tools/list_changed" {}
}

#[test]
fn a_script_without_a_mark_runs_only_when_called() {
    let project = Project::new().script("tools/cleanup.sh", CLEANUP).file("precious", "x");
    let is_there = |when: &str| assert!(project.path("precious").exists(), "{when}");
    for arguments in
        [&["--health"][..], &["registry", "refresh"], &["registry", "refresh", "--filter", "tools"]]
    {
        let output = run(&project, arguments, &[]);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        is_there(arguments[0]);
    }
    let mut server = Server::ready(project.root());
    let listed = tools(&mut server);
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0]["name"], &listed[0]["inputSchema"]),
        (&json!("cleanup"), &json!({ "type": "object", "properties": {} }))
    );
    is_there("at the start");
    project.write("tools/cleanup.sh", &format!("{CLEANUP}# saved\n"));
    project.write("tools/other.sh", "#!/bin/sh\n# mcp: {\"name\": \"other\"}\n");
    wait_for_change(&mut server);
    assert_eq!(names(&mut server), ["cleanup", "other"]);
    is_there("when it was saved");
    server.call(1, "cleanup");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "cleaned");
    assert!(!project.path("precious").exists());
}

#[test]
fn the_schema_the_mark_and_the_registration_count_as_marks() {
    let project = Project::new()
        .script("tools/speaks", &counting("one", "prints an inputSchema for each"))
        .script("tools/marked", &counting("two", "mcp: {\"provider\": true}"))
        .script("tools/silent", &counting("three", "says nothing"))
        .script("tools/described", &counting("four", "mcp: {\"name\": \"described\"}"));
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["described", "one", "silent", "two"]);
    assert_eq!(project.read("asked").lines().filter(|asked| *asked == "list").count(), 2);
    server.call(1, "two");
    assert_eq!(server.receive()["result"]["content"], json!([]));
}

/// A compiled program that runs the project file named by its first argument, with extra content.
fn compiled(project: Project, name: &str, held: &str) -> Project {
    let path = project.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::copy("/bin/bash", &path).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, held.as_bytes()).unwrap();
    project
}

#[test]
fn a_compiled_program_is_marked_by_a_text_anywhere_in_it() {
    let project = Project::new()
        .file("list", "echo '{\"name\": \"compiled\"}'\n")
        .file("compiled", "echo '{\"content\": []}'\n");
    let project = compiled(project, "tools/marked", "\0mcp: {\"provider\": true}\0");
    let project = compiled(project, "tools/other", "\0mcp: {\"provider\": false}\0");
    // A text that mentions the mark is not a program that contains it.
    let project = project.script(
        "tools/script",
        "#!/bin/sh\n\n\n\n\n\n\n\n\n\n\necho 'write mcp: {\"provider\": true} into it'\n",
    );
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["compiled", "other", "script"]);
    server.call(1, "compiled");
    assert_eq!(server.receive()["result"]["content"], json!([]));
}

#[test]
fn the_checks_report_compiled_programs_without_metadata() {
    let project = compiled(Project::with_hi(), "tools/silent", "");
    let project = compiled(project, "tools/described", "")
        .file("tools/described.meta.json", r#"{"name": "described"}"#);
    let project = compiled(project, "tools/deep/deep", "").script("tools/script", CLEANUP);
    let report = run(&project, &["--health"], &[]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let problems = report["problems"].as_array().unwrap();
    let told: Vec<&Value> = problems
        .iter()
        .filter(|problem| problem["problem"].as_str().unwrap().contains("one plain tool"))
        .collect();
    assert_eq!(told.len(), 1, "{report}");
    assert!(told[0]["file"].as_str().unwrap().ends_with("tools/silent"), "{report}");
    assert!(told[0]["remedy"].as_str().unwrap().contains(r#"mcp: {"provider": true}"#), "{report}");
}

#[test]
fn an_unchanged_registered_provider_is_listed_once() {
    let project = Project::new()
        .script("tools/silent", &counting("three", "says nothing"))
        .script("tools/deep/in/folders", &counting("deep", "says nothing"))
        .script("tools/plain.sh", "#!/bin/sh\necho plain\n")
        .file(
            "server.d/register.json",
            r#"{"version": 1, "tools": [{"path": "silent", "provider": true}, {"path": "deep/in/folders", "provider": true},
                {"name": "plain", "path": "plain.sh"}]}"#,
        );
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["deep", "plain", "three"]);
    server.call(1, "deep");
    assert_eq!(server.receive()["result"]["content"], json!([]));
    let asked = project.read("asked");
    project.write(
        "server.d/register.json",
        r#"{"version": 1, "tools": [{"path": "silent", "provider": true}, {"name": "plain", "path": "plain.sh"}]}"#,
    );
    wait_for_change(&mut server);
    assert_eq!(names(&mut server), ["plain", "three"]);
    assert_eq!(project.read("asked"), format!("{asked}deep\n").replace("deep\ndeep", "deep"));
}

#[test]
fn a_registered_provider_that_cannot_be_one_is_refused() {
    for (entry, problem) in [
        (r#"{"provider": true}"#, "`path` is missing"),
        (r#"{"path": "../bin/sh", "provider": true}"#, "below the tools folder"),
        (r#"{"path": "gone", "provider": true}"#, "No such file"),
        (r#"{"path": "asleep", "provider": true}"#, "chmod +x"),
    ] {
        let project = Project::new()
            .file("tools/asleep", "#!/bin/sh\n")
            .file("server.d/register.json", &format!(r#"{{"version": 1, "tools": [{entry}]}}"#));
        let answer = Server::ready(project.root()).ask(1, "tools/list", &json!({}));
        assert_eq!(code(&answer), -32603, "{entry}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(problem), "{problem} in {answer}");
    }
}

#[test]
fn a_mark_in_the_wrong_place_is_reported() {
    let project = Project::new()
        .script("tools/folder/tool.sh", &counting("one", "mcp: {\"provider\": true}"))
        .file("tools/asleep.sh", &counting("two", "mcp: {\"provider\": true}"))
        .script("tools/beside", &counting("three", "says nothing"))
        .file("tools/beside.meta.json", r#"{"provider": true}"#);
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["beside"]);
    assert_eq!(project.read("asked"), "");
    let told = server.finish();
    for (file, problem) in [
        ("folder/tool.sh", "counts only directly in the folder of the tools"),
        ("asleep.sh", "chmod +x"),
        ("beside.meta.json", "counts only in a `# mcp:` line"),
    ] {
        assert!(
            told.lines().any(|line| line.contains(file) && line.contains(problem)),
            "{problem} in {told}"
        );
    }
}

#[test]
fn all_executables_are_listed_only_while_the_setting_is_on() {
    let project = Project::new().script("tools/silent", &counting("three", "says nothing"));
    let all = [("MCPBASH_ASK_ALL_EXECUTABLES", "true")];
    // The registry of one mode must not be used in the other.
    for (environment, expected) in [
        (&[][..], "silent"),
        (&all[..], "three"),
        (&all[..], "three"),
        (&[][..], "silent"),
        (&all[..], "three"),
    ] {
        assert!(run(&project, &["registry", "refresh"], environment).status.success());
        let mut server = Server::ready_with(project.root(), environment, "2025-11-25");
        assert_eq!(names(&mut server), [expected]);
        server.finish();
    }
    let asked = project.read("asked");
    assert_eq!(asked.lines().filter(|asked| *asked == "list").count(), 2, "{asked}");
}

#[test]
fn a_huge_program_is_scanned_only_in_part() {
    let project = Project::with_hi().script("tools/endless", "");
    let file = std::fs::OpenOptions::new().write(true).open(project.path("tools/endless")).unwrap();
    file.set_len(1 << 42).unwrap();
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["endless", "hi"]);
    // Nor again when everything is cached.
    wait_until("the registry", || project.path(".registry/.tools.stamps").exists().then_some(()));
    server.finish();
    assert_eq!(names(&mut Server::ready(project.root())), ["endless", "hi"]);
}
