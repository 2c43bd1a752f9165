//! The environment of scripts: variables from `server.d/env.sh`, from metadata, and from the project's
//! virtual environment. If a part fails, nothing runs with an incomplete environment.

use crate::harness::{Project, Server, code, wait_until};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// A project with a tool that prints the requested variables, one per line.
fn project() -> Project {
    Project::new().tool(
        "show",
        "#!/usr/bin/env bash\nfor name in ONE TWO GREETING HERE VIRTUAL_ENV; do echo \"$name=${!name-}\"; done\n",
    )
}

fn quiet(project: &Project, environment: &[(&str, &str)]) -> Server {
    let mut all = vec![("MCPBASH_LOG_LEVEL", "emergency")];
    all.extend(environment);
    Server::ready_with(project.root(), &all, "2025-11-25")
}

/// The value of a variable in the tool `show`.
fn shown(server: &mut Server, name: &str) -> String {
    server.call("show", "show");
    let answer = server.receive();
    let line = text(&answer).lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
    line.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn health(project: &Project, environment: &[(&str, &str)]) -> (Value, i32) {
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--health").envs(environment.iter().copied());
    let output = command.output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (report, output.status.code().unwrap())
}

#[test]
fn env_sh_sets_variables_for_all_scripts_and_is_sourced_once() {
    let project = project()
        .tool("again", "#!/bin/sh\necho \"$GREETING\"\n")
        .script("prompts/p.sh", "#!/bin/sh\n# mcp: {}\necho \"$GREETING\"\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r"}"#)
        .script("providers/mine.sh", "#!/bin/sh\nprintf %s \"$GREETING\"\n")
        .file(
            "server.d/env.sh",
            r#"echo "noise on standard output"
echo x >>sourced
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
private=not-exported
export GREETING="hello, $SOURCE" HERE=$here
export MCPBASH_REMOTE_TOKEN=mine MCP_TOOL_NAME=other
"#,
        );
    let mut server = quiet(&project, &[("SOURCE", "env.sh")]);
    assert_eq!(shown(&mut server, "GREETING"), "hello, env.sh");
    let folder = project.path("server.d").canonicalize().unwrap();
    assert_eq!(shown(&mut server, "HERE"), folder.display().to_string());
    server.call(1, "again");
    assert_eq!(text(&server.receive()), "hello, env.sh");
    let prompt = server.ask(2, "prompts/get", &json!({ "name": "p" }));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "hello, env.sh", "{prompt}");
    let read = server.ask(3, "resources/read", &json!({ "uri": "mine://r" }));
    assert_eq!(read["result"]["contents"][0]["text"], "hello, env.sh", "{read}");
    assert_eq!(project.read("sourced"), "x\n");
}

