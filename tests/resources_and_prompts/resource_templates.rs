//! Templates: families of resources, matched by the form of their URIs.

use crate::harness::{Project, Server, code};
use serde_json::{Value, json};

fn quiet(project: &Project) -> Server {
    Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25")
}

fn templates(server: &mut Server) -> Vec<Value> {
    let answer = server.ask("templates", "resources/templates/list", &json!({}));
    answer["result"]["resourceTemplates"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

// Shows: resources-templates
#[test]
fn a_template_is_listed_and_matches_its_uris() {
    let project = Project::new()
        .file(
            "resources/logs.meta.json",
            r#"{"name": "logs", "title": "Logs", "description": "By day", "uriTemplate": "log://{service}/{day}{?lines}",
                "mimeType": "text/x-log", "annotations": {"audience": ["assistant"]}}"#,
        )
        .script(
            "providers/log.sh",
            "#!/bin/sh\nprintf '%s|%s|%s|%s' \"$1\" \"$MCP_RESOURCE_VAR_service\" \"$MCP_RESOURCE_VAR_day\" \"$MCP_RESOURCE_VARS_JSON\"\n",
        );
    let mut server = quiet(&project);
    assert_eq!(
        templates(&mut server),
        [json!({
            "uriTemplate": "log://{service}/{day}{?lines}", "name": "logs", "title": "Logs", "description": "By day",
            "mimeType": "text/x-log", "annotations": { "audience": ["assistant"] },
        })]
    );
    let answer = server.ask(1, "resources/read", &json!({ "uri": "log://web%20shop/2026-01-02?lines=5" }));
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["mimeType"], "text/x-log", "{answer}");
    let text = content["text"].as_str().unwrap();
    assert!(text.starts_with("log://web%20shop/2026-01-02?lines=5|web shop|2026-01-02|{"), "{text}");
    assert!(text.contains(r#""lines":"5""#), "{text}");
    assert_eq!(code(&server.ask(2, "resources/read", &json!({ "uri": "log://web/a/b" }))), -32002);
}

#[test]
fn listed_resources_take_precedence_over_templates() {
    let project = Project::new()
        .file(
            "resources/b.meta.json",
            r#"{"name": "other", "uriTemplate": "xx://{n}", "mimeType": "text/x-other"}"#,
        )
        .file("resources/c.meta.json", r#"{"name": "one", "uri": "xx://1", "mimeType": "text/x-one"}"#)
        .file(
            "resources/d.meta.json",
            r#"{"name": "all", "uriTemplate": "xx://{n}", "mimeType": "text/x-all"}"#,
        )
        .script("providers/xx.sh", "#!/bin/sh\nprintf '%s' \"$MCP_RESOURCE_VAR_n\"\n");
    let mut server = quiet(&project);
    for (uri, kind, text) in [("xx://1", "text/x-one", ""), ("xx://2", "text/x-all", "2")] {
        let answer = server.ask(1, "resources/read", &json!({ "uri": uri }));
        let content = &answer["result"]["contents"][0];
        assert_eq!((&content["mimeType"], &content["text"]), (&json!(kind), &json!(text)), "{answer}");
    }
}

#[test]
fn its_variables_are_completed_by_the_registered_script() {
    let project = Project::new()
        .file("resources/logs.meta.json", r#"{"name": "logs", "uriTemplate": "echo://{service}"}"#)
        .file("resources/plain.meta.json", r#"{"name": "plain", "uriTemplate": "echo://plain/{x}"}"#)
        .script("completions/logs.sh", "#!/bin/sh\necho '[\"web\", \"worker\"]'\n")
        .file(
            "server.d/register.json",
            r#"{"version": 1, "completions": [{"name": "logs", "path": "completions/logs.sh"}]}"#,
        );
    let mut server = quiet(&project);
    let mut complete = |uri: &str| {
        let reference = json!({ "type": "ref/resource", "uri": uri });
        let params = json!({ "ref": reference, "argument": { "name": "service", "value": "w" } });
        server.ask(1, "completion/complete", &params)
    };
    assert_eq!(complete("echo://{service}")["result"]["completion"]["values"], json!(["web", "worker"]));
    assert_eq!(complete("echo://plain/{x}")["result"]["completion"]["values"], json!([]));
    assert_eq!(code(&complete("echo://nobody/{x}")), -32602);
}

#[test]
fn its_matches_stay_within_the_roots() {
    let project = Project::new()
        .file(
            "resources/files.meta.json",
            r#"{"name": "files", "uriTemplate": "file:///{+path}", "mimeType": "application/octet-stream"}"#,
        )
        .file("resources/a.md", "# A\n")
        .file("secret.txt", "no");
    let mut server = quiet(&project);
    let root = project.root().canonicalize().unwrap();
    let inside = format!("file://{}/resources/a.md", root.display());
    let answer = server.ask(1, "resources/read", &json!({ "uri": inside }));
    assert_eq!(answer["result"]["contents"][0]["text"], "# A\n", "{answer}");
    assert_eq!(answer["result"]["contents"][0]["mimeType"], "text/markdown");
    let outside = format!("file://{}/secret.txt", root.display());
    let answer = server.ask(2, "resources/read", &json!({ "uri": outside }));
    assert_eq!(code(&answer), -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("MCP_RESOURCES_ROOTS"), "{answer}");
}

#[test]
fn registered_templates_override_discovered_ones() {
    let project = Project::new()
        .file("resources/files.meta.json", r#"{"name": "files", "uriTemplate": "file:///{path}"}"#)
        .file("resources/other.meta.json", r#"{"name": "other", "uriTemplate": "echo://{x}"}"#)
        .file(
            "server.d/register.json",
            r#"{"version": 1, "resourceTemplates": [
                {"name": "files", "uriTemplate": "file:///{+path}", "description": "By hand"},
                {"name": "logs-by-date", "uriTemplate": "file:///var/log/{service}/{date}.log"}]}"#,
        );
    let mut server = quiet(&project);
    let all = templates(&mut server);
    let names: Vec<_> = all.iter().map(|template| template["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["files", "logs-by-date", "other"]);
    assert_eq!(all[0]["description"], "By hand");
    // An empty list disables them.
    let project = project.file("server.d/register.json", r#"{"version": 1, "resourceTemplates": []}"#);
    assert_eq!(server.receive()["method"], "notifications/resources/list_changed");
    assert!(templates(&mut server).is_empty());
    drop(project);
}

#[test]
fn invalid_templates_are_named_and_skipped() {
    let project = Project::new()
        .file("resources/same.txt", "x")
        .file("resources/clash.meta.json", r#"{"name": "same", "uriTemplate": "echo://{x}"}"#)
        .file("resources/none.meta.json", r#"{"uriTemplate": "echo://nothing"}"#)
        .file("resources/empty.meta.json", r#"{"uriTemplate": "echo://{}"}"#)
        .file("resources/blank.meta.json", r#"{"uriTemplate": "echo://{   }"}"#)
        .file("resources/both.meta.json", r#"{"uri": "echo://a", "uriTemplate": "echo://{a}"}"#)
        .file("resources/good.meta.json", r#"{"uriTemplate": "echo://good/{x}"}"#);
    let mut server = Server::ready(project.root());
    let all = templates(&mut server);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["name"], "good");
    let told = server.finish();
    for word in ["clash.meta.json", "none.meta.json", "empty.meta.json", "blank.meta.json", "both.meta.json"]
    {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(told.matches("both.meta.json").count(), 1, "{told}");
}
