//! Tokens that allow only some tools, resources and prompts, over real HTTP and in both eras.

use crate::harness::http::{HttpServer, initialize, post, stateless_with};
use crate::harness::{Project, wait_until};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A project with five tools and a file of tokens beside it.
struct Scene {
    project: Project,
    tokens: PathBuf,
    outside: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let names = ["a1", "a2", "b1", "b2", "c1"];
        let project = names.iter().fold(Project::new(), |project, name| {
            project.tool(name, "#!/bin/sh\necho \"$MCP_TOOL_NAME\" >>ran\necho ran\n")
        });
        let outside = tempfile::tempdir().expect("a folder");
        let tokens = outside.path().join("tokens");
        Self { project, tokens, outside }
    }

    /// Writes the token file atomically.
    fn write(&self, lines: &[String]) {
        let draft = self.outside.path().join("draft");
        fs::write(&draft, lines.join("\n")).expect("a file");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o600)).expect("permissions");
        fs::rename(draft, &self.tokens).expect("the file of tokens");
    }

    fn start(&self) -> HttpServer {
        let tokens = self.tokens.to_str().expect("a path");
        HttpServer::start_with(self.project.root(), &["--tokens", tokens], &[])
    }

    fn ran(&self) -> String {
        fs::read_to_string(self.project.path("ran")).unwrap_or_default()
    }
}

/// The line of a token, and the value of its header.
fn token(name: &str, tools: Option<&str>) -> (String, String) {
    let tools = tools.map(|tools| tools.parse().expect("names"));
    granted(name, Grant { tools, ..Grant::default() })
}

fn granted(name: &str, grant: Grant) -> (String, String) {
    let (line, token) = TokenLine::generate(name, grant).expect("a token");
    (line.to_string(), format!("Bearer {token}"))
}

fn ask(server: &HttpServer, token: &str, method: &str, params: &Value) -> Value {
    server.send(&stateless_with(&[("Authorization", token)], 1, method, params)).json()
}

/// The names of all tools that a token sees, in pages of two.
fn seen(server: &HttpServer, token: &str) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({ "limit": 2 }));
    loop {
        let answer = ask(server, token, "tools/list", &params);
        let result = &answer["result"];
        assert_eq!(result["cacheScope"], "private", "{answer}");
        let tools = result["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        let Some(cursor) = result["nextCursor"].as_str() else { return names };
        params["cursor"] = cursor.into();
    }
}

