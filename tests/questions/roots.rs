//! Invalid roots open nothing.

use crate::harness::http::{HttpServer, stateless};
use crate::harness::{Project, Server, stateless_meta};
use serde_json::{Value, json};
use tempfile::TempDir;

fn project() -> Project {
    Project::new()
        .tool("path", "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_require_path .path --default-to-single-root\n")
        .file("data/x", "")
}

fn text(answer: &Value) -> String {
    let said = answer["result"]["content"][0]["text"].as_str().or(answer["error"]["message"].as_str());
    said.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn call(server: &mut Server, path: &str) -> String {
    text(&server.ask("call", "tools/call", &json!({ "name": "path", "arguments": { "path": path } })))
}

fn health(project: &Project, environment: &[(&str, &str)]) -> (Value, i32) {
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--health").envs(environment.iter().copied());
    let output = command.output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code().unwrap())
}

/// Starts a server that logs nothing to its client.
fn quiet(project: &Project, environment: &[(&str, &str)]) -> Server {
    let mut all = vec![("MCPBASH_LOG_LEVEL", "emergency")];
    all.extend(environment);
    Server::ready_with(project.root(), &all, "2025-11-25")
}

#[test]
fn no_path_is_allowed_if_the_setting_is_invalid() {
    let project = project();
    let inside = project.path("data/x").display().to_string();
    for roots in ["/nonexist", "data:/nonexist", ":"] {
        let mut server = quiet(&project, &[("MCPBASH_ROOTS", roots)]);
        for path in [&*inside, "/etc/passwd", "/"] {
            let said = call(&mut server, path);
            assert!(said.contains("MCPBASH_ROOTS") && said.contains("no path is allowed"), "{roots}: {said}");
        }
        let single = text(&server.ask(1, "tools/call", &json!({ "name": "path", "arguments": {} })));
        assert!(single.contains("MCPBASH_ROOTS"), "{single}");
        let (report, status) = health(&project, &[("MCPBASH_ROOTS", roots)]);
        assert_eq!(status, 1, "{report}");
        assert!(report["problems"].to_string().contains("MCPBASH_ROOTS"), "{report}");
    }
    let mut server = quiet(&project, &[("MCPBASH_ROOTS", "data")]);
    assert!(call(&mut server, &inside).ends_with("/data/x"));
    assert!(call(&mut server, "/etc/passwd").contains("outside"));
    assert_eq!(health(&project, &[("MCPBASH_ROOTS", "data")]).1, 0);
}

#[test]
fn no_path_is_allowed_if_the_flag_is_invalid() {
    let project = project();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).args(["--roots", "/nonexist"]);
    command.env("MCPBASH_LOG_LEVEL", "emergency");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    assert!(call(&mut server, "/etc/passwd").contains("--roots"));
}