#[test]
fn env_sh_is_sourced_again_when_it_changes() {
    let project = project().file("server.d/env.sh", "export GREETING=one\n");
    let mut server = quiet(&project, &[]);
    assert_eq!(shown(&mut server, "GREETING"), "one");
    project.write("server.d/env.sh", "export GREETING=another\n");
    assert_eq!(shown(&mut server, "GREETING"), "another");
    project.remove("server.d/env.sh");
    assert_eq!(shown(&mut server, "GREETING"), "");
    project.write("server.d/env.sh", "export GREETING=back\nunset ONE\n");
    assert_eq!(shown(&mut server, "GREETING"), "back");
    let inherit =
        [("MCPBASH_TOOL_ENV_MODE", "inherit"), ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true"), ("ONE", "1")];
    assert_eq!(shown(&mut quiet(&project, &inherit), "ONE"), "", "what it unsets is gone");
}

#[test]
fn no_script_is_run_with_an_env_sh_that_fails() {
    for (file, said) in [
        ("echo not today >&2\nreturn 3\n", "ended with status 3: not today"),
        ("export GREETING=half\nif then\n", "line 2: syntax error"),
        (
            "set -e\nfalse\nexport GREETING=x\n",
            "ended with status 1, and wrote nothing on standard error; where",
        ),
        ("export GREETING=x\nexit 0\n", "use `return`"),
        ("export GREETING=x\n[ -e missing ] && . ./missing\n", "add a line `true`"),
        (
            "GREETING=$(head -c 200000 /dev/zero | tr '\\0' x); export GREETING\n",
            "GREETING to more than 128 KiB",
        ),
    ] {
        let project = project().file("server.d/env.sh", file);
        let mut server = quiet(&project, &[]);
        server.call(1, "show");
        let answer = server.receive();
        assert_eq!(code(&answer), -32603, "{answer}");
        assert!(message(&answer).starts_with("No script is run: server.d/env.sh "), "{answer}");
        assert!(message(&answer).contains(said), "{said}: {answer}");
        let (report, status) = health(&project, &[]);
        assert_eq!(status, 1, "{report}");
        assert!(report["problems"].to_string().contains("server.d/env.sh"), "{report}");
        // Once fixed, it takes effect without a restart.
        project.write("server.d/env.sh", "export GREETING=repaired\n");
        assert_eq!(shown(&mut server, "GREETING"), "repaired");
    }
}

#[test]
fn a_group_or_world_writable_env_sh_is_not_sourced() {
    let project = project().file("server.d/env.sh", "echo x >>sourced\n");
    set_mode(&project.path("server.d/env.sh"), 0o666);
    let mut server = quiet(&project, &[]);
    server.call(1, "show");
    let answer = server.receive();
    assert!(message(&answer).contains("server.d/env.sh is not trusted"), "{answer}");
    assert!(message(&answer).contains("chmod go-w"), "{answer}");
    assert_eq!(project.read("sourced"), "");
}

#[test]
fn env_sh_never_sees_the_secret() {
    let secret = "0123456789abcdef0123456789abcdef";
    let project = project().file("server.d/env.sh", "export GREETING=\"<$MCPBASH_REMOTE_TOKEN$COPY>\"\n");
    let environment =
        [("MCPBASH_REMOTE_TOKEN", secret), ("COPY", secret), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::start_with(project.root(), &environment);
    let meta = json!({ "mcpbash/remoteToken": secret });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }, "_meta": meta });
    server.ask(0, "initialize", &hello);
    server.notify("notifications/initialized", &json!({ "_meta": meta }));
    let answer = server.ask(1, "tools/call", &json!({ "name": "show", "arguments": {}, "_meta": meta }));
    assert!(text(&answer).contains("GREETING=<>"), "{answer}");
}

