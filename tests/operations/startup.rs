//! Which project is served, and the output for a user who starts the server by hand.

use crate::harness::{Project, Server};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str], folder: &Path) -> Output {
    Server::command().args(arguments).current_dir(folder).output().expect("the binary runs")
}

fn name_served(command: Command) -> String {
    let mut server = Server::spawn(command);
    let hello = server.initialize("2025-11-25");
    server.finish();
    hello["serverInfo"]["name"].as_str().unwrap().to_owned()
}

fn named(name: &str) -> Project {
    Project::with_hi().file("server.d/server.meta.json", &json!({ "name": name }).to_string())
}

#[test]
fn the_flag_wins_over_the_variable_over_the_nearest_parent() {
    let (flag, variable, parent) = (named("flag"), named("variable"), named("parent").file("a/b/c.txt", ""));
    let start = |with_flag: bool, with_variable: bool| {
        let mut command = Server::command();
        command.current_dir(parent.path("a/b"));
        if with_flag {
            command.arg("--project-root").arg(flag.root());
        }
        if with_variable {
            command.env("MCPBASH_PROJECT_ROOT", variable.root());
        }
        name_served(command)
    };
    assert_eq!(start(true, true), "flag");
    assert_eq!(start(false, true), "variable");
    assert_eq!(start(false, false), "parent");
}

#[test]
fn without_a_project_the_built_in_one_is_served() {
    let empty = tempfile::tempdir().unwrap();
    let mut command = Server::command();
    command.current_dir(empty.path());
    let mut server = Server::spawn(command);
    let hello = server.initialize("2025-11-25");
    assert_eq!(hello["serverInfo"]["name"], "mcp-bash");
    assert_eq!(hello["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let tools = server.ask(1, "tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["countdown", "getting_started"]);
    server.call(2, "getting_started");
    let text = server.receive()["result"]["content"][0]["text"].clone();
    assert!(text.as_str().unwrap().contains("--project-root"), "{text}");
}

#[test]
fn any_working_directory_will_do() {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.current_dir("/").arg("--project-root").arg(project.root());
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server.call(1, "hi");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "hi");
}

#[test]
fn a_missing_folder_is_named() {
    let here = tempfile::tempdir().unwrap();
    let output = run(&["--project-root", "/no/such/folder"], here.path());
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, "mcp-bash: --project-root does not exist: /no/such/folder\n");
}

#[test]
fn a_folder_as_the_only_argument_is_served() {
    let project = Project::with_hi();
    let mut command = Server::command();
    // The environment names another folder; the command line takes precedence.
    command.current_dir("/").env("MCPBASH_PROJECT_ROOT", "/nonexistent").arg(project.root());
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    server.call(1, "hi");
    assert_eq!(server.receive()["result"]["content"][0]["text"], "hi");
}

#[test]
fn an_argument_that_is_neither_folder_nor_command_is_refused_with_a_hint() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("file"), "").unwrap();
    for (arguments, words) in [
        (&["regstry"][..], "`regstry` is neither a folder to serve nor a command"),
        (&["file"], "`file` is neither a folder to serve nor a command"),
        (&["intit", "--name", "x"], "`intit` is neither a folder to serve nor a command"),
        (&["nwe", "demo"], "`nwe` is neither a folder to serve nor a command"),
        (&[".", "--name", "x"], "unexpected argument '--name'"),
        (&["registry", "--name"], "unexpected argument '--name'"),
        (&[".", "registry", "status"], "`mcp-bash registry --project-root .`"),
        (&[".", "--project-root", "."], "cannot be used with"),
    ] {
        let output = run(arguments, here.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty() && stderr.contains(words), "{arguments:?}: {stderr}");
    }
    let served = run(&["--health", "."], here.path());
    assert!(String::from_utf8_lossy(&served.stdout).contains("\"project\""), "{served:?}");
}

#[test]
fn version_help_and_unknown_flags() {
    let here = tempfile::tempdir().unwrap();
    let version = run(&["--version"], here.path());
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("mcp-bash {}\n", env!("CARGO_PKG_VERSION")));
    let help = run(&["--help"], here.path());
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    for word in ["--project-root", "health", "demo", "MCPBASH_PROJECT_ROOT", "docs/settings.md"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    let wrong = run(&["--no-such-flag"], here.path());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(wrong.stdout.is_empty());
}

#[test]
fn a_terminal_shows_what_to_do() {
    let project = Project::with_hi();
    // `script` gives the server a terminal; its input ends at once.
    let output = Command::new("script")
        .args([
            "-qec",
            &format!("{} --project-root {}", env!("CARGO_BIN_EXE_mcp-bash"), project.root().display()),
            "/dev/null",
        ])
        .stdin(std::process::Stdio::null())
        .output()
        .expect("`script` of util-linux");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("tools: hi") && text.contains("mcp-bash demo"), "{text}");
    let piped = Server::ready(project.root()).finish();
    assert!(!piped.contains("mcp-bash demo"), "a client is not told: {piped}");
}

#[test]
fn settings_that_cannot_be_used_are_named_and_the_server_starts() {
    let project = Project::with_hi();
    let mut server = Server::start_with(project.root(), &[("MCPBASH_IDLE_TIMEOUT", "soon")]);
    server.initialize("2025-11-25");
    assert!(server.finish().contains("MCPBASH_IDLE_TIMEOUT must be a whole number"));
}

/// A client that shows only answers learns why the server does not start.
#[test]
fn a_server_that_cannot_start_answers_the_first_request() {
    let project = Project::with_hi();
    let root = project.root().to_str().unwrap();
    let nowhere = "/nonexistent/project";
    let starts = [
        (vec!["--project-root", nowhere], vec![], nowhere),
        (vec![nowhere], vec![], nowhere),
        (vec!["serve", nowhere], vec![], nowhere),
        (
            vec!["--project-root", root],
            vec![("MCPBASH_STATE_KEYS_FILE", "/nonexistent/keys")],
            "MCPBASH_STATE_KEYS_FILE",
        ),
        (vec!["--project-root", root, "--log-file", "/nonexistent/log"], vec![], "/nonexistent/log"),
        (vec!["debug", nowhere], vec![], nowhere),
        (vec!["dev", "--stdio", nowhere], vec![], nowhere),
        // Mistakes in the entry of a client.
        (vec!["--no-such-flag"], vec![], "--no-such-flag"),
        (vec!["serve", "--no-such-flag"], vec![], "--no-such-flag"),
        (vec!["--project-root"], vec![], "a value is required"),
        (vec![root, root], vec![], root),
    ];
    for (arguments, environment, named) in starts {
        let mut command = Server::command();
        command.args(&arguments).envs(environment);
        let mut server = Server::spawn(command);
        let answer = server.ask("first", "initialize", &json!({ "protocolVersion": "2025-11-25" }));
        let said = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert!(said.starts_with("mcp-bash cannot start: ") && said.contains(named), "{said}");
        assert!(server.stderr().contains(named), "{arguments:?}");
        assert_eq!(server.wait().code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_start_that_fails_answers_only_requests() {
    for line in
        ["", "hello\n", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n", "{\"jsonrpc\":"]
    {
        let mut child = Server::command()
            .args(["--project-root", "/nonexistent/project"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), line.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line:?}");
    }
}
