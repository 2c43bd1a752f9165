//! `mcp-bash dev --client`: a prompt to call tools by hand.

use crate::harness::{Project, Server, Terminal, wait_until_gone};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

const HELLO: &str = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\n\
    printf 'Hello, %s!\\n' \"$(mcp_args_get .name)\"\n";

fn project() -> Project {
    Project::new()
        .tool("hello", HELLO)
        .file(
            "tools/hello/tool.meta.json",
            r#"{"name": "hello", "description": "Greets somebody", "inputSchema": {"type": "object",
                "properties": {"name": {"type": "string", "description": "Who"}, "mood": {"enum": ["glad", "glum"]}},
                "required": ["name"]}}"#,
        )
        .tool("fails", "#!/bin/sh\necho 'not today' >&2\nexit 3\n")
        .file("resources/note.txt", "A note\n")
        .file("prompts/greet.txt", "Greet ${who}.\n")
        .file("prompts/greet.meta.json", r#"{"name": "greet", "arguments": [{"name": "who"}]}"#)
}

fn client(project: &Project, home: &Project) -> Command {
    let mut command = Server::command();
    command.args(["dev", "--client"]).arg(project.root());
    command.env("HOME", home.root()).env_remove("XDG_STATE_HOME").env("TERM", "xterm").env("NO_COLOR", "1");
    command
}

/// The output for a script that sends these lines.
fn said(project: &Project, lines: impl AsRef<[u8]>) -> (Option<i32>, String, String) {
    let home = Project::new();
    let mut command = client(project, &home);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_ref()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(!home.path(".local").exists(), "scripts leave no history");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_line_that_is_not_utf8_is_reported_and_skipped() {
    let (code, stdout, stderr) = said(&project(), b"hello name=\xff\nhello name=Bo\r\nhello name=\xfe");
    assert_eq!((code, &*stdout), (Some(1), "Hello, Bo!\n"), "{stderr}");
    assert_eq!(stderr, "line 1 is not UTF-8, and is left out\nline 3 is not UTF-8, and is left out\n");
}

#[test]
fn a_script_sends_lines_and_gets_results() {
    let project = project();
    let uri = format!("file://{}", project.path("resources/note.txt").display());
    let lines = format!(
        "hello name=Ada\n\ncall hello name='Ada Lovelace'\nread {uri}\nget greet who=Bob\nhelp hello\nlist tools\nquit\nhello name=Never\n"
    );
    let expected = "\
Hello, Ada!
Hello, Ada Lovelace!
A note
user:
Greet Bob.
hello  Greets somebody
    name (string, required)  Who
    mood (string)
tools (2)
fails  The tool fails
hello  Greets somebody
";
    assert_eq!(said(&project, &lines), (Some(0), expected.to_owned(), String::new()));
}

#[test]
fn errors_are_reported_and_the_rest_is_done() {
    let project = project();
    let lines =
        "helo name=Ada\nhello nmae=Ada\nhello 'name=Ada\nread\nlist nonsense\nfails\nhello name=Ada\n";
    let (status, stdout, stderr) = said(&project, lines);
    assert_eq!((status, &*stdout), (Some(1), "Hello, Ada!\n"));
    let expected = [
        "tool not found: helo; did you mean `hello`?",
        "`hello` has no argument `nmae`; did you mean `name`?",
        "a quote (') is not closed",
        "`read` takes the URI of a resource",
        "`list` takes tools, resources, templates or prompts, or nothing",
    ];
    for (line, expected) in stderr.lines().zip(expected) {
        assert_eq!(line, expected, "{stderr}");
    }
    assert!(stderr.contains("not today") && stderr.contains("the result of `fails` is an error"), "{stderr}");
}

#[test]
fn script_output_cannot_take_over_the_terminal() {
    let project = Project::new().tool("evil", "#!/bin/sh\nprintf 'a\\033[2Jb\\033]0;x\\007'\n");
    let home = Project::new();
    let mut session = Terminal::of_columns(80).start(&client(&project, &home));
    session.wait_for("mcp> ");
    session.press("evil\r");
    let shown = session.wait_for("ms)");
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains('\u{7}'), "{shown:?}");
}

