//! `mcp-bash list`, `read`, `get` and `complete`: everything a server offers besides tool calls, from the
//! command line.

use crate::command_line::call::{command, project, run};
use crate::functions::SUMS;
use crate::harness::{Project, Terminal};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

fn whole_project() -> Project {
    let root = |project: &Project| project.root().canonicalize().unwrap().display().to_string();
    let project = project()
        .file("resources/note.txt", "a note\n")
        .file("resources/raw.bin", "")
        .file("prompts/review/review.txt", "Review this ${language} code")
        .file(
            "prompts/review/review.meta.json",
            r#"{"name":"review","description":"Reviews code","path":"review.txt","arguments":[{"name":"language","description":"Which one","required":true}]}"#,
        )
        .script("completions/language.sh", "#!/bin/sh\nprintf '{\"suggestions\":[\"bash\",\"basic\"]}'\n")
        .file("server.d/register.json", r#"{"version":1,"completions":[{"name":"review","path":"completions/language.sh"}]}"#);
    std::fs::write(project.path("resources/raw.bin"), b"\x00\xff\x01").unwrap();
    for (name, file) in [("note", "note.txt"), ("raw", "raw.bin")] {
        let entry = json!({ "name": name, "description": format!("The {name}"), "uri": format!("file://{}/resources/{file}", root(&project)) });
        project.write(&format!("resources/{name}.meta.json"), &entry.to_string());
    }
    project
}

fn uri(project: &Project, file: &str) -> String {
    format!("file://{}/resources/{file}", project.root().canonicalize().unwrap().display())
}

#[test]
fn a_table_for_people_and_entries_for_programs() {
    let project = whole_project();
    let expected = "disk  Shows what fills a disk\nhi    The tool hi\n";
    assert_eq!(run(&project, &["list", "tools"]), (Some(0), expected.to_owned(), String::new()));
    let (_, stdout, _) = run(&project, &["list", "tools", "-v"]);
    assert!(stdout.starts_with("disk  Shows what fills a disk\n    path (string, required)  Where to look\n    top (integer)  How many\n"), "{stdout}");
    let (_, stdout, _) = run(&project, &["list", "prompts", "--verbose"]);
    assert_eq!(stdout, "review  Reviews code\n    language (required)  Which one\n");
    let (_, stdout, _) = run(&project, &["list", "completions"]);
    assert_eq!(stdout, "review\n");
    let (code, stdout, _) = run(&project, &["list"]);
    assert_eq!(code, Some(0));
    let headings: Vec<&str> = stdout.lines().filter(|line| line.contains('(')).collect();
    assert_eq!(headings, ["tools (2)", "resources (2)", "prompts (1)", "completions (1)"], "{stdout}");
    let (_, stdout, _) = run(&project, &["list", "tools", "--json"]);
    let entries: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(entries[0]["inputSchema"]["properties"]["top"]["default"], json!(3));
    let (_, stdout, _) = run(&project, &["list", "--json"]);
    let all: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        all.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["tools", "resources", "templates", "prompts", "completions"]
    );
    let (code, stdout, stderr) = run(&project, &["list", "templates"]);
    assert_eq!((code, &*stdout, &*stderr), (Some(0), "", "mcp-bash: the server does not offer templates\n"));
    assert_eq!(run(&project, &["list", "tols"]).0, Some(2));
}

#[test]
fn entries_missing_from_a_list_are_reported() {
    let project = Project::new();
    for name in ["a", "b", "c", "sums"] {
        project.write(&format!("tools/{name}.py"), SUMS);
        let others_may_write = Permissions::from_mode(0o664);
        std::fs::set_permissions(project.path(&format!("tools/{name}.py")), others_may_write).unwrap();
    }
    let (code, stdout, stderr) = run(&project, &["list"]);
    assert_eq!((code, &*stdout), (Some(0), ""));
    assert!(
        stderr.contains("a.py: is skipped: ") && stderr.contains("`mcp-bash validate --fix`"),
        "{stderr}"
    );
    assert!(stderr.contains("1 more: `mcp-bash validate` tells what is missing"), "{stderr}");
    let (code, _, stderr) = run(&project, &["call", "add", "a=1", "b=2"]);
    assert_eq!(code, Some(4));
    assert!(stderr.contains("tool not found: add; ") && stderr.contains("a.py: is skipped: "), "{stderr}");
    assert_eq!(run(&project, &["validate", "--fix", "--yes"]).0, Some(1), "tools of the same names are left");
    for name in ["a", "b", "c"] {
        std::fs::remove_file(project.path(&format!("tools/{name}.py"))).unwrap();
    }
    assert_eq!(run(&project, &["call", "add", "a=1", "b=2"]), (Some(0), "3\n".to_owned(), String::new()));
}