#[test]
fn variables_that_metadata_names_reach_the_script() {
    let project = project().tool("other", "#!/bin/sh\necho \"<$ONE$TWO>\"\n").file(
        "tools/show/tool.meta.json",
        r#"{"name": "show", "env": ["ONE", "MCPBASH_REMOTE_TOKEN", "A=B"]}"#,
    );
    let environment = [("ONE", "1"), ("TWO", "2")];
    let mut server = quiet(&project, &environment);
    assert_eq!((shown(&mut server, "ONE"), shown(&mut server, "TWO")), ("1".to_owned(), String::new()));
    server.call(1, "other");
    assert_eq!(text(&server.receive()), "<>", "only who names them gets them");
    drop(server);

    let project = project.file("server.d/server.meta.json", r#"{"name": "x", "env": ["TWO"]}"#);
    let mut server = quiet(&project, &environment);
    assert_eq!((shown(&mut server, "ONE"), shown(&mut server, "TWO")), ("1".to_owned(), "2".to_owned()));
    server.call(1, "other");
    assert_eq!(text(&server.receive()), "<2>");
}

#[test]
fn a_variable_that_is_named_and_not_set_is_reported() {
    let project = project()
        .file("tools/show/tool.meta.json", r#"{"name": "show", "env": ["ONE", "TWO"]}"#)
        .file("server.d/env.sh", "export TWO=2\n");
    let problems = health(&project, &[]).0["problems"].to_string();
    assert!(problems.contains("ONE") && !problems.contains("TWO"), "{problems}");
    assert!(problems.contains("tools/show/tool.sh") && problems.contains("server.d/env.sh"), "{problems}");
    assert_eq!(health(&project, &[("ONE", "1")]).0["problems"], json!([]));
    let elsewhere = Project::new();
    let mut command = Server::command();
    command.arg("--project-root").arg(project.root()).arg("--log-file").arg(elsewhere.path("log"));
    let _server = Server::spawn(command);
    wait_until("the report", || elsewhere.read("log").contains("needs the variable ONE").then_some(()));
}

#[test]
fn a_virtual_environment_beside_the_project_is_on_the_path() {
    let project = project()
        .tool("finds", "#!/usr/bin/env bash\ngreeter; bundler; jq --version >/dev/null && echo jq\n")
        .script(".venv/bin/greeter", "#!/bin/sh\necho venv\n")
        .script("node_modules/.bin/bundler", "#!/bin/sh\necho node\n")
        .script("venv/bin/greeter", "#!/bin/sh\necho second\n");
    let mut server = quiet(&project, &[]);
    server.call(1, "finds");
    assert_eq!(text(&server.receive()), "venv\nnode\njq");
    let root = project.root().canonicalize().unwrap().display().to_string();
    assert_eq!(shown(&mut server, "VIRTUAL_ENV"), format!("{root}/.venv"));
    drop(server);

    let mut server = quiet(&project, &[("MCPBASH_PROJECT_PROGRAMS", "false")]);
    assert_eq!(shown(&mut server, "VIRTUAL_ENV"), "");
    drop(server);

    // A group- or world-writable one is not used, and a warning says so.
    set_mode(&project.path(".venv/bin"), 0o777);
    set_mode(&project.path("venv"), 0o777);
    let mut server = quiet(&project, &[]);
    assert_eq!(shown(&mut server, "VIRTUAL_ENV"), "");
    let problems = health(&project, &[]).0["problems"].to_string();
    assert!(
        problems.contains(".venv/bin is not on the PATH") && problems.contains("chmod go-w"),
        "{problems}"
    );
}

#[test]
fn nothing_runs_if_inheriting_the_environment_is_requested_but_not_allowed() {
    let project = project()
        .script("prompts/p.sh", "#!/bin/sh\n# mcp: {}\necho hi\n")
        .file("resources/r.meta.json", r#"{"uri": "mine://r"}"#)
        .script("providers/mine.sh", "#!/bin/sh\necho hi\n");
    let mut server =
        quiet(&project, &[("MCPBASH_TOOL_ENV_MODE", "inherit"), ("MCPBASH_PROVIDER_ENV_MODE", "inherit")]);
    let gate = "MCPBASH_TOOL_ENV_INHERIT_ALLOW=true";
    server.call(1, "show");
    let answer = server.receive();
    assert!(message(&answer).contains(gate), "{answer}");
    let prompt = server.ask(2, "prompts/get", &json!({ "name": "p" }));
    assert!(message(&prompt).contains(gate), "{prompt}");
    let read = server.ask(3, "resources/read", &json!({ "uri": "mine://r" }));
    assert!(message(&read).contains("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW=true"), "{read}");
    let (report, status) = health(&project, &[("MCPBASH_TOOL_ENV_MODE", "inherit")]);
    assert_eq!(status, 2, "{report}");
    assert!(report["problems"].to_string().contains(gate), "{report}");
    drop(server);
    let mut server = quiet(
        &project,
        &[("MCPBASH_TOOL_ENV_MODE", "inherit"), ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "true"), ("ONE", "1")],
    );
    assert_eq!(shown(&mut server, "ONE"), "1");
}

#[test]
fn an_allowlist_alone_selects_the_allowlist_mode() {
    let project = project();
    let mut server = quiet(&project, &[("MCPBASH_TOOL_ENV_ALLOWLIST", "ONE"), ("ONE", "1"), ("TWO", "2")]);
    assert_eq!((shown(&mut server, "ONE"), shown(&mut server, "TWO")), ("1".to_owned(), String::new()));
}

/// The variables of a tool whose metadata has this `env`, and of a tool beside it without any.
fn tool_and_neighbour(env: &Value) -> Project {
    let script = "#!/bin/sh\necho \"${SECRET-none} ${REGION-none}\"\n";
    let metadata = json!({ "name": "deploy", "description": "Deploys", "env": env });
    Project::new()
        .script("tools/deploy/tool.sh", script)
        .file("tools/deploy/tool.meta.json", &metadata.to_string())
        .tool("neighbour", script)
        .script("prompts/p.sh", &script.replace("/sh\n", "/sh\n# mcp: {}\n"))
}

#[test]
fn one_tool_has_variables_of_the_server_and_of_its_arguments() {
    for env in
        [json!(["SECRET", { "REGION": "{region}" }]), json!([{ "REGION": "{region}", "SECRET": true }])]
    {
        let project = tool_and_neighbour(&env);
        // The second server takes the tool from the registry on disk.
        for _ in 0..2 {
            let mut server = quiet(&project, &[("SECRET", "s3cret"), ("REGION", "of the server")]);
            let listed = server.ask(1, "tools/list", &json!({}));
            let tools = listed["result"]["tools"].as_array().unwrap();
            let deploy = tools.iter().find(|tool| tool["name"] == "deploy").unwrap();
            assert_eq!(deploy["inputSchema"]["required"], json!(["region"]), "{deploy}");
            let call = json!({ "name": "deploy", "arguments": { "region": "north; id" } });
            assert_eq!(text(&server.ask(2, "tools/call", &call)), "s3cret north; id");
            // A secret that one tool needs reaches no other script.
            server.call(3, "neighbour");
            assert_eq!(text(&server.receive()), "none none");
            let prompt = server.ask(4, "prompts/get", &json!({ "name": "p" }));
            assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "none none", "{prompt}");
        }
    }
}

#[test]
fn a_list_with_something_else_than_names_and_values_is_no_tool() {
    for (env, problem) in [
        (json!(["SECRET", { "REGION": "{region}" }, 7]), "env[2]"),
        (json!(["SECRET", { "SECRET": "{region}" }]), "SECRET twice"),
        (json!(["SECRET", { "MCPBASH_REMOTE_TOKEN": "{region}" }]), "MCPBASH_REMOTE_TOKEN"),
        (json!(["SECRET", { "LD_PRELOAD": "{region}" }]), "LD_PRELOAD"),
    ] {
        let project = tool_and_neighbour(&env);
        let (report, status) = health(&project, &[("SECRET", "s3cret")]);
        assert!(status != 0 && report["problems"].to_string().contains(problem), "{problem}: {report}");
        let mut server = quiet(&project, &[("SECRET", "s3cret")]);
        let answer =
            server.ask(1, "tools/call", &json!({ "name": "deploy", "arguments": { "region": "x" } }));
        assert!(!answer.to_string().contains("s3cret") && answer.get("error").is_some(), "{answer}");
    }
}

#[test]
fn variables_of_all_scripts_can_only_be_named() {
    let config = r#"{"env": ["ONE", {"TWO": "{two}"}]}"#;
    let project = project().file("server.d/server.meta.json", config);
    let (report, _) = health(&project, &[("ONE", "1")]);
    assert!(report["problems"].to_string().contains("`env` may only name variables"), "{report}");
    let mut server = quiet(&project, &[("ONE", "1")]);
    assert_eq!((shown(&mut server, "ONE"), shown(&mut server, "TWO")), ("1".to_owned(), String::new()));
}