#[test]
fn no_path_is_allowed_if_the_file_is_invalid() {
    for file in [
        "{\"roots\": [",
        r#"{"roots": [{"path": "/nonexist"}]}"#,
        r#"{"roots": "data"}"#,
        r#"{"roots": [{"pth": "data"}]}"#,
    ] {
        let project = project().file("config/roots.json", file);
        let mut server = quiet(&project, &[]);
        let said = call(&mut server, "/etc/passwd");
        assert!(said.contains("config/roots.json") && said.contains("no path is allowed"), "{file}: {said}");
        let (report, status) = health(&project, &[]);
        assert_eq!(status, 1, "{report}");
        assert!(report["problems"].to_string().contains("config/roots.json"), "{report}");
    }
    // One valid root is enough, and does not open the others.
    let project =
        project().file("config/roots.json", r#"{"roots": [{"path": "data"}, {"path": "/nonexist"}]}"#);
    let mut server = quiet(&project, &[]);
    assert!(call(&mut server, &project.path("data/x").display().to_string()).ends_with("/data/x"));
    assert!(call(&mut server, "/etc/passwd").contains("outside"));
}

/// A client whose roots are all invalid does not open every path, and one that sends none leaves the
/// project's roots in place.
#[test]
fn no_path_is_allowed_if_the_clients_roots_are_invalid() {
    let project = project();
    for (roots, said) in [
        (json!([{ "uri": "file:///nonexist" }, { "uri": "https://example.com" }]), "no path is allowed"),
        (json!([]), "outside"),
    ] {
        let mut server = Server::start_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")]);
        server.initialize_offering("2025-11-25", &json!({ "roots": {} }));
        let asked = server.receive();
        server.reply(&asked, &json!({ "roots": roots }));
        let answer = call(&mut server, "/etc/passwd");
        assert!(answer.contains(said), "{roots}: {answer}");
    }
}

#[test]
fn missing_resource_folders_are_reported() {
    let project = project();
    let (report, _) = health(&project, &[("MCP_RESOURCES_ROOTS", "data:nowhere")]);
    let problems = report["problems"].to_string();
    assert!(problems.contains("MCP_RESOURCES_ROOTS") && problems.contains("nowhere"), "{problems}");
    assert!(!problems.contains("data"), "{problems}");
}

#[test]
fn a_refused_path_lists_the_allowed_roots() {
    let project = project();
    let mut server = quiet(&project, &[("MCPBASH_ROOTS", "data")]);
    let said = call(&mut server, "/etc/passwd");
    let data = project.path("data").canonicalize().unwrap().display().to_string();
    assert_eq!(
        said,
        String::from(".path is outside configured MCP roots: '/etc/passwd'; allowed is what is in '[data]'")
            .replace("[data]", &data)
    );
    let said = call(&mut server, "../x");
    let rule =
        format!("'../x' (relative paths start in the project's folder); allowed is what is in '{data}'");
    assert!(said.ends_with(&rule), "{said}");
    // The project's own folder is listed too, and not as a dot.
    let said = call(&mut quiet(&project, &[]), "/etc/passwd");
    let root = project.root().canonicalize().unwrap();
    assert!(said.ends_with(&format!("allowed is what is in '{}'", root.display())), "{said}");
}

/// A model can correct such a call, and reads only results.
#[test]
fn a_path_outside_is_refused_with_a_result() {
    let project = project()
        .tool("inside", "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nset -eu\npath=$(mcp_require_path .path)\necho \"$path\"\n")
        .tool("careless", "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nset +e\npath=$(mcp_require_path .path)\necho \"<$path>\"\n");
    let mut server = quiet(&project, &[("MCPBASH_ROOTS", "data")]);
    let mut call = |tool: &str, path: &Value| {
        server.ask(1, "tools/call", &json!({ "name": tool, "arguments": { "path": path } }))
    };
    let data = project.path("data").canonicalize().unwrap().display().to_string();
    let said =
        format!(".path is outside configured MCP roots: '/etc/passwd'; allowed is what is in '{data}'");
    for tool in ["path", "inside"] {
        let result = call(tool, &json!("/etc/passwd"))["result"].clone();
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert_eq!(result["content"], json!([{ "type": "text", "text": said }]), "{tool}");
        let error = json!({ "type": "forbidden", "message": said });
        assert_eq!(result["structuredContent"], json!({ "success": false, "error": error }), "{tool}");
        assert_eq!(result["_meta"], json!({ "exitCode": 1 }), "{tool}");
    }
    // A script that continues gets no path.
    assert_eq!(text(&call("careless", &json!("/etc/passwd"))), "<>");
    // A missing path violates the tool's requirements, like `mcp_args_require`.
    let missing = call("inside", &json!(null));
    assert_eq!(missing["error"], json!({ "code": -32602, "message": ".path is required" }), "{missing}");
}

#[test]
fn a_result_that_replaces_an_error_must_be_valid() {
    let project = Project::new().tool(
        "fails",
        "#!/bin/sh\nprintf '%s' \"$(cat)\" | \"$MCPBASH_JSON_TOOL_BIN\" -r .file >\"$MCP_TOOL_ERROR_FILE\"\nexit 3\n",
    );
    let mut server = quiet(&project, &[]);
    let mut call =
        |file: &str| server.ask(1, "tools/call", &json!({ "name": "fails", "arguments": { "file": file } }));
    let told = call(r#"{"content":[{"type":"text","text":"no"}],"isError":false}"#);
    assert_eq!((&told["result"]["isError"], text(&told)), (&json!(true), "no".to_owned()), "{told}");
    for file in [r#"{"content":[{"type":"song"}]}"#, r#"{"content":"no"}"#, "no"] {
        let told = call(file);
        assert_eq!(told["error"]["message"], "Tool failed", "{file}: {told}");
    }
    assert_eq!(call(r#"{"code":7,"message":"no"}"#)["error"], json!({ "code": 7, "message": "no" }));
}

/// The params of a stateless call by a client with roots.
fn params_of(more: &Value) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "roots": {} });
    let mut params = json!({ "name": "ask", "arguments": {}, "_meta": meta });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    params
}

/// The answer to a call that first asks for roots, by a client that returns these.
fn answered(server: &mut Server, tool: &str, key: &str, arguments: &Value, named: &Value) -> Value {
    let call = json!({ "name": tool, "arguments": arguments });
    let asked = server.ask(2, "tools/call", &params_of(&call));
    assert_eq!(asked["result"]["inputRequests"][key]["method"], "roots/list", "{asked}");
    let mut retry = call;
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] = json!({ key: { "roots": named } });
    server.ask(3, "tools/call", &params_of(&retry))
}