#[test]
fn another_server_is_listed_the_same_way() {
    let project = whole_project();
    let server = format!("{} --project-root '{}'", env!("CARGO_BIN_EXE_mcp-bash"), project.root().display());
    assert_eq!(run(&project, &["list", "tools", "--command", &server]), run(&project, &["list", "tools"]));
    let (code, _, stderr) = run(&project, &["list", "completions", "--command", &server]);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(
        run(&project, &["get", "review", "language=c", "--command", &server]).1,
        "user:\nReview this c code\n"
    );
    assert_eq!(run(&project, &["read", &uri(&project, "note.txt"), "--command", &server]).1, "a note\n");
}

#[test]
fn text_is_shown_and_bytes_only_where_they_are_harmless() {
    let project = whole_project();
    let (note, raw) = (uri(&project, "note.txt"), uri(&project, "raw.bin"));
    assert_eq!(run(&project, &["read", &note]), (Some(0), "a note\n".to_owned(), String::new()));
    let output = command(&project, &["read", &raw]).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"\x00\xff\x01"[..]));
    let (code, shown) = Terminal::of_columns(80).start(&command(&project, &["read", &raw])).finish();
    assert_eq!(code, Some(0));
    assert!(shown.starts_with("[resource ") && shown.contains("3 bytes; --save DIR keeps it]"), "{shown}");
    assert_eq!(run(&project, &["read", &raw, "-o", "out.bin"]).0, Some(0));
    assert_eq!(std::fs::read(project.path("out.bin")).unwrap(), b"\x00\xff\x01");
    let (code, _, stderr) = run(&project, &["read", &raw, "-o", "out.bin"]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("out.bin") && stderr.contains("exists"), "{stderr}");
    assert_eq!(run(&project, &["read", &raw, "--save", "saved"]).0, Some(0));
    assert_eq!(std::fs::read(project.path("saved/raw.bin")).unwrap(), b"\x00\xff\x01");
    let (_, stdout, _) = run(&project, &["read", &note, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["contents"][0]["text"], json!("a note\n"));
    assert_ne!(run(&project, &["read", "nothing://here"]).0, Some(0));
}

#[test]
fn the_messages_of_a_prompt_are_shown() {
    let project = whole_project();
    assert_eq!(
        run(&project, &["get", "review", "language=c"]),
        (Some(0), "user:\nReview this c code\n".to_owned(), String::new())
    );
    let (_, stdout, _) = run(&project, &["get", "review", "language=c", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["messages"][0]["role"], json!("user"));
    for (words, code, problem) in [
        (&["get", "revew"][..], 4, "prompt not found: revew; did you mean `review`?"),
        (&["get", "review"], 2, "lacks `language`"),
        (&["get", "review", "langage=c"], 2, "did you mean `language`?"),
        (&["get", "review", "language"], 2, "write key=value"),
    ] {
        let (status, stdout, stderr) = run(&project, words);
        assert_eq!((status, &*stdout), (Some(code), ""), "{words:?}: {stderr}");
        assert!(stderr.contains(problem), "{stderr}");
    }
}

#[test]
fn completions_are_shown_a_line_each() {
    let project = whole_project();
    let (code, stdout, stderr) = run(&project, &["complete", "prompt", "review", "language", "ba"]);
    assert_eq!((code, &*stdout), (Some(0), "bash\nbasic\n"), "{stderr}");
    let (_, stdout, _) = run(&project, &["complete", "prompt", "review", "language", "ba", "--json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&stdout).unwrap()["completion"]["values"],
        json!(["bash", "basic"])
    );
    assert_eq!(run(&project, &["complete", "prompt", "review", "language", "", "x"]).0, Some(2));
    assert_eq!(run(&project, &["complete", "tool", "x", "y"]).0, Some(2));
    let (code, _, stderr) = run(&project, &["complete", "prompt", "reviw", "language"]);
    assert!(code == Some(4) && stderr.contains("`review`"), "{code:?} {stderr}");
}

#[test]
fn pages_that_loop_are_an_error() {
    let project = Project::new().script(
        "server",
        "#!/bin/sh\nwhile read -r line; do\n\tid=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\t[ -n \"$id\" ] || continue\n\tprintf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"},\"tools\":[{\"name\":\"t\"}],\"nextCursor\":\"again\"}}\\n' \"$id\"\ndone\n",
    );
    let (code, stdout, stderr) = run(&project, &["list", "tools", "--command", "./server"]);
    assert_eq!((code, stdout.as_str()), (Some(6), ""), "{stderr}");
    assert!(stderr.contains("pages of tools/list that lead back to an earlier one"), "{stderr}");
}
