//! `mcp-bash demo`: shows in ten seconds what this program does.

use crate::harness::{Server, Terminal};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

#[test]
fn the_demo_shows_a_whole_exchange_with_live_progress() {
    let output = Server::command().arg("demo").output().expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let positions: Vec<usize> = [
        r#""method":"initialize""#,
        r#""protocolVersion":"2025-11-25""#,
        r#""method":"tools/list""#,
        "countdown        Counts down",
        r#""method":"tools/call""#,
        r#""method":"notifications/progress""#,
        r#""progress":5"#,
        "the script printed: Counted down from 5.",
        "mcp-bash /path/to/your/project",
    ]
    .iter()
    .map(|words| text.find(words).unwrap_or_else(|| panic!("{words} in {text}")))
    .collect();
    assert!(positions.is_sorted(), "{text}");
    assert_eq!(text.matches("notifications/progress").count(), 5);
}

#[test]
fn closing_the_output_ends_it_quietly() {
    let mut command = Server::command();
    command.arg("demo").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut demo = command.spawn().expect("the binary runs");
    let mut line = String::new();
    BufReader::new(demo.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("Model Context Protocol"), "{line}");
    let mut stderr = String::new();
    demo.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((demo.wait().unwrap().code(), &*stderr), (Some(0), ""));
}

#[test]
fn it_uses_the_built_in_project_and_says_so() {
    for arguments in
        [&["--project-root", "/tmp", "demo"][..], &["demo", "--project-root", "/tmp"], &["/tmp", "demo"]]
    {
        let output = Server::command().args(arguments).output().expect("the binary runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(output.stdout.is_empty() && stderr.contains("built-in project"), "{stderr}");
    }
    // Settings for another server change nothing.
    let settings = [("MCPBASH_PROJECT_ROOT", "/nonexistent"), ("MCPBASH_TOOL_ALLOW_DEFAULT", "deny")];
    let output = Server::command().arg("demo").envs(settings).output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn terminals_get_colours_unless_disabled_and_lines_that_fit() {
    let shown = |environment: &[(&str, &str)]| {
        let mut command = Server::command();
        command.arg("demo").env_remove("NO_COLOR").env("TERM", "xterm").envs(environment.iter().copied());
        Terminal::of_columns(50).run(command)
    };
    let coloured = shown(&[]);
    assert!(coloured.contains("\u{1b}[1m") && coloured.contains("Counted down from 5."), "{coloured}");
    for environment in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let plain = shown(&environment);
        assert!(!plain.contains('\u{1b}'), "{environment:?}: {plain}");
        let longest = plain.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(longest <= Some(50), "{longest:?}: {plain}");
        assert!(plain.contains(r#"  → {"jsonrpc""#), "{plain}");
    }
}