#[test]
fn without_a_session_the_roots_of_the_client_are_those_that_a_script_asks_for() {
    let project = project()
        .tool("ask", "#!/bin/sh\n\"$MCPBASH_BIN\" ask roots/list '{}'\n")
        .tool("told", "#!/bin/sh\necho \"$MCP_ROOTS_PATHS\"\n");
    let root = project.root().canonicalize().unwrap();
    let uri = |path: &str| format!("file://{}", root.join(path).display());
    for (named, expected) in [
        (json!([{ "uri": uri("data"), "name": "Data" }, { "uri": uri("none") }]), vec![uri("data")]),
        (json!([{ "uri": uri("none") }]), vec![]),
        (json!([]), vec![uri("")]),
    ] {
        let mut server = Server::start(project.root());
        // A script that does not need roots asks for none.
        let told = server.ask(1, "tools/call", &params_of(&json!({ "name": "told" })));
        assert_eq!(text(&told), root.display().to_string());
        let answer = answered(&mut server, "ask", "question", &json!({}), &named);
        let listed: Value = serde_json::from_str(&text(&answer)).unwrap();
        let listed = listed["result"]["roots"].as_array().unwrap().iter();
        let uris: Vec<&str> =
            listed.map(|root| root["uri"].as_str().unwrap().trim_end_matches('/')).collect();
        let expected: Vec<&str> = expected.iter().map(|uri| uri.trim_end_matches('/')).collect();
        assert_eq!(uris, expected, "{answer}");
    }
}

#[test]
fn the_sdk_asks_a_client_without_a_session_for_its_roots_once() {
    let project = project();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().canonicalize().unwrap();
    let named = json!([{ "uri": format!("file://{}", folder.display()) }]);
    let mut server = Server::start(project.root());
    let file = json!({ "path": folder.join("notes.txt").display().to_string() });
    let answer = answered(&mut server, "path", "question", &file, &named);
    assert_eq!(text(&answer), folder.join("notes.txt").display().to_string());
    // The answer is remembered for the connection, and the project's own folder is not added.
    let inside = project.path("data/x").display().to_string();
    let call = json!({ "name": "path", "arguments": { "path": inside } });
    let refused = server.ask(4, "tools/call", &params_of(&call));
    let rule = format!("allowed is what is in '{}'", folder.display());
    assert!(text(&refused).ends_with(&rule), "{refused}");

    // A client whose roots are all invalid does not open every path.
    let mut server = Server::start(project.root());
    let wrong = json!([{ "uri": "file:///nonexist" }]);
    let refused = answered(&mut server, "path", "question", &file, &wrong);
    assert!(text(&refused).contains("no path is allowed"), "{refused}");
}