#[test]
fn a_token_sees_and_calls_only_its_tools() {
    let scene = Scene::new();
    let (some_line, some) = token("some", Some("a2,c1"));
    let (all_line, all) = token("all", None);
    scene.write(&[some_line, all_line]);
    let server = scene.start();
    assert_eq!(seen(&server, &some), ["a2", "c1"]);
    assert_eq!(seen(&server, &all), ["a1", "a2", "b1", "b2", "c1"]);
    for hidden in ["b1", "made-up"] {
        let refused = ask(&server, &some, "tools/call", &json!({ "name": hidden }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let words =
            format!("Tool '{hidden}' is not allowed: it is not in the list of tools of the caller `some`");
        assert_eq!(refused["error"]["message"].as_str(), Some(&*words));
    }
    assert_eq!(scene.ran(), "");
    for (token, tool) in [(&some, "c1"), (&all, "b1")] {
        let answer = ask(&server, token, "tools/call", &json!({ "name": tool }));
        assert_eq!(answer["result"]["content"][0]["text"], "ran", "{answer}");
    }
    assert_eq!(scene.ran(), "c1\nb1\n");
    server.finish();
}

#[test]
fn changes_of_the_token_file_apply_to_open_sessions() {
    let scene = Scene::new();
    let (line, token) = token("some", Some("a1,b1"));
    scene.write(std::slice::from_ref(&line));
    let server = scene.start();
    let hello = initialize("2025-11-25", &json!({})).to_string();
    let greeted = server.send(&post(&[("Authorization", &token)], &hello));
    let id = greeted.header("mcp-session-id").expect("a session").to_owned();
    let headers =
        [("Authorization", &*token), ("MCP-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25")];
    let send = |message: &Value| server.send(&post(&headers, &message.to_string()));
    send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = |tool: &str| {
        let params = json!({ "name": tool, "arguments": {} });
        send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).json()
    };
    assert_eq!(call("b1")["result"]["content"][0]["text"], "ran");
    assert_eq!(call("b2")["error"]["code"], -32602);
    scene.write(&[line.replace("tools=a1,b1", "tools=a1,b2")]);
    wait_until("the new list to count", || {
        (call("b2")["result"]["content"][0]["text"] == "ran").then_some(())
    });
    assert_eq!(call("b1")["error"]["code"], -32602, "what was taken away is gone at once");
    server.finish();
}

/// A project with two tools, resources, templates and prompts, of which `open` may be known to all.
fn with_everything() -> Scene {
    let scene = Scene::new();
    for (name, annotations) in [("reads", json!({ "readOnlyHint": true })), ("writes", json!({}))] {
        let metadata = json!({ "name": name, "description": "x", "annotations": annotations });
        scene.project.write_script(
            &format!("tools/{name}/tool.sh"),
            "#!/bin/sh\necho \"$MCP_TOOL_NAME\" >>ran\necho ran\n",
        );
        scene.project.write(&format!("tools/{name}/tool.meta.json"), &metadata.to_string());
    }
    let both = json!({ "name": "both", "description": "x", "annotations": { "readOnlyHint": true, "destructiveHint": true } });
    scene.project.write_script("tools/both/tool.sh", "#!/bin/sh\necho both >>ran\n");
    scene.project.write("tools/both/tool.meta.json", &both.to_string());
    for name in ["open", "closed"] {
        let project = &scene.project;
        project.write(&format!("resources/{name}.txt"), name);
        let uri = format!("mine://{name}");
        let resource = json!({ "name": name, "uri": uri, "provider": "mine" });
        project.write(&format!("resources/{name}.meta.json"), &resource.to_string());
        let template = json!({ "name": format!("{name}-items"), "uriTemplate": format!("{name}://{{id}}"), "provider": "mine" });
        project.write(&format!("resources/{name}-items.meta.json"), &template.to_string());
        project.write(&format!("prompts/{name}.txt"), &format!("Say {name}"));
        let prompt = json!({ "name": name, "arguments": [{ "name": "a" }] });
        project.write(&format!("prompts/{name}.meta.json"), &prompt.to_string());
    }
    scene.project.write_script("providers/mine.sh", "#!/bin/sh\nprintf 'content of %s' \"$1\"\n");
    scene
}

#[test]
fn a_read_only_token_sees_and_calls_only_tools_that_say_so() {
    let scene = with_everything();
    let (line, token) = granted("reader", Grant { read_only: true, ..Grant::default() });
    scene.write(&[line]);
    let server = scene.start();
    assert_eq!(seen(&server, &token), ["reads"]);
    // A tool that does not exist is refused in the same words.
    for hidden in ["writes", "both", "a1", "made-up"] {
        let refused = ask(&server, &token, "tools/call", &json!({ "name": hidden }));
        let words = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        let expected = format!(
            "Tool '{hidden}' is not allowed: the caller `reader` may only call tools with `readOnlyHint`"
        );
        assert_eq!(words, expected);
    }
    let answer = ask(&server, &token, "tools/call", &json!({ "name": "reads" }));
    assert_eq!(answer["result"]["content"][0]["text"], "ran", "{answer}");
    assert_eq!(scene.ran(), "reads\n");
    // Everything else is open to it.
    let read = ask(&server, &token, "resources/read", &json!({ "uri": "mine://closed" }));
    assert_eq!(read["result"]["contents"][0]["text"], "content of mine://closed", "{read}");
    server.finish();
}

#[test]
fn a_token_sees_and_reads_only_its_resources_and_prompts() {
    let scene = with_everything();
    let names = |list: &str| list.parse().ok();
    let grant = Grant { resources: names("open,open-items"), prompts: names("open"), ..Grant::default() };
    let (some_line, some) = granted("some", grant);
    let (by_uri_line, by_uri) =
        granted("by-uri", Grant { resources: names("mine://open"), ..Grant::default() });
    scene.write(&[some_line, by_uri_line]);
    let server = scene.start();
    let listed = |token: &str, method: &str, member: &str| -> Vec<String> {
        let answer = ask(&server, token, method, &json!({}));
        let entries = answer["result"][member].as_array().unwrap_or_else(|| panic!("{answer}"));
        entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(&some, "resources/list", "resources"), ["open"]);
    assert_eq!(listed(&by_uri, "resources/list", "resources"), ["open"]);
    assert_eq!(listed(&some, "resources/templates/list", "resourceTemplates"), ["open-items"]);
    assert_eq!(listed(&by_uri, "resources/templates/list", "resourceTemplates"), [""; 0]);
    assert_eq!(listed(&some, "prompts/list", "prompts"), ["open"]);
    assert_eq!(listed(&by_uri, "prompts/list", "prompts"), ["closed", "open"]);
    for uri in ["mine://open", "open://1"] {
        let read = ask(&server, &some, "resources/read", &json!({ "uri": uri }));
        assert_eq!(read["result"]["contents"][0]["text"], format!("content of {uri}"), "{read}");
    }
    // Neither by its URI, nor by another way to the same content, nor in other words than for what does not exist.
    let file = format!("file://{}", scene.project.path("resources/closed.txt").display());
    let missing = ask(&server, &some, "resources/read", &json!({ "uri": "mine://made-up" }));
    for uri in ["mine://closed", "closed://1", &file, "git://x/y", "mine://open/../closed"] {
        let refused = ask(&server, &some, "resources/read", &json!({ "uri": uri }));
        assert_eq!(refused["error"]["code"], missing["error"]["code"], "{uri}: {refused}");
        let words =
            |answer: &Value, uri: &str| answer["error"]["message"].as_str().unwrap().replace(uri, "URI");
        assert_eq!(words(&refused, uri), words(&missing, "mine://made-up"), "{uri}");
    }
    let prompt = ask(&server, &some, "prompts/get", &json!({ "name": "open" }));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "Say open", "{prompt}");
    for hidden in ["closed", "made-up"] {
        let refused = ask(&server, &some, "prompts/get", &json!({ "name": hidden }));
        let words = format!(
            "Prompt '{hidden}' is not allowed: it is not in the list of prompts of the caller `some`"
        );
        assert_eq!(refused["error"]["message"].as_str(), Some(&*words), "{refused}");
        let reference = json!({ "type": "ref/prompt", "name": hidden });
        let completion = json!({ "ref": reference, "argument": { "name": "a", "value": "" } });
        let refused = ask(&server, &some, "completion/complete", &completion);
        assert_eq!(refused["error"]["message"], format!("Unknown prompt: {hidden}"), "{refused}");
    }
    let reference = json!({ "type": "ref/resource", "uri": "closed://{id}" });
    let completion = json!({ "ref": reference, "argument": { "name": "id", "value": "" } });
    let refused = ask(&server, &some, "completion/complete", &completion);
    assert_eq!(refused["error"]["message"], "Unknown resource: closed://{id}", "{refused}");
    server.finish();
}
