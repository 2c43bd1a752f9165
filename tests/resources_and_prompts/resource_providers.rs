//! Resource providers: the project's own executables, and the built-in ones within their limits.

use crate::harness::{ONE_AT_A_TIME, Project, Server, code, wait_until_gone};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn quiet(project: &Project, environment: &[(&str, &str)]) -> Server {
    let environment: Vec<_> =
        [("MCPBASH_LOG_LEVEL", "emergency")].iter().chain(environment).copied().collect();
    Server::ready_with(project.root(), &environment, "2025-11-25")
}

fn read(server: &mut Server, uri: &str) -> Value {
    server.ask("read", "resources/read", &json!({ "uri": uri }))
}

fn text(answer: &Value) -> &str {
    answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn why(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_provider_of_the_project_is_run_with_the_uri() {
    let project = Project::new()
        .file("resources/status.meta.json", r#"{"uri": "myapi://status", "provider": "myapi", "mimeType": "text/plain"}"#)
        .file("resources/other.meta.json", r#"{"uri": "py://x y"}"#)
        .script(
            "providers/myapi.sh",
            "#!/bin/sh\necho \"$#|$1|$MCP_RESOURCE_URI|$PWD|$MCPBASH_PROVIDERS_DIR|$MCP_RESOURCES_ROOTS|$SECRET\"\n",
        )
        .script("providers/py.pl", "#!/bin/sh\nprintf '%s' \"$1\"\n");
    let mut server = quiet(&project, &[("SECRET", "secret"), ("MCP_RESOURCES_ROOTS", "docs:/srv/files")]);
    let root = project.root().canonicalize().unwrap().display().to_string();
    let answer = read(&mut server, "myapi://status");
    let expected =
        format!("1|myapi://status|myapi://status|{root}|{root}/providers|{root}/docs:/srv/files|\n");
    assert_eq!(text(&answer), expected);
    assert_eq!(text(&read(&mut server, "py://x y")), "py://x y");
    // It does not run for URIs that the project does not declare.
    assert_eq!(code(&read(&mut server, "myapi://other")), -32002);
}

#[test]
fn its_environment_follows_the_mode() {
    let project = Project::new()
        .file("resources/env.meta.json", r#"{"uri": "env://x"}"#)
        .script("providers/env.sh", "#!/bin/sh\nprintf '%s|%s' \"$ONE\" \"$OTHER\"\n");
    let of = |settings: &[(&str, &str)]| {
        let settings: Vec<_> = [("ONE", "1"), ("OTHER", "2")].iter().chain(settings).copied().collect();
        text(&read(&mut quiet(&project, &settings), "env://x")).to_owned()
    };
    assert_eq!(of(&[]), "|");
    assert_eq!(
        of(&[("MCPBASH_PROVIDER_ENV_MODE", "allowlist"), ("MCPBASH_PROVIDER_ENV_ALLOWLIST", "ONE")]),
        "1|"
    );
    assert_eq!(of(&[("MCPBASH_PROVIDER_ENV_ALLOWLIST", "OTHER")]), "|2", "a list alone is the mode for it");
    let both = [("MCPBASH_PROVIDER_ENV_MODE", "inherit"), ("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW", "true")];
    assert_eq!(of(&both), "1|2");
}

#[test]
fn its_exit_code_selects_the_error() {
    let project = Project::new()
        .file("resources/exit.meta.json", r#"{"uriTemplate": "exit://{code}"}"#)
        .script("providers/exit.sh", "#!/bin/sh\necho \"said $1\" >&2\nexit \"$MCP_RESOURCE_VAR_code\"\n");
    let mut server = quiet(&project, &[]);
    for (exit, expected) in
        [(2, -32603), (3, -32002), (4, -32602), (5, -32603), (6, -32603), (1, -32603), (77, -32603)]
    {
        let answer = read(&mut server, &format!("exit://{exit}"));
        assert_eq!(code(&answer), expected, "{answer}");
        assert!(why(&answer).contains(&format!("said exit://{exit}")), "{answer}");
    }
    assert_eq!(text(&read(&mut server, "exit://0")), "");
}

#[test]
fn it_overrides_the_built_in_one_and_needs_trust_but_no_executable_bit() {
    let project = Project::new()
        .file("resources/a.txt", "from the file")
        .file("providers/file.sh", "printf 'from the script: %s' \"$1\"\n");
    let mut server = quiet(&project, &[]);
    let uri = "file:///anything/at/all";
    assert_eq!(text(&read(&mut server, uri)), format!("from the script: {uri}"));
    std::fs::set_permissions(project.path("providers/file.sh"), std::fs::Permissions::from_mode(0o666))
        .unwrap();
    let answer = read(&mut server, uri);
    assert_eq!(code(&answer), -32603);
    assert!(why(&answer).contains("chmod go-w"), "{answer}");
}

#[test]
fn it_has_limits_and_is_killed_with_its_request() {
    let project = Project::new().file("resources/r.meta.json", r#"{"uriTemplate": "trap://{x}"}"#);
    let root = project.root().display().to_string();
    let project = project.script(
        "providers/trap.sh",
        &format!(
            "#!/bin/sh\necho $$ >>{root}/started\ncase $1 in\ntrap://long) yes;;\ntrap://slow) sleep 1000;;\nesac\n"
        ),
    );
    let mut server = quiet(&project, &[("MCPBASH_MAX_RESOURCE_BYTES", "1000")]);
    assert!(why(&read(&mut server, "trap://long")).contains("MCPBASH_MAX_RESOURCE_BYTES"));
    let mut server = quiet(&project, &[("MCPBASH_DEFAULT_TOOL_TIMEOUT", "1")]);
    assert!(why(&read(&mut server, "trap://slow")).contains("MCPBASH_DEFAULT_TOOL_TIMEOUT"));
    let mut server = quiet(&project, &ONE_AT_A_TIME);
    server.request("slow", "resources/read", &json!({ "uri": "trap://slow" }));
    let pids = project.wait_for_started(3);
    server.notify("notifications/cancelled", &json!({ "requestId": "slow" }));
    wait_until_gone(pids[2]);
    server.expect_silence_of_calls();
}

#[test]
fn echo_returns_the_uri() {
    let project = Project::new();
    let mut server = quiet(&project, &[]);
    assert_eq!(text(&read(&mut server, "echo://Hello%2C%20world")), "Hello, world");
    assert_eq!(code(&read(&mut server, "echo://%zz")), -32602);
}

// Shows: https
#[test]
fn https_reaches_only_allowed_hosts() {
    let project = Project::new();
    let mut server = quiet(&project, &[]);
    let answer = read(&mut server, "https://example.com/x");
    assert_eq!(code(&answer), -32602);
    assert!(why(&answer).contains("MCPBASH_HTTPS_ALLOW_HOSTS"), "{answer}");

    let mut server =
        quiet(&project, &[("MCPBASH_HTTPS_ALLOW_ALL", "true"), ("MCPBASH_HTTPS_DENY_HOSTS", "example.com")]);
    assert!(why(&read(&mut server, "https://example.com/x")).contains("MCPBASH_HTTPS_DENY_HOSTS"));
    for uri in [
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "https://169.254.169.254/latest",
        "https://0x7f.1/",
    ] {
        let answer = read(&mut server, uri);
        assert!(matches!(code(&answer), -32602 | -32603), "{uri}: {answer}");
    }
    assert_eq!(code(&read(&mut server, "http://example.com/")), -32002);

    // An invalid allowlist allows no host; an invalid denylist prevents the start.
    let mut server = quiet(
        &project,
        &[("MCPBASH_HTTPS_ALLOW_ALL", "true"), ("MCPBASH_HTTPS_ALLOW_HOSTS", "*.example.com")],
    );
    assert!(why(&read(&mut server, "https://www.example.com/")).contains("MCPBASH_HTTPS_ALLOW_HOSTS"));
    let mut server = Server::start_with(project.root(), &[("MCPBASH_HTTPS_DENY_HOSTS", "*.example.com")]);
    assert!(!server.wait().success());
    assert!(server.stderr().contains("MCPBASH_HTTPS_DENY_HOSTS"));
    let settings = r#"{"settings": {"MCPBASH_HTTPS_DENY_HOSTS": "*.example.com"}}"#;
    let project = project.file("server.d/server.meta.json", settings);
    let mut server = Server::start_with(project.root(), &[]);
    assert!(!server.wait().success());
    assert!(server.stderr().contains("the server does not start without what it denies"));
}

#[test]
fn git_repositories_are_read_only_if_enabled() {
    let project = Project::new();
    let uri = "git+https://example.com/repository#main:README.md";
    let mut server = quiet(&project, &[]);
    let answer = read(&mut server, uri);
    assert_eq!(code(&answer), -32602);
    assert!(why(&answer).contains("MCPBASH_ENABLE_GIT_PROVIDER"), "{answer}");
    let mut server = quiet(&project, &[("MCPBASH_ENABLE_GIT_PROVIDER", "true")]);
    assert!(why(&read(&mut server, uri)).contains("MCPBASH_GIT_ALLOW_HOSTS"));
}

#[test]
fn files_are_read_beneath_the_roots_and_nowhere_else() {
    let project =
        Project::new().file("resources/in.txt", "in").file("docs/doc.txt", "doc").file("top.txt", "top");
    let elsewhere = Project::new().file("else.txt", "else");
    let uri = |project: &Project, path: &str| {
        format!("file://{}/{path}", project.root().canonicalize().unwrap().display())
    };
    let mut server = quiet(&project, &[]);
    assert_eq!(text(&read(&mut server, &uri(&project, "resources/in.txt"))), "in");
    for outside in [uri(&project, "docs/doc.txt"), uri(&project, "top.txt"), uri(&elsewhere, "else.txt")] {
        let answer = read(&mut server, &outside);
        assert_eq!(code(&answer), -32603);
        assert!(why(&answer).contains("MCP_RESOURCES_ROOTS"), "{answer}");
    }
    let roots = format!("docs:{}", elsewhere.root().display());
    let mut server = quiet(&project, &[("MCP_RESOURCES_ROOTS", &roots)]);
    for (uri, expected) in [
        (uri(&project, "docs/doc.txt"), "doc"),
        (uri(&elsewhere, "else.txt"), "else"),
        ("file://./docs/doc.txt".to_owned(), "doc"),
    ] {
        assert_eq!(text(&read(&mut server, &uri)), expected);
    }
    for outside in ["resources/in.txt", "top.txt"] {
        assert_eq!(code(&read(&mut server, &uri(&project, outside))), -32603, "{outside}");
    }
}

#[test]
fn a_script_can_call_the_built_in_providers() {
    let project = Project::new()
        .file("resources/in.txt", "in")
        .file("outside.txt", "outside")
        .file("resources/w.meta.json", r#"{"uri": "wrap://w"}"#)
        .script("providers/wrap.sh", "#!/bin/sh\n\"$MCPBASH_HOME/providers/file.sh\" file://./resources/in.txt\n")
        .tool(
            "reads",
            "#!/bin/sh\nfor uri in echo://hello file://./resources/in.txt file://./outside.txt file://./resources/no file://example.com/x https://example.com/; do\n\t\"$MCPBASH_HOME/providers/${uri%%:*}.sh\" \"$uri\" 2>/dev/null; echo \" $?\"\ndone\n",
        );
    let mut server = quiet(&project, &[]);
    server.call(1, "reads");
    let answer = server.receive();
    let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(said, "hello 0\nin 0\n 2\n 3\n 4\n 2");
    assert_eq!(text(&read(&mut server, "wrap://w")), "in");
}

#[test]
fn a_request_sets_its_own_timeout() {
    let project = Project::new()
        .file("resources/slow.meta.json", r#"{"uri": "slow://x", "provider": "slow"}"#)
        .script("providers/slow.sh", "#!/bin/sh\necho $$ >started\nsleep 1000\n");
    let mut server = quiet(&project, &[]);
    for (method, done) in [("resources/read", "read"), ("resources/subscribe", "subscribed to")] {
        let answer = server.ask(1, method, &json!({ "uri": "slow://x", "timeoutSecs": 1 }));
        assert_eq!(code(&answer), -32603, "{answer}");
        let told = format!("it was not {done} within 1 s (`timeoutSecs` in the request)");
        assert!(why(&answer).contains(&told), "{answer}");
        let process = project.read("started").trim().parse().unwrap();
        wait_until_gone(process);
        for wrong in [json!(0), json!("5"), json!(-1), json!(1.5)] {
            let answer = server.ask(2, method, &json!({ "uri": "slow://x", "timeoutSecs": wrong }));
            assert_eq!(code(&answer), -32602, "{answer}");
            assert!(why(&answer).contains("`timeoutSecs` must be a whole number"), "{answer}");
        }
    }
}

#[test]
fn a_request_may_ask_for_more_time_up_to_the_maximum() {
    let project = Project::new()
        .file("resources/slow.meta.json", r#"{"uri": "slow://x", "provider": "slow"}"#)
        .script("providers/slow.sh", "#!/bin/sh\nsleep 2\necho late\n")
        .file("resources/stuck.meta.json", r#"{"uri": "stuck://x", "provider": "stuck"}"#)
        .script("providers/stuck.sh", "#!/bin/sh\nsleep 1000\n");
    let limits = [("MCPBASH_DEFAULT_TOOL_TIMEOUT", "1"), ("MCPBASH_MAX_TIMEOUT_SECS", "3")];
    let mut server = quiet(&project, &[limits[0], ("MCPBASH_MAX_TIMEOUT_SECS", "600")]);
    let asked = json!({ "uri": "slow://x", "timeoutSecs": 300 });
    assert_eq!(text(&server.ask("read", "resources/read", &asked)), "late\n");
    assert!(why(&read(&mut server, "slow://x")).contains("1 s"), "the default is not changed");
    let mut server = quiet(&project, &limits);
    let answer = server.ask("read", "resources/read", &json!({ "uri": "stuck://x", "timeoutSecs": 300 }));
    assert!(why(&answer).contains("3 s"), "{answer}");
}
