//! The registry on disk: a cache of the discovered entries.

use crate::functions::SUMS;
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn registry(project: &Project) -> Option<Value> {
    serde_json::from_str(&project.read(".registry/tools.json")).ok()
}

fn names(root: &std::path::Path, environment: &[(&str, &str)]) -> Vec<String> {
    let mut server = Server::ready_with(root, environment, "2025-11-25");
    let list = server.ask(1, "tools/list", &json!({}));
    list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// A project whose registry has been written.
fn registered() -> Project {
    let project = Project::new()
        .script("tools/a/tool.sh", "#!/bin/sh\necho a\n")
        .file(
            "tools/a/tool.meta.json",
            r#"{"name": "alpha", "title": "A", "description": "First", "timeoutSecs": 7, "annotations": {"readOnlyHint": true},
                "inputSchema": {"type": "object", "properties": {"n": {"default": 1.10}}}}"#,
        )
        .tool("hi", "#!/bin/sh\necho hi\n");
    let server = Server::ready(project.root());
    wait_until("the registry", || registry(&project));
    project.wait_for_file(".registry/.tools.stamps");
    server.finish();
    project
}

#[test]
fn the_envelope_is_as_documented() {
    let project = registered();
    let registry = registry(&project).unwrap();
    assert_eq!((&registry["version"], &registry["total"]), (&json!(1), &json!(2)));
    assert_eq!(registry["format_version"], 1);
    assert!(registry["generatedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(registry["hash"].as_str().unwrap().len(), 64);
    assert_eq!(registry["items"][0]["name"], "alpha");
    assert_eq!(registry["items"][0]["path"], "a/tool.sh");
    assert_eq!(registry["items"][0]["timeoutSecs"], 7);
    assert!(project.read(".registry/tools.json").contains("1.10"));
}

/// Two servers that write at once may leave the registry of one and the stamps of the other.
#[test]
fn a_file_that_only_the_stamps_know_is_served() {
    let project = Project::new().file("tools/one.py", SUMS);
    // The registry is written before the server ends.
    let served = |project: &Project| {
        let mut server = Server::ready(project.root());
        let count = server.ask(1, "tools/list", &json!({}))["result"]["tools"].as_array().unwrap().len();
        server.finish();
        count
    };
    assert_eq!(served(&project), 2);
    let lacks = project.read(".registry/functions.json");
    let project = project
        .file("tools/two.py", "from mcp_bash import tool\n\n@tool\ndef later() -> int:\n    return 1\n");
    assert_eq!(served(&project), 3);
    assert!(project.read(".registry/functions.json").contains("later"));
    let project = project.file(".registry/functions.json", &lacks);
    assert_eq!(served(&project), 3);
}

#[test]
fn the_hash_does_not_depend_on_the_formatting_of_the_metadata() {
    let project = registered();
    let before = registry(&project).unwrap()["hash"].clone();
    std::fs::remove_dir_all(project.path(".registry")).unwrap();
    let project = project.file(
        "tools/a/tool.meta.json",
        r#"{"inputSchema":{"properties":{"n":{"default":1.1}},"type":"object"},"timeoutSecs":7,"annotations":{"readOnlyHint":true},"description":"First","title":"A","name":"alpha"}"#,
    );
    let server = Server::ready(project.root());
    let after = wait_until("the registry", || registry(&project));
    server.finish();
    assert_eq!(after["hash"], before);
}

#[test]
fn a_changed_file_is_read_again_and_the_others_are_not() {
    let project = registered();
    // The registry differs from the files on purpose: an entry that still shows its text was not read again.
    let forged = project
        .read(".registry/tools.json")
        .replace("The tool hi", "From the registry")
        .replace("First", "Also");
    let project = project
        .file(".registry/tools.json", &forged)
        .file("tools/a/tool.meta.json", r#"{"name": "alpha", "description": "Changed"}"#);
    let mut server = Server::ready(project.root());
    let tools = server.ask(1, "tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(
        (&tools[0]["description"], &tools[1]["description"]),
        (&json!("Changed"), &json!("From the registry"))
    );
}

/// A project large enough for several threads to check it while its registry is read.
#[test]
fn changes_of_a_large_project_between_servers_are_detected() {
    let described =
        |words: &str| json!({ "description": format!("{words} {}", "at length ".repeat(100)) }).to_string();
    let write = |project: Project, name: &str, words: &str| {
        project
            .script(&format!("tools/{name}/{name}.sh"), "#!/bin/sh\n")
            .file(&format!("tools/{name}/{name}.meta.json"), &described(words))
    };
    let expected = |numbers: std::ops::Range<u32>| numbers.map(|number| format!("tool-{number:03}"));
    let project = expected(0..300).fold(Project::new(), |project, name| write(project, &name, "First"));
    let (_, report, _) = command(&project, &["refresh"]);
    assert_eq!(report["tools"]["count"], 300);
    let forged = project.read(".registry/tools.json").replace("First", "Registered");
    let project = project.file(".registry/tools.json", &forged);

    std::fs::remove_dir_all(project.path("tools/tool-000")).unwrap();
    std::fs::remove_file(project.path("tools/tool-299/tool-299.sh")).unwrap();
    let project = write(project, "tool-123", "Changed");
    let project = write(project, "tool-300", "Added");
    let mut server = Server::ready(project.root());
    let list = server.ask(1, "tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let first_words = |tool: &Value| {
        let description = tool["description"].as_str().unwrap();
        (tool["name"].as_str().unwrap().to_owned(), description.split(' ').next().unwrap().to_owned())
    };
    let all: Vec<(String, String)> = tools.iter().map(first_words).collect();
    let known = expected(1..299).chain(["tool-300".to_owned()]).map(|name| {
        let words = match &*name {
            "tool-123" => "Changed",
            "tool-300" => "Added",
            _ => "Registered",
        };
        (name, words.to_owned())
    });
    assert_eq!(all, known.collect::<Vec<_>>());
}

#[test]
fn a_static_registry_is_trusted_and_may_be_missing() {
    let project = registered().tool("unseen", "#!/bin/sh\n");
    let environment = [("MCPBASH_STATIC_REGISTRY", "1")];
    assert_eq!(names(project.root(), &environment), ["alpha", "hi"]);
    assert_eq!(names(project.root(), &[]), ["alpha", "hi", "unseen"]);
    std::fs::remove_dir_all(project.path(".registry")).unwrap();
    assert_eq!(names(project.root(), &environment), ["alpha", "hi", "unseen"]);
}

#[test]
fn a_static_registry_holds_functions_and_providers_and_status_counts_them() {
    let provider = "#!/bin/sh\n# mcp: {\"provider\": true}\nif [ \"$1\" = list ]; then echo '{\"name\": \"told\"}'; fi\n";
    let project = registered().file("tools/sums.py", SUMS).script("tools/teller.sh", provider);
    let all = ["add", "alpha", "hi", "repeat", "told"];
    assert_eq!(command(&project, &["refresh"]).1["tools"]["count"], json!(all.len()));
    assert_eq!(command(&project, &["status"]).1["tools"]["count"], json!(all.len()));
    let environment = [("MCPBASH_STATIC_REGISTRY", "1")];
    assert_eq!(names(project.root(), &environment), all);
    for file in ["tools/sums.py", "tools/teller.sh"] {
        std::fs::remove_file(project.path(file)).unwrap();
    }
    assert_eq!(command(&project, &["refresh"]).1["tools"]["count"], json!(2));
    assert_eq!(names(project.root(), &environment), ["alpha", "hi"]);
}

#[test]
fn a_registry_that_cannot_be_read_is_ignored() {
    for rubbish in [
        "",
        "{",
        "[]",
        r#"{"version": 2, "items": []}"#,
        r#"{"format_version": 2, "version": 1, "items": []}"#,
        r#"{"version": 1, "items": [{"name": "x"}]}"#,
    ] {
        let project = registered().file(".registry/tools.json", rubbish);
        assert_eq!(names(project.root(), &[]), ["alpha", "hi"], "{rubbish}");
    }
    let project = registered();
    let size = project.read(".registry/tools.json").len();
    let limit = (size - 1).max(1024).to_string();
    assert_eq!(names(project.root(), &[("MCPBASH_REGISTRY_MAX_BYTES", &limit)]), ["alpha", "hi"]);
}

#[test]
fn a_project_that_cannot_be_written_to_is_served() {
    let project = Project::with_hi();
    // A file in place of the folder keeps even root from writing there.
    let project = project.file(".registry", "in the way");
    assert_eq!(names(project.root(), &[]), ["hi"]);
    std::fs::set_permissions(project.root(), std::fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(names(project.root(), &[]), ["hi"]);
    std::fs::set_permissions(project.root(), std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn command(project: &Project, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let mut command = Server::command();
    command.arg("registry").args(arguments).arg("--project-root").arg(project.root());
    let output = command.output().expect("the binary runs");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), report, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn refresh_writes_it_and_status_shows_its_contents() {
    let project = Project::with_hi().file("tools/broken.meta.json", "{");
    assert_eq!(command(&project, &["status"]).1["tools"]["status"], "missing");
    let (status, report, stderr) = command(&project, &["refresh", "--no-notify"]);
    assert_eq!(
        (status, &report["tools"]["status"], &report["tools"]["count"]),
        (Some(1), &json!("incomplete"), &json!(1))
    );
    assert!(report["tools"]["error"].as_str().unwrap().contains("broken.meta.json"), "{report}");
    assert!(stderr.contains("broken.meta.json"), "{stderr}");
    let ok = json!({ "status": "ok", "count": 0, "error": null });
    assert_eq!((&report["resources"], &report["prompts"]), (&ok, &ok));
    assert_eq!(command(&project, &["refresh", "--quiet"]).2, "");
    let (_, report, _) = command(&project, &["status"]);
    assert_eq!((&report["tools"]["status"], &report["tools"]["count"]), (&json!("present"), &json!(1)));
    assert_eq!(report["tools"]["hash"], registry(&project).unwrap()["hash"]);
    assert!(report["tools"]["mtime"].as_u64().unwrap() > 0);
    assert_eq!((&report["jsonTool"], &report["ui"]["status"]), (&json!("jq"), &json!("missing")));
}

#[test]
fn refresh_says_why_nothing_was_written() {
    let project = Project::with_hi().file("server.d/register.json", "{");
    let (status, report, _) = command(&project, &["refresh"]);
    assert_eq!((status, &report["tools"]["status"]), (Some(1), &json!("failed")));
    assert!(report["tools"]["error"].as_str().unwrap().contains("register.json"));
    assert!(registry(&project).is_none());
    let project = Project::with_hi();
    let (status, _, stderr) = command(&project, &["refresh", "--filter", "../elsewhere"]);
    assert_eq!(status, Some(2));
    assert!(stderr.contains("../elsewhere"), "{stderr}");
}

#[test]
fn a_filter_can_name_a_folder_of_any_kind() {
    let project = Project::with_hi()
        .file("resources/docs/one.md", "x")
        .file("resources/other/two.md", "x")
        .file("prompts/a/first.txt", "x")
        .file("prompts/b/second.txt", "x");
    assert_eq!(command(&project, &["refresh"]).0, Some(0));
    let project = project
        .file("resources/docs/one.meta.json", r#"{"description": "New"}"#)
        .file("resources/other/two.meta.json", r#"{"description": "New"}"#)
        .file("prompts/a/first.meta.json", r#"{"description": "New"}"#)
        .file("prompts/b/second.meta.json", r#"{"description": "New"}"#);
    let items = |kind: &str| -> Vec<(String, bool)> {
        let registry: Value = serde_json::from_str(&project.read(&format!(".registry/{kind}.json"))).unwrap();
        let items = registry["items"].as_array().unwrap().iter();
        items.map(|item| (item["name"].as_str().unwrap().to_owned(), item["description"] == "New")).collect()
    };
    let expected =
        |one: (&str, bool), other: (&str, bool)| [one, other].map(|(name, is_new)| (name.to_owned(), is_new));
    assert_eq!(command(&project, &["refresh", "--filter", "resources/docs"]).0, Some(0));
    assert_eq!(items("resources"), expected(("one", true), ("two", false)));
    assert_eq!(items("prompts"), expected(("first", false), ("second", false)));
    let absolute = project.root().canonicalize().unwrap().join("prompts/b");
    assert_eq!(command(&project, &["refresh", "--filter", absolute.to_str().unwrap()]).0, Some(0));
    assert_eq!(items("prompts"), expected(("first", false), ("second", true)));

    // The setting does the same, and the flag overrides it.
    let by_setting = |path: &str, arguments: &[&str]| {
        let mut command = Server::command();
        command.args(["registry", "refresh"]).args(arguments).arg("--project-root").arg(project.root());
        let output = command.env("MCPBASH_REGISTRY_REFRESH_PATH", path).output().expect("the binary runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(by_setting("prompts/a", &["--filter", "tools/hi"]).0, Some(0));
    assert_eq!(items("prompts"), expected(("first", false), ("second", true)));
    assert_eq!(by_setting("prompts/a", &[]).0, Some(0));
    assert_eq!(items("prompts"), expected(("first", true), ("second", true)));
    for outside in ["server.d", "/etc", "prompts/../..", "prompts/a*"] {
        let (status, stderr) = by_setting(outside, &[]);
        assert_eq!(status, Some(2), "{outside}");
        assert!(stderr.contains("MCPBASH_REGISTRY_REFRESH_PATH") && stderr.contains(outside), "{stderr}");
    }
}

#[test]
fn a_ttl_of_zero_is_accepted_silently() {
    let project = Project::with_hi();
    let zero = [
        ("MCP_TOOLS_TTL", "0"),
        ("MCP_RESOURCES_TTL", "0"),
        ("MCP_RESOURCES_TEMPLATES_TTL", "0"),
        ("MCP_PROMPTS_TTL", "0"),
    ];
    let server = Server::ready_with(project.root(), &zero, "2025-11-25");
    let told = server.finish();
    assert!(!told.contains("TTL"), "{told}");
}

#[test]
fn a_filter_refreshes_one_folder_and_keeps_the_rest() {
    let project = Project::with_hi().tool("other", "#!/bin/sh\n");
    command(&project, &["refresh"]);
    let project = project
        .file("tools/hi/tool.meta.json", r#"{"name": "hi", "description": "New"}"#)
        .file("tools/other/tool.meta.json", r#"{"name": "other", "description": "New"}"#);
    command(&project, &["refresh", "--filter", "hi"]);
    let items = registry(&project).unwrap()["items"].clone();
    assert_eq!(
        (&items[0]["description"], &items[1]["description"]),
        (&json!("New"), &json!("The tool other"))
    );
}

#[test]
fn a_registry_over_the_limit_is_not_written_however_small_the_limit_is() {
    for limit in ["1", "200"] {
        let project = Project::with_hi();
        let mut command = Server::command();
        command.args(["registry", "refresh", "--project-root"]).arg(project.root());
        let output = command.env("MCPBASH_REGISTRY_MAX_BYTES", limit).output().expect("the binary runs");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (output.status.code(), &report["tools"]["status"]),
            (Some(1), &json!("failed")),
            "{limit}"
        );
        let error = report["tools"]["error"].as_str().unwrap();
        assert!(error.contains("MCPBASH_REGISTRY_MAX_BYTES"), "{error}");
        assert!(registry(&project).is_none());
    }
}

#[test]
fn the_shortest_session_writes_the_registries_of_all_kinds() {
    let project = Project::with_hi()
        .file("resources/note.txt", "n")
        .file("resources/any.meta.json", r#"{"name": "any", "uriTemplate": "file:///{path}"}"#)
        .file("prompts/greet.txt", "Hello")
        .file("prompts/greet.meta.json", r#"{"name": "greet"}"#);
    let run = |environment: &[(&str, &str)]| {
        let mut server = Server::start_with(project.root(), environment);
        server.close_input();
        assert!(server.wait().success());
    };
    run(&[("MCPBASH_STATIC_REGISTRY", "1")]);
    assert!(!project.path(".registry").exists(), "a static registry is never written");
    run(&[]);
    for (file, name) in
        [("tools", "hi"), ("resources", "note"), ("resource-templates", "any"), ("prompts", "greet")]
    {
        let registry: Value = serde_json::from_str(&project.read(&format!(".registry/{file}.json"))).unwrap();
        assert_eq!((&registry["version"], &registry["total"]), (&json!(1), &json!(1)), "{file}");
        assert_eq!(registry["items"][0]["name"], name, "{file}");
        assert_eq!(registry["hash"].as_str().unwrap().len(), 64, "{file}");
    }
}

#[test]
fn a_malformed_registry_is_reported_and_the_project_read_instead() {
    for (text, problem) in [
        ("{", "it is not valid JSON: EOF while parsing"),
        ("[]", "`items` is not an array"),
        (r#"{"version":1,"items":[{"name":"hi"},5]}"#, "`items[1]` is not an entry"),
        (r#"{"version":1,"items":[{"name":7}]}"#, "`items[0]` is not an entry"),
    ] {
        for environment in [&[][..], &[("MCPBASH_STATIC_REGISTRY", "1")]] {
            let project = Project::with_hi().file(".registry/tools.json", text);
            let mut command = Server::command();
            command.args(["health", "--json", "--project-root"]).arg(project.root());
            command.envs(environment.iter().copied());
            let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
            let told = report["problems"].to_string();
            assert!(told.contains("tools.json") && told.contains(problem), "{text}: {report}");
            assert_eq!(names(project.root(), environment), ["hi"], "{text}");
        }
    }
    // Another program or version wrote it.
    let project = Project::with_hi().file(".registry/tools.json", r#"{"version":9,"items":[{"name":"x"}]}"#);
    let output =
        Server::command().args(["health", "--json", "--project-root"]).arg(project.root()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["problems"], json!([]));
}

#[test]
fn the_limits_of_a_registry_apply_to_every_list() {
    let project = (0..501).fold(Project::new(), |project, number| {
        project
            .script(&format!("tools/t{number}/tool.sh"), "#!/bin/sh\n")
            .file(&format!("resources/r{number}.txt"), "r")
            .file(
                &format!("resources/u{number}.meta.json"),
                &json!({ "name": format!("u{number}"), "uriTemplate": format!("u{number}://{{x}}") })
                    .to_string(),
            )
            .file(&format!("prompts/p{number}.txt"), "p")
    });
    let mut server =
        Server::ready_with(project.root(), &[("MCPBASH_REGISTRY_MAX_BYTES", "10000")], "2025-11-25");
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let refused = server.ask_past_news(method, method, &json!({}));
        assert_eq!(refused["error"]["code"], -32603, "{method}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(method) && message.contains("MCPBASH_REGISTRY_MAX_BYTES"), "{message}");
        let page = server.ask_past_news(method, method, &json!({ "limit": 2 }));
        assert_eq!(page["result"]["_meta"]["mcpbash/total"], 501, "{method}: a page within the limit");
    }
    let stderr = server.finish();
    for kind in ["tools", "resources", "resource templates", "prompts"] {
        assert!(
            stderr.contains(&format!("so many {kind} are better registered in register.json")),
            "{stderr}"
        );
    }
}
