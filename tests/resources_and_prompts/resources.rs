//! Resources: discovered, listed and read.

use crate::harness::{Project, Server, code, stateless_meta, wait_until};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

fn quiet(project: &Project) -> Server {
    Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25")
}

fn list(server: &mut Server) -> Vec<Value> {
    server.request("list", "resources/list", &json!({}));
    loop {
        let message = server.receive();
        if message["id"] == "list" {
            return message["result"]["resources"].as_array().unwrap_or_else(|| panic!("{message}")).clone();
        }
    }
}

fn names(server: &mut Server) -> Vec<String> {
    list(server).iter().map(|resource| resource["name"].as_str().unwrap().to_owned()).collect()
}

fn read(server: &mut Server, uri: &str) -> Value {
    server.ask("read", "resources/read", &json!({ "uri": uri }))
}

fn content(server: &mut Server, uri: &str) -> Value {
    let answer = read(server, uri);
    assert_eq!(answer["result"]["contents"].as_array().map(Vec::len), Some(1), "{answer}");
    answer["result"]["contents"][0].clone()
}

#[test]
fn a_file_is_a_resource_and_its_metadata_says_which() {
    let project = Project::new()
        .file("resources/greeting.txt", "Hello\n")
        .file(
            "resources/greeting.meta.json",
            r#"{"name": "greeting", "title": "A greeting", "description": "Says hello", "uri": "file://./resources/greeting.txt",
                "mimeType": "text/plain", "size": 6, "annotations": {"audience": ["user"], "priority": 0.5},
                "icons": [{"src": "https://example.com/i.png"}], "_meta": {"x/y": 1}}"#,
        )
        .file("resources/deep/notes.md", "# Notes\n")
        .file("resources/deep/notes.md.meta.yaml", "name: my-notes\ndescription: In YAML\n")
        .file("resources/plain.json", "{}")
        .file("resources/script.sh", "#!/bin/sh\n# mcp: {\"name\": \"inline\", \"description\": \"Says it itself\"}\n");
    let mut server = quiet(&project);
    let all = list(&mut server);
    assert_eq!(names(&mut server), ["greeting", "inline", "my-notes", "plain"]);
    assert_eq!(
        all[0],
        json!({
            "uri": "file://./resources/greeting.txt", "provider": "file", "name": "greeting", "title": "A greeting",
            "description": "Says hello", "mimeType": "text/plain", "size": 6,
            "annotations": { "audience": ["user"], "priority": 0.5 },
            "icons": [{ "src": "https://example.com/i.png" }], "_meta": { "x/y": 1 },
        })
    );
    let own = format!("file://{}/resources/deep/notes.md", project.root().canonicalize().unwrap().display());
    assert_eq!((&all[2]["uri"], &all[2]["mimeType"]), (&json!(own), &json!("text/markdown")));
    assert_eq!(all[3]["mimeType"], "application/json");

    let greeting = content(&mut server, "file://./resources/greeting.txt");
    assert_eq!(
        greeting,
        json!({ "uri": "file://./resources/greeting.txt", "mimeType": "text/plain", "text": "Hello\n" })
    );
    assert_eq!(content(&mut server, &own)["text"], "# Notes\n");
    let by_name = server.ask(1, "resources/read", &json!({ "name": "my-notes" }));
    assert_eq!(by_name["result"]["contents"][0]["text"], "# Notes\n");
}

// Shows: caching, resources-list, resources-unknown
#[test]
fn every_revision_receives_only_its_own_fields() {
    let project = Project::new().file("resources/a.txt", "x").file(
        "resources/a.meta.json",
        r#"{"title": "A", "icons": [{"src": "https://example.com/i.png"}], "_meta": {"k": 1}, "annotations": {"priority": 1}}"#,
    );
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = Server::ready_with(project.root(), &[], revision);
        let all = list(&mut server);
        let has = |name: &str| all[0].get(name).is_some();
        assert_eq!(has("title"), revision >= "2025-06-18", "{revision}");
        assert_eq!(has("icons"), revision >= "2025-11-25", "{revision}");
        assert!(has("annotations") && has("uri"));
        let uri = all[0]["uri"].as_str().unwrap().to_owned();
        assert_eq!(content(&mut server, &uri)["text"], "x");
        assert_eq!(code(&read(&mut server, "file://./resources/none.txt")), -32002);
    }
    let mut server = Server::start(project.root());
    let meta = stateless_meta();
    let all = server.ask(1, "resources/list", &json!({ "_meta": meta }));
    assert_eq!((&all["result"]["ttlMs"], &all["result"]["cacheScope"]), (&json!(5000), &json!("private")));
    let uri = all["result"]["resources"][0]["uri"].clone();
    let content = server.ask(2, "resources/read", &json!({ "_meta": meta, "uri": uri }));
    assert_eq!(
        (&content["result"]["ttlMs"], &content["result"]["contents"][0]["text"]),
        (&json!(5000), &json!("x"))
    );
    let missing =
        server.ask(3, "resources/read", &json!({ "_meta": meta, "uri": "file://./resources/none.txt" }));
    assert_eq!(
        (code(&missing), &missing["error"]["data"]["uri"]),
        (-32602, &json!("file://./resources/none.txt"))
    );
}