#[test]
fn roots_are_asked_for_before_a_tool_starts_that_reads_them_from_its_environment() {
    let script = "#!/bin/sh\necho \"$MCP_ROOTS_COUNT $MCP_ROOTS_PATHS$MCP_ROOTS_ASK\"\n";
    let project = Project::new()
        .script("tools/reads/tool.sh", script)
        .file("tools/reads/tool.meta.json", r#"{"name": "reads", "needsRoots": true}"#)
        .file("data/x", "");
    let data = project.path("data").canonicalize().unwrap();
    let named = json!([{ "uri": format!("file://{}", data.display()) }]);
    let mut server = Server::start(project.root());
    let answer = answered(&mut server, "reads", "roots", &json!({}), &named);
    assert_eq!(text(&answer), format!("1 {}", data.display()));
    let again = server.ask(4, "tools/call", &params_of(&json!({ "name": "reads" })));
    assert_eq!(text(&again), format!("1 {}", data.display()));
}

#[test]
fn a_tool_does_not_start_if_its_client_never_names_its_folders() {
    let project = Project::new()
        .script("tools/reads/tool.sh", "#!/bin/sh\necho run >>runs\n")
        .file("tools/reads/tool.meta.json", r#"{"name": "reads", "needsRoots": true}"#);
    let mut server = Server::start_with(project.root(), &[("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", "1")]);
    // Each makes room for the next one, and the last is still open at the end.
    for id in 1..=3 {
        let asked = server.ask(id, "tools/call", &params_of(&json!({ "name": "reads" })));
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    }
    server.finish();
    assert_eq!(project.read("runs"), "");
}

/// A project as `mcp-bash new` makes it, with tools that read a file of the user.
fn confined() -> Project {
    const SDK: &str = "#!/usr/bin/env bash\nset -eu\n. \"$MCP_SDK/tool-sdk.sh\"\n";
    Project::new()
        .file("server.d/server.meta.json", r#"{"name": "p", "sandbox": "on"}"#)
        .tool("show", &format!("{SDK}file=$(mcp_require_path .path)\ncat \"$file\"\n"))
        .file("lib/paths.sh", "checked() { mcp_require_path .path; }\n")
        .tool("hides", &format!("{SDK}. lib/paths.sh\nfile=$(checked)\ncat \"$file\"\n"))
        .tool("plain", "#!/bin/sh\necho plain\n")
        .script("tools/lists/tool.sh", "#!/bin/sh\ncat \"$1\"\n")
        .file(
            "tools/lists/tool.meta.json",
            r#"{"name": "lists", "argv": ["{path}"], "sandbox": {"read": ["roots"]}}"#,
        )
}

/// A folder of the user with a file, as a client names it.
fn user_folder() -> (TempDir, Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("notes.txt"), "one two").unwrap();
    let arguments = json!({ "path": path.join("notes.txt").display().to_string() });
    (folder, json!([{ "uri": format!("file://{}", path.display()) }]), arguments)
}

/// The folders of the client are in the sandbox of the first call, for which it is asked before the start.
#[test]
fn a_confined_tool_reads_a_file_of_the_user_in_its_first_call() {
    let project = confined();
    for tool in ["show", "lists"] {
        let (_folder, named, arguments) = user_folder();
        let mut server = Server::start(project.root());
        let answer = answered(&mut server, tool, "roots", &arguments, &named);
        assert_eq!(text(&answer), "one two", "{tool}");
        let call = json!({ "name": tool, "arguments": arguments });
        assert_eq!(text(&server.ask(4, "tools/call", &params_of(&call))), "one two", "{tool}");
    }
}

#[test]
fn a_confined_tool_that_uses_no_roots_costs_no_second_request() {
    let project = confined();
    let mut server = Server::start(project.root());
    assert_eq!(text(&server.ask(1, "tools/call", &params_of(&json!({ "name": "plain" })))), "plain");
}

/// Its script does not show that it uses roots. It is told to call again, and not to write the user's file into metadata.
#[cfg_attr(mcp_bash_portable, ignore = "the sandbox is Landlock")]
#[test]
fn a_confined_tool_that_asks_too_late_says_so() {
    let project = confined();
    let (_folder, named, arguments) = user_folder();
    let mut server = Server::start(project.root());
    let answer = answered(&mut server, "hides", "question", &arguments, &named);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let told = answer["result"]["content"].to_string();
    assert!(told.contains("call the tool again") && !told.contains("metadata"), "{answer}");
    let call = json!({ "name": "hides", "arguments": arguments });
    assert_eq!(text(&server.ask(4, "tools/call", &params_of(&call))), "one two");
}

/// Any caller could name any folder of this machine, so that a sandbox opens those of the operator only.
#[cfg_attr(mcp_bash_portable, ignore = "the sandbox is Landlock")]
#[test]
fn over_http_a_sandbox_opens_the_folders_of_the_operator() {
    let project = confined();
    let (folder, named, arguments) = user_folder();
    let call = |server: &HttpServer, more: &Value| {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "roots": {} } });
        let mut params = json!({ "name": "show", "arguments": arguments, "_meta": meta });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.send(&stateless(1, "tools/call", &params)).json()
    };
    let answer = |server: &HttpServer| {
        let asked = call(server, &json!({}));
        let state = &asked["result"]["requestState"];
        let responses = json!({ "question": { "roots": named } });
        call(server, &json!({ "requestState": state, "inputResponses": responses }))
    };
    let refused = answer(&HttpServer::start(project.root()));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let told = refused["result"]["content"].to_string();
    assert!(told.contains("MCPBASH_ROOTS") && !told.contains("metadata"), "{refused}");
    let roots = folder.path().to_str().unwrap();
    let opened = answer(&HttpServer::start_with(project.root(), &["--roots", roots], &[]));
    assert_eq!(text(&opened), "one two");
}
