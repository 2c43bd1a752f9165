//! JSON of authors that is nested deeper than any client can read: it is skipped with its place and the
//! reason, and the rest is served.

use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};

/// Far deeper than a stack of a megabyte allows.
const DEPTH: usize = 20_000;

fn nested(depth: usize) -> String {
    format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
}

fn nested_object(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// The text of all lists and of the identity, and the standard error.
fn told(project: &Project, environment: &[(&str, &str)]) -> (String, String) {
    let mut server = Server::start_with(project.root(), environment);
    let mut told = server.initialize("2025-11-25").to_string();
    server.told_so_far();
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        // The harness reads each answer as clients do, with a bounded stack.
        server.request(method, method, &json!({}));
        let mut message = server.receive();
        // A skipped entry is reported when it is found, which may be now.
        while message.get("id").is_none() {
            message = server.receive();
        }
        told += &message.to_string();
    }
    server.expect_silence();
    (told, server.finish())
}

/// Serves a project with one entry that is too deep, and expects a message about `file`.
fn skipped(project: &Project, file: &str) {
    let (told, said) = told(project, &[]);
    assert!(told.contains(r#""name":"hi""#), "{file}: {told}");
    assert!(!told.contains("deep"), "{file}");
    let is_told = |line: &str| line.contains(file) && line.contains("nesting exceeds 100 levels");
    assert!(said.lines().any(is_told), "{file}: {said}");
}

#[test]
fn metadata_of_tools() {
    for field in ["inputSchema", "outputSchema", "annotations", "_meta", "icons", "unknown"] {
        for value in [nested(DEPTH), nested_object(DEPTH), nested_object(100)] {
            let project = Project::with_hi()
                .script("tools/deep/tool.sh", "#!/bin/sh\n")
                .file("tools/deep/tool.meta.json", &format!(r#"{{"name": "deep", "{field}": {value}}}"#));
            skipped(&project, "deep/tool.meta.json");
        }
    }
    let line = format!("#!/bin/sh\n# mcp: {{\"name\": \"deep\", \"_meta\": {}}}\n", nested_object(2000));
    skipped(&Project::with_hi().script("tools/deep/tool.sh", &line), "deep/tool.sh");
}

#[test]
fn metadata_in_yaml() {
    let blocks: Vec<String> = (1..1000).map(|level| format!("{}a:", "  ".repeat(level))).collect();
    let blocks = blocks.join("\n");
    for value in [nested(DEPTH), nested(100), format!("\n{blocks}")] {
        let project = Project::with_hi()
            .script("tools/deep/tool.sh", "#!/bin/sh\n")
            .file("tools/deep/tool.meta.yaml", &format!("name: deep\n_meta: {value}\n"));
        skipped(&project, "deep/tool.meta.yaml");
    }
}

#[test]
fn metadata_that_becomes_deep_while_it_is_served() {
    let project = Project::with_hi()
        .script("tools/deep/tool.sh", "#!/bin/sh\n")
        .file("tools/deep/tool.meta.yaml", "name: deep\n");
    let mut server = Server::ready(project.root());
    let mut lists_deep = || {
        let listed = server.ask_past_news("list", "tools/list", &json!({}));
        listed["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "deep")
    };
    assert!(lists_deep());
    project.write("tools/deep/tool.meta.yaml", &format!("name: deep\n_meta: {}\n", nested(100)));
    wait_until("the tool to be gone", || (!lists_deep()).then_some(()));
}

#[test]
fn metadata_of_resources_and_prompts() {
    let fields = ["annotations", "_meta", "icons", "arguments", "messages", "metadata"];
    for (field, value) in fields.into_iter().zip([nested_object(DEPTH), nested(DEPTH)].iter().cycle()) {
        for (file, text) in [
            ("resources/deep.meta.json", r#""uri": "echo://x""#),
            ("resources/deep.meta.json", r#""uriTemplate": "echo://{x}""#),
            ("prompts/deep.md.meta.json", r#""description": "A prompt""#),
        ] {
            let project = Project::with_hi()
                .file("prompts/deep.md", "deep")
                .file("prompts/hi.md", "hi")
                .file(file, &format!(r#"{{"name": "deep", {text}, "{field}": {value}}}"#));
            let project = if file.starts_with("resources") {
                std::fs::remove_file(project.path("prompts/deep.md")).unwrap();
                project
            } else {
                project
            };
            skipped(&project, file);
        }
    }
}

#[test]
fn the_identity_of_the_server() {
    let project = Project::with_hi()
        .file("server.d/server.meta.json", &format!(r#"{{"name": "deep", "icons": {}}}"#, nested(DEPTH)));
    skipped(&project, "server.d/server.meta.json");
}

#[test]
fn lists_of_providers() {
    let definition = format!(r#"{{"name": "deep", "inputSchema": {}}}"#, nested_object(DEPTH));
    let project = Project::with_hi()
        .file("definition", &definition)
        .script("tools/deep.sh", "#!/bin/sh\n# prints an inputSchema\n[ \"$1\" = list ] && cat definition\n");
    skipped(&project, "tools/deep.sh");
}

#[test]
fn registrations() {
    let entry = format!(r#"{{"name": "x", "path": "hi/tool.sh", "_meta": {}}}"#, nested_object(DEPTH));
    let environment = [("MCPBASH_ALLOW_PROJECT_HOOKS", "true")];
    for (file, text) in [
        ("server.d/register.json", format!(r#"{{"version": 1, "tools": [{entry}]}}"#)),
        ("server.d/register.json", format!(r#"{{"version": 1, "_meta": {}}}"#, nested_object(DEPTH))),
        ("server.d/register.sh", format!("mcp_register_tool '{entry}'")),
        ("server.d/register.sh", format!("echo '{{\"tools\": [{entry}]}}'")),
    ] {
        let project = Project::with_hi().file(file, &text);
        let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
        let listed = server.ask(1, "tools/list", &json!({}));
        let why = listed["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains(file) && why.contains("nesting exceeds 100 levels"), "{file}: {listed}");
        server.expect_silence();
    }
}

#[test]
fn an_edited_registry() {
    let project = Project::with_hi().file("prompts/hi.md", "hi").file("resources/hi.txt", "hi");
    let mut command = Server::command();
    command.args(["registry", "refresh", "--project-root"]).arg(project.root());
    assert!(command.output().expect("the binary runs").status.success());
    for registry in [".registry/tools.json", ".registry/prompts.json", ".registry/resources.json"] {
        let edited = project
            .read(registry)
            .replace(r#""path":"#, &format!(r#""_meta":{{"deep":{}}},"path":"#, nested_object(DEPTH)));
        std::fs::write(project.path(registry), edited).unwrap();
    }
    for environment in [&[][..], &[("MCPBASH_STATIC_REGISTRY", "true")]] {
        let (told, _) = told(&project, environment);
        assert!(told.contains("The tool hi") && !told.contains("deep"), "{told}");
    }
}

/// The output of scripts also reaches clients in messages.
#[test]
fn output_of_prompts_and_templates() {
    let messages = format!(r#"[{{"role": "user", "content": {}}}]"#, nested_object(DEPTH));
    let project = Project::with_hi()
        .file("messages", &messages)
        .file("prompts/one.json", &messages)
        .file("prompts/one.meta.json", r#"{"name": "one"}"#)
        .script("prompts/two.sh", "#!/bin/sh\n# mcp: {\"name\": \"two\"}\ncat messages\n");
    let mut server = Server::ready(project.root());
    for name in ["one", "two"] {
        let answer: Value = server.ask(name, "prompts/get", &json!({ "name": name }));
        assert_eq!(answer["id"], name);
    }
    server.expect_silence();
}

#[test]
fn json_within_the_depth_limit_is_served() {
    let project = Project::with_hi()
        .script("tools/deep/tool.sh", "#!/bin/sh\n")
        .file("tools/deep/tool.meta.json", &format!(r#"{{"name": "deep", "_meta": {}}}"#, nested_object(99)))
        .script("tools/wide/tool.sh", "#!/bin/sh\n")
        .file("tools/wide/tool.meta.json", &format!(r#"{{"_meta": {{"a": [{}1]}}}}"#, "{},".repeat(5000)));
    let (told, said) = told(&project, &[]);
    assert!(told.contains(r#""name":"deep""#) && told.contains(r#""name":"wide""#), "{said}");
}