// Shows: resources-read
#[test]
fn bytes_come_in_base64_and_text_as_it_is() {
    let project =
        Project::new().file("resources/empty.txt", "").file("resources/note.txt", "\u{feff}grüß\r\n");
    let png = b"\x89PNG\r\n\x1a\n\x00\x01";
    std::fs::write(project.path("resources/dot.png"), png).unwrap();
    std::fs::write(project.path("resources/raw.txt"), [0xff, 0x00, 0xfe]).unwrap();
    std::fs::write(project.path("resources/raw.txt.meta.json"), r#"{"mimeType": "text/plain"}"#).unwrap();
    let mut server = quiet(&project);
    let image = content(&mut server, "file://./resources/dot.png");
    assert_eq!((&image["mimeType"], &image["blob"]), (&json!("image/png"), &json!(STANDARD.encode(png))));
    // Declaring binary data as text is an error of the author.
    let bytes = content(&mut server, "file://./resources/raw.txt");
    assert_eq!(bytes["mimeType"], "application/octet-stream");
    assert_eq!(bytes["blob"], STANDARD.encode([0xff, 0x00, 0xfe]));
    assert_eq!(content(&mut server, "file://./resources/note.txt")["text"], "\u{feff}grüß\r\n");
    assert_eq!(content(&mut server, "file://./resources/empty.txt")["text"], "");
}

#[test]
fn invalid_entries_are_named_and_the_rest_is_served() {
    let project = Project::new()
        .file("resources/good.txt", "x")
        .file("resources/broken.meta.json", "{ nope")
        .file("resources/lonely.meta.json", r#"{"name": "lonely"}"#)
        .file("resources/both.meta.json", r#"{"uri": "echo://a", "uriTemplate": "echo://{a}"}"#)
        .file("resources/odd.meta.json", r#"{"uri": "gopher://a/b"}"#)
        .file("resources/a/twice.txt", "1")
        .file("resources/b/twice.txt", "2");
    let mut server = Server::ready(project.root());
    assert_eq!(names(&mut server), ["good", "twice"]);
    let told = server.finish();
    for word in ["broken.meta.json", "lonely.meta.json", "both.meta.json", "`gopher`", "b/twice.txt"] {
        assert!(told.contains(word), "{word}: {told}");
    }
}

#[test]
fn lists_come_in_pages() {
    let project = (0..5).fold(Project::new(), |project, number| {
        project.file(&format!("resources/r{number}.txt"), "x").file(
            &format!("resources/t{number}.meta.json"),
            &format!(r#"{{"uriTemplate": "echo://{number}/{{x}}"}}"#),
        )
    });
    let mut server = quiet(&project);
    for (method, kind) in [("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")]
    {
        let first = server.ask(1, method, &json!({ "limit": 3 }));
        assert_eq!(first["result"][kind].as_array().unwrap().len(), 3, "{first}");
        assert_eq!(first["result"]["_meta"]["mcpbash/total"], 5);
        let cursor = first["result"]["nextCursor"].clone();
        let second = server.ask(2, method, &json!({ "limit": 3, "cursor": cursor }));
        assert_eq!(second["result"][kind].as_array().unwrap().len(), 2, "{second}");
        assert!(second["result"].get("nextCursor").is_none());
        let other = if kind == "resources" { "resources/templates/list" } else { "resources/list" };
        assert_eq!(code(&server.ask(3, other, &json!({ "cursor": cursor }))), -32602);
    }
}

#[test]
fn discovered_resources_are_written_to_and_read_from_registries() {
    let project = Project::new()
        .file("resources/sub/readme.md", "# Hi\n")
        .file("resources/sub/readme.meta.json", r#"{"name": "readme", "description": "About"}"#)
        .file("resources/logs.meta.json", r#"{"name": "logs", "uriTemplate": "file:///var/log/{name}.log"}"#);
    let registry =
        |name: &str| serde_json::from_str::<Value>(&project.read(&format!(".registry/{name}"))).ok();
    let server = Server::ready(project.root());
    let resources = wait_until("the registry", || registry("resources.json"));
    let templates = wait_until("the other registry", || registry("resource-templates.json"));
    project.wait_for_file(".registry/.resource-templates.stamps");
    server.finish();
    assert_eq!((&resources["version"], &resources["total"]), (&json!(1), &json!(1)));
    let item = &resources["items"][0];
    assert_eq!((&item["path"], &item["provider"]), (&json!("sub/readme.md"), &json!("file")));
    assert_eq!((&item["mimeType"], &item["description"]), (&json!("text/markdown"), &json!("About")));
    assert_eq!(templates["items"][0]["uriTemplate"], "file:///var/log/{name}.log");

    // With the setting, it is trusted without reading the project.
    std::fs::remove_file(project.path("resources/logs.meta.json")).unwrap();
    let static_registry = [("MCPBASH_STATIC_REGISTRY", "true")];
    let mut server = Server::ready_with(project.root(), &static_registry, "2025-11-25");
    assert_eq!(names(&mut server), ["readme"]);
    let answer = server.ask(1, "resources/templates/list", &json!({}));
    assert_eq!(answer["result"]["resourceTemplates"][0]["name"], "logs");
    server.finish();
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["readme"]);
    let answer = server.ask(1, "resources/templates/list", &json!({}));
    assert_eq!(answer["result"]["resourceTemplates"], json!([]));
}

#[test]
fn resources_can_be_registered() {
    let project = Project::new().file("resources/hidden.txt", "x").file("resources/shown.txt", "y").file(
        "server.d/register.json",
        r#"{"version": 1, "resources": [
            {"name": "echo.hello", "path": "hidden.txt", "uri": "echo://Hello%20there", "mimeType": "text/plain", "provider": "echo"},
            {"name": "shown", "path": "shown.txt"}]}"#,
    );
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["echo.hello", "shown"]);
    assert_eq!(content(&mut server, "echo://Hello%20there")["text"], "Hello there");
    let by_name = server.ask(1, "resources/read", &json!({ "name": "shown" }));
    assert_eq!(by_name["result"]["contents"][0]["text"], "y");

    let project = project.file(
        "server.d/register.json",
        r#"{"version": 1, "resources": [{"name": "x", "uri": "gopher://x"}]}"#,
    );
    let mut server = Server::ready(project.root());
    let refused = server.ask(1, "resources/list", &json!({}));
    assert_eq!(code(&refused), -32603);
    assert!(refused["error"]["message"].as_str().unwrap().contains("`gopher`"), "{refused}");
}

#[test]
fn resources_can_be_registered_by_a_script() {
    let project = Project::new().file(
        "server.d/register.sh",
        "mcp_resources_manual_begin\nmcp_resources_register_manual '{\"name\":\"a\",\"uri\":\"echo://a\"}'\nmcp_resources_manual_finalize\n\
         mcp_resources_templates_manual_begin\nmcp_resources_templates_register_manual '{\"name\":\"t\",\"uriTemplate\":\"echo://t/{x}\"}'\nmcp_resources_templates_manual_finalize\n",
    );
    let environment = [("MCPBASH_ALLOW_PROJECT_HOOKS", "true")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    assert_eq!(names(&mut server), ["a"]);
    let answer = server.ask(1, "resources/templates/list", &json!({}));
    assert_eq!(answer["result"]["resourceTemplates"][0]["name"], "t");
}

// Shows: resources-changed
#[test]
fn changes_are_announced_once_and_only_when_the_list_changed() {
    let project = Project::with_hi().file("resources/a.txt", "x");
    let mut server = quiet(&project);
    assert_eq!(names(&mut server), ["a"]);
    let announcement =
        json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": {} });

    let project = project.file("resources/b.txt", "y");
    assert_eq!(server.receive(), announcement);
    assert_eq!(names(&mut server), ["a", "b"]);
    let project = project.file("resources/b.txt", "something else");
    let uri = format!("file://{}/resources/b.txt", project.root().canonicalize().unwrap().display());
    assert_eq!(content(&mut server, &uri)["text"], "something else");

    let project = project.file("resources/t.meta.json", r#"{"uriTemplate": "echo://{x}"}"#);
    assert_eq!(server.receive(), announcement);
    std::fs::remove_file(project.path("resources/a.txt")).unwrap();
    assert_eq!(server.receive(), announcement);
    assert_eq!(names(&mut server), ["b"]);
    // A new provider makes a resource readable.
    let project = project.file("resources/db.meta.json", r#"{"uri": "db://x"}"#);
    let project = project.script("providers/db.sh", "#!/bin/sh\necho \"$1\"\n");
    assert_eq!(server.receive(), announcement);
    assert_eq!(names(&mut server), ["b", "db"]);
    // Its removal is announced next, so nothing was announced before.
    project.remove("providers/db.sh");
    assert_eq!(server.receive(), announcement);
    assert_eq!(names(&mut server), ["b"]);
}

#[test]
fn resources_that_are_too_large_are_refused_with_the_setting() {
    let project = Project::new().file("resources/large.txt", &"x".repeat(101));
    let environment = [("MCPBASH_MAX_RESOURCE_BYTES", "100"), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &environment, "2025-11-25");
    let answer = read(&mut server, "file://./resources/large.txt");
    assert_eq!(code(&answer), -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("MCPBASH_MAX_RESOURCE_BYTES"), "{answer}");
}

#[test]
fn resources_are_declared_and_need_params() {
    let project = Project::new();
    let mut server = Server::start(project.root());
    let initialized = server.initialize("2025-11-25");
    assert!(initialized["capabilities"]["resources"]["listChanged"] == true, "{initialized}");
    assert_eq!(list(&mut server), Vec::<Value>::new());
    for params in [json!({}), json!({ "uri": 5 }), json!({ "uri": "" })] {
        assert_eq!(code(&server.ask(1, "resources/read", &params)), -32602, "{params}");
    }
    for uri in ["nonsense", "db://nobody", "mcpbash://kept/00112233445566778899aabbccddeeff"] {
        assert_eq!(code(&read(&mut server, uri)), -32002, "{uri}");
    }
    let minimal = [("MCPBASH_FORCE_MINIMAL", "true")];
    let mut server = Server::ready_with(project.root(), &minimal, "2025-11-25");
    assert_eq!(code(&server.ask(1, "resources/list", &json!({}))), -32601);
}

#[test]
fn a_file_whose_scheme_has_no_provider_is_served_as_a_file() {
    let project = Project::new()
        .file("resources/handbook.md", "# Handbook\n")
        .file("resources/handbook.meta.json", r#"{"name": "handbook", "uri": "docs://handbook"}"#)
        .file("resources/named.txt", "named\n")
        .file("resources/named.meta.json", r#"{"name": "named", "uri": "other://named", "provider": "file"}"#)
        .file("resources/lonely.meta.json", r#"{"name": "lonely", "uri": "docs://lonely"}"#)
        .file(
            "resources/pretends.meta.json",
            r#"{"name": "pretends", "uri": "docs://pretends", "provider": "file"}"#,
        )
        .file("resources/typed.txt", "typed\n")
        .file("resources/typed.meta.json", r#"{"name": "typed", "uri": "docs://typed", "provider": "dcos"}"#);
    let mut server = quiet(&project);
    for _ in 0..2 {
        let all = list(&mut server);
        let shown = |place: usize| (&all[place]["name"], &all[place]["uri"], &all[place]["provider"]);
        assert_eq!(shown(0), (&json!("handbook"), &json!("docs://handbook"), &json!("file")));
        assert_eq!(
            (names(&mut server), &all[0]["mimeType"]),
            (vec!["handbook".to_owned(), "named".to_owned(), "pretends".to_owned()], &json!("text/markdown"))
        );
        let read_it = content(&mut server, "docs://handbook");
        assert_eq!((&read_it["uri"], &read_it["text"]), (&json!("docs://handbook"), &json!("# Handbook\n")));
        assert_eq!(content(&mut server, "other://named")["text"], "named\n");
        // Metadata alone is not the resource, and only listed resources can be read this way.
        for uri in ["docs://pretends", "docs://lonely", "docs://handbook.md", "docs:///etc/passwd"] {
            assert!(read(&mut server, uri)["error"].is_object(), "{uri}");
        }
        project.wait_for_file(".registry/.resources.stamps");
        server.finish();
        server = quiet(&project);
    }
    // A provider for the scheme takes over as soon as it exists.
    project.write("providers/docs.sh", "#!/bin/sh\nprintf 'read by the provider'\n");
    wait_until("the provider", || {
        let all = list(&mut server);
        all.iter().any(|item| item["name"] == "handbook" && item["provider"] == "docs").then_some(())
    });
    server.finish();
}

#[test]
fn a_link_out_of_the_project_with_its_own_scheme_is_not_read() {
    let project = Project::new()
        .file("secret.txt", "secret\n")
        .file("resources/out.meta.json", r#"{"name": "out", "uri": "docs://out"}"#);
    std::os::unix::fs::symlink("../secret.txt", project.path("resources/out.txt")).unwrap();
    let mut server = quiet(&project);
    assert!(read(&mut server, "docs://out")["error"].is_object());
}