#[test]
fn tab_completes_names_arguments_and_values() {
    let (project, home) = (project(), Project::new());
    let mut session = Terminal::of_columns(80).start(&client(&project, &home));
    let greeting = session.wait_for("mcp> ");
    let expected = format!("{}: 2 tools. `help` says what", project.root().display());
    assert!(greeting.contains(&expected), "{greeting:?}");
    session.press("hel\t");
    session.press("\t");
    session.wait_for("hello  help\r\n");
    session.press("lo \t");
    session.wait_for("mood=  name=\r\n");
    session.press("m\tgl\t\t");
    session.wait_for("mood=glad  mood=glum\r\n");
    session.press("a\tn\tAda\r");
    session.wait_for("mcp> hello mood=glad name=Ada");
    session.wait_for("Hello, Ada!\r\n");
    session.wait_for("ms)\r\n");
    session.wait_for("mcp> ");
    // The last line again, edited.
    session.press("\u{1b}[A\u{7f}\u{7f}\u{7f}Bob\r");
    session.wait_for("Hello, Bob!\r\n");
    session.wait_for("mcp> ");
    session.press("\u{4}");
    assert_eq!(session.finish().0, Some(0));
    let history = home.path(".local/state/mcp-bash/history");
    assert_eq!(fs::read_to_string(&history).unwrap(), "hello mood=glad name=Ada\nhello mood=glad name=Bob\n");
    assert_eq!(fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    // It is still in the history of the next session.
    let mut session = Terminal::of_columns(80).start(&client(&project, &home));
    session.wait_for("mcp> ");
    session.press("\u{1b}[A\r");
    session.wait_for("Hello, Bob!\r\n");
}

#[test]
fn changes_of_the_project_are_shown_above_the_line_and_used_at_once() {
    let (project, home) = (project(), Project::new());
    let mut session = Terminal::of_columns(80).start(&client(&project, &home));
    session.wait_for("mcp> ");
    session.press("hello na");
    session.wait_for("mcp> hello na");
    let project = project.tool("new", "#!/bin/sh\necho brand new\n");
    session.wait_for("tools: added new\r\nmcp> hello na");
    session.press("\u{15}ne\t\r");
    session.wait_for("brand new\r\n");
    drop(project);
}

#[test]
fn ctrl_c_cancels_a_call_and_the_prompt_goes_on() {
    let (project, home) = (project().waiting_tool("waits"), Project::new());
    let mut session = Terminal::of_columns(80).start(&client(&project, &home));
    session.wait_for("mcp> ");
    session.press("waits\r");
    let pid = project.wait_for_started(1)[0];
    session.press("\u{3}");
    session.wait_for("interrupted\r\n");
    wait_until_gone(pid);
    session.wait_for("mcp> ");
    session.press("hello name=x\u{3}");
    session.wait_for("mcp> ");
    session.press("hello name=Ada\r");
    session.wait_for("Hello, Ada!\r\n");
    // A termination signal ends it, and it restores the terminal.
    let pid = rustix::process::Pid::from_raw(session.pid().cast_signed()).unwrap();
    session.wait_for("mcp> ");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(session.finish().0, Some(130));
}

#[test]
fn questions_are_asked_at_the_prompt() {
    let ask = "#!/usr/bin/env bash\n. \"$MCP_SDK/tool-sdk.sh\"\nmcp_elicit_string 'Which town?'\n";
    let (project, home) = (Project::new().tool("ask", ask), Project::new());
    let mut session = Terminal::of_columns(80).start(&client(&project, &home));
    session.wait_for("mcp> ");
    session.press("ask\r");
    session.wait_for("Which town?");
    session.wait_for(": ");
    session.press("Rome\r");
    session.wait_for("Rome");
    session.wait_for("ms)\r\n");
    session.wait_for("mcp> ");
}

#[test]
fn without_a_project_it_says_so() {
    let empty = Project::new();
    let mut command = Server::command();
    let output = command.args(["dev", "--client"]).current_dir(empty.root()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("mcp-bash: "), "{output:?}");
}
