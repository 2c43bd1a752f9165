//! Invalid case files, and tools and servers that hang, die or print too much.

use super::{passes, problems, report, test, tool};
use crate::harness::{Project, Server, wait_until_gone};
use serde_json::json;

#[test]
fn a_case_file_that_is_wrong_is_named_with_its_line() {
    for (text, problem) in [
        ("- name: x\n  expects: { text: a }\n", "2: a case has no key `expects`; did you mean `expect`?"),
        ("expect:\n  txt: a\n", "2: `expect` has no key `txt`; did you mean `text`?"),
        ("- 1\n", "1: a case is written as `key: value`; this is a number"),
        ("expect: { matches: '(' }\n", "1: `matches` is no regular expression: unclosed group"),
        (
            "files:\n  ../../x: y\n",
            "2: `../../x` leads out of the folder of the case; paths are relative to it",
        ),
        (
            "expect:\n  files: { /etc/passwd: true }\n",
            "2: `/etc/passwd` leads out of the folder of the case; paths are relative to it",
        ),
        ("expect: { text: 1.10 }\n", "1: `text` must be a text; put quotes around it"),
        ("tool: a\nprompt: b\n", "1: one request has one subject; this one names a `tool` and a `prompt`"),
        ("timeout: 0\n", "1: `timeout` must be more than 0 and at most 86400 seconds"),
        (
            "answers: [maybe]\n",
            "1: `maybe` is no answer; an answer is `accept: {field: value}`, `decline`, `cancel` or `text: …`",
        ),
        (
            "- name: a b\n- name: a-b\n",
            "2: another case of this file is called `a-b` or much like it (line 1)",
        ),
        ("expect: { schema: { type: 7 } }\n", "1: `schema` cannot be used: "),
        ("a: [1\n", "1: this is no YAML that can be read: unclosed bracket '['"),
    ] {
        let project = Project::with_hi().file("tools/hi/tests/x.yaml", text);
        let ran = test(&project, &[]);
        let expected = format!("mcp-bash: tools/hi/tests/x.yaml:{problem}");
        assert!(ran.code == Some(2) && ran.stderr.starts_with(&expected), "{text}\n{ran:#?}");
        let (code, report) = report(&project, &[]);
        assert_eq!((code, &report["problems"][0]["file"]), (Some(2), &json!("tools/hi/tests/x.yaml")));
    }
    let project = Project::with_hi().file("tests/x.yaml", "expect: { text: hi }");
    assert_eq!(
        test(&project, &[]).stderr,
        "mcp-bash: tests/x.yaml:1: there is no tool, prompt or resource called `x`; say what it tests with `tool: NAME`\n"
    );
}

#[test]
fn hostile_case_files_are_refused_at_once() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb = format!("{bomb}a{level}: &a{level} [{aliases}]\n");
    }
    for text in [deep, bomb, "\u{0}\u{1}".to_owned(), "%YAML 9\n---\n\t!!x".to_owned()] {
        let project = Project::with_hi().file("tools/hi/tests/x.yaml", &text);
        let ran = test(&project, &[]);
        assert!(
            ran.code == Some(2) && ran.stderr.len() < 1000,
            "{}",
            &ran.stderr[..ran.stderr.len().min(500)]
        );
    }
    // A pattern on which backtracking engines would never finish.
    let text = "a".repeat(50_000);
    let project = tool(&format!("#!/bin/sh\necho {text}\n"), "expect: { matches: '^(a+)+$', lacks: b }");
    passes(&project);
}

#[test]
fn a_tool_that_hangs_is_killed_with_its_processes() {
    let project = Project::new()
        .tool("slow", "#!/bin/bash\nsetsid sleep 3600 & echo $! >>pids\nsleep 3600 & echo $! >>pids; echo $$ >>pids\nwait\n")
        .file("tools/slow/tests/slow.yaml", "- timeout: 1.5\n- { tool: hi, name: after it, expect: { text: hi } }\n")
        .tool("hi", "#!/bin/sh\necho hi\n");
    let (code, report) = report(&project, &["-j", "1"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        report["cases"][0]["problems"],
        json!([{ "problem": "it took longer than 1.5 s, and was ended; `timeout` gives it more" }])
    );
    assert_eq!(report["cases"][1]["status"], "passed");
    let pids = project.read("pids");
    assert_eq!(pids.lines().count(), 3);
    for pid in pids.lines() {
        wait_until_gone(pid.parse().unwrap());
    }
}

#[test]
fn a_server_that_dies_fails_its_case_and_no_other() {
    let cases = "- { tool: kill, name: dies }\n- { tool: hi, expect: { text: hi } }\n- { tool: kill, name: dies again }\n";
    let project =
        Project::with_hi().tool("kill", "#!/bin/sh\nkill -9 $PPID\nsleep 3600\n").file("tests/x.yaml", cases);
    let (code, report) = report(&project, &["-j", "1"]);
    assert_eq!((code, &report["passed"], &report["failed"]), (Some(1), &json!(1), &json!(2)));
    let problem = report["cases"][0]["problems"][0]["problem"].as_str().unwrap();
    assert!(problem.starts_with("the server ended before it answered"), "{problem}");
}

#[test]
fn a_server_that_does_not_start_says_why() {
    let project = tool("#!/bin/sh\n", "environment: { MCPBASH_REMOTE_TOKEN: short }");
    let found = problems(&project);
    assert!(found[0].contains("MCPBASH_REMOTE_TOKEN"), "{found:?}");
}

#[test]
fn large_and_binary_output_is_harmless() {
    let project = Project::new()
        .tool("much", "#!/bin/sh\nhead -c 50000000 /dev/zero | tr '\\0' x\n")
        .tool("lines", "#!/bin/sh\nseq 1 300000\n")
        .tool("bytes", "#!/bin/sh\nprintf '\\033[31mred\\377\\n'\n")
        .file("tests/x.yaml", "- { tool: much, expect: { text: x } }\n- { tool: lines, expect: { text: x } }\n- { tool: bytes, expect: { text: x } }\n");
    let ran = test(&project, &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.len() < 10_000, "{} bytes", ran.stdout.len());
    assert!(ran.stdout.contains("MCPBASH_MAX_TOOL_OUTPUT_SIZE"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "nothing that a terminal would obey");
}

#[test]
fn without_a_folder_for_temporary_files_the_folder_is_named() {
    let project = tool("#!/bin/sh\necho hi\n", "- { name: a, expect: { text: hi } }\n");
    for words in [&["test"][..], &["call", "it"]] {
        let mut command = Server::command();
        command.args(words).current_dir(project.root()).env("TMPDIR", "/no/such").env("HOME", "/no/home");
        command.env_remove("XDG_CACHE_HOME");
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {told}");
        assert!(told.contains("in /no/such"), "{words:?}: {told}");
        assert!(told.contains("set TMPDIR to a folder that you may write to"), "{words:?}: {told}");
    }
}
