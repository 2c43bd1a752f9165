//! Rules for all commands: help, mistakes, pipes, manual.

use crate::harness::{Project, Server, Terminal};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(words: &[&str]) -> Output {
    Server::command().args(words).stdin(Stdio::null()).output().expect("the binary runs")
}

fn errors(words: &[&str]) -> (Option<i32>, String) {
    let output = run(words);
    assert!(output.stdout.is_empty(), "{words:?}");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The commands that the overview lists.
fn commands() -> Vec<String> {
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    let (overview, _) = help.split_once("\nOptions:").unwrap();
    let entries = overview.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    entries.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn help_is_found_in_each_way_that_people_try() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for command in &commands {
        let by_flag = run(&[command, "--help"]);
        let by_word = run(&["help", command]);
        assert_eq!((by_flag.status.code(), by_word.status.code()), (Some(0), Some(0)), "{command}");
        assert_eq!(by_flag.stdout, by_word.stdout, "{command}");
        assert!(by_flag.stderr.is_empty() && !by_flag.stdout.is_empty(), "{command}");
    }
    assert_eq!(run(&["help"]).stdout, run(&["--help"]).stdout);
    let refresh = String::from_utf8(run(&["help", "registry", "refresh"]).stdout).unwrap();
    assert!(refresh.contains("mcp-bash registry refresh --filter tools/git"), "{refresh}");
}

#[test]
fn every_command_takes_yes_whether_it_asks_or_not() {
    for command in commands().iter().filter(|command| *command != "jq") {
        for yes in ["--yes", "-y"] {
            let output = run(&[command, yes, "--help"]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{command} {yes}: {said}");
        }
    }
    // A real run, not only its help.
    let project = Project::new().file("server.d/server.meta.json", r#"{"name": "p"}"#);
    let root = project.root().to_str().unwrap();
    for words in
        [&["list", "--yes"][..], &["test", "--yes"], &["test", "-y", "--list"], &["validate", "--yes"]]
    {
        let output = run(&[words, &["--project-root", root]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(2), "{words:?}: {said}");
    }
    // A word that looks like it is still a mistake.
    assert_eq!(errors(&["list", "--yess"]).0, Some(2));
}

#[test]
fn new_neither_offers_nor_takes_a_project_root() {
    let help = String::from_utf8(run(&["new", "--help"]).stdout).unwrap();
    assert!(!help.contains("--project-root"), "{help}");
    for words in [&["new", "x", "--project-root", "/tmp"][..], &["--project-root", "/tmp", "new", "x"]] {
        let (code, said) = errors(words);
        assert!(code == Some(2) && said.contains("takes no --project-root"), "{words:?}: {code:?} {said}");
    }
}

#[test]
fn registry_refresh_is_quiet_by_its_short_flag_too() {
    let project = Project::new().file("tools/broken/tool.meta.json", "{").file("tools/broken/tool.sh", "");
    let root = project.root().to_str().unwrap();
    let refresh = |words: &[&str]| run(&[&["registry", "refresh", "--project-root", root], words].concat());
    assert!(!refresh(&[]).stderr.is_empty());
    for quiet in ["-q", "--quiet"] {
        let output = refresh(&[quiet]);
        assert_eq!((output.status.code(), &*output.stderr), (Some(1), &b""[..]), "{quiet}");
    }
}

#[test]
fn a_mistyped_word_gets_a_suggestion() {
    for (word, meant) in
        [("helth", "health"), ("imprt", "import"), ("completion", "completions"), ("redy", "ready")]
    {
        let expected = format!(
            "mcp-bash: `{word}` is neither a folder to serve nor a command, did you mean `{meant}`?; `mcp-bash --help` lists \
             the commands\n"
        );
        assert_eq!(errors(&[word, "--name", "x"]), (Some(2), expected.clone()));
        assert_eq!(errors(&["help", word]), (Some(2), expected));
    }
    let expected = "mcp-bash: `xyzzy` is neither a folder to serve nor a command; `mcp-bash --help` lists the commands\n";
    assert_eq!(errors(&["xyzzy"]), (Some(2), expected.to_owned()));
    let (status, words) = errors(&["import", "x", "--jsn"]);
    assert_eq!(status, Some(2));
    assert!(words.contains("--json"), "{words}");
}

#[test]
fn a_command_takes_precedence_over_a_folder_of_its_name() {
    let project = Project::new().file("man/tools/x", "").file("import/x", "");
    let told = |words: &[&str]| {
        let output = Server::command().args(words).current_dir(project.root()).output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b".TH"), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let note = "mcp-bash: `man` is a command; `mcp-bash ./man` serves the folder of that name\n";
    assert_eq!((&*told(&["man"]), &*told(&["man", "-q"])), (note, ""));
}

/// The stack of jq is larger than that, and a limit of memory counts it.
#[test]
fn jq_runs_within_a_limit_of_memory() {
    let script = r#"ulimit -d "$1" && exec "$0" jq -c "$2""#;
    let nested = format!("{}{}", "[".repeat(9_999), "]".repeat(9_999));
    for kilobytes in ["262144", "98304"] {
        for (program, input, expected) in
            [(".a", r#"{"a":1}"#, "1\n"), ("flatten | length", &nested, "0\n"), (".", "[1]", "[1]\n")]
        {
            let mut jq = Command::new("sh")
                .args(["-c", script, env!("CARGO_BIN_EXE_mcp-bash"), kilobytes, program])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            jq.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            let output = jq.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{kilobytes} {program}: {errors}");
        }
    }
}

#[test]
fn a_missing_reader_is_not_an_error() {
    let project = Project::with_hi();
    let mut tried: Vec<Vec<String>> =
        commands().into_iter().map(|command| vec![command, "--help".to_owned()]).collect();
    let more = [
        "health",
        "registry status",
        "registry refresh",
        "man",
        "completions bash",
        "import Makefile",
        "--version",
        "--help",
        "list",
        "validate",
        "doctor",
        "config",
        "config --show",
    ];
    tried.extend(more.iter().map(|words| words.split(' ').map(str::to_owned).collect()));
    for words in tried {
        // A pipe whose reader has exited, and a closed descriptor.
        for redirection in ["| true", ">&-"] {
            let mut command = Command::new("bash");
            let script =
                format!("set -o pipefail; sleep 0 | {{ \"$@\" 2>errors; echo $? >status; }} {redirection}");
            command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_mcp-bash")]).args(&words);
            command.current_dir(project.root()).stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
            let (status, told) = (project.read("status"), project.read("errors"));
            project.remove("status");
            let status: i32 = status.trim().parse().unwrap();
            assert!(
                !told.contains("panicked") && !told.contains("fault of our own"),
                "{words:?} {redirection}: {told}"
            );
            // A shell reports 141 for a program killed by SIGPIPE.
            assert!([0, 1, 2, 4, 141].contains(&status), "{words:?} {redirection}: {status}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_unwritable_standard_error_is_not_an_error() {
    let project = Project::with_hi().file(".cursor/mcp.json", "{").file("tools/bad/tool.meta.json", "{");
    for (words, expected) in [
        (&["install", "cursor"][..], 3),
        (&["debug"], 0),
        (&["dev", "--client"], 1),
        (&["registry", "refresh"], 1),
        (&["provider", "read", "x://y"], 4),
    ] {
        let mut command = Server::command();
        command.args(words).current_dir(project.root()).env("HOME", project.root());
        command.env("TMPDIR", project.root());
        let script = project.root().join("script");
        std::fs::write(&script, "call nothing\n").unwrap();
        let input = if words[0] == "dev" { script } else { "/dev/null".into() };
        let full = std::fs::File::create("/dev/full").unwrap();
        command.stdin(std::fs::File::open(input).unwrap()).stdout(Stdio::null()).stderr(full);
        assert_eq!(command.status().unwrap().code(), Some(expected), "{words:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_unwritable_standard_output_is_a_reported_failure() {
    let project = Project::with_hi().file("Makefile", "all:\n\techo\n");
    for words in [
        &["completions", "bash"][..],
        &["--help"],
        &["--version"],
        &["help", "call"],
        &["man"],
        &["registry", "status"],
        &["registry", "refresh"],
        &["health"],
        &["import", "Makefile"],
        &["import", "Makefile", "--json"],
        &["list"],
        &["call", "hi"],
        &["run-tool", "hi"],
        &["validate"],
        &["doctor"],
        &["config", "--show"],
        &["sdk-path"],
        &["schema", "tool"],
        &["provider", "check", "tools/hi/tool.sh"],
    ] {
        let mut command = Server::command();
        command.args(words).current_dir(project.root()).env("HOME", project.root());
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {told}");
        assert!(
            told.contains("failed to write to standard output: No space left on device"),
            "{words:?}: {told}"
        );
    }
}

#[test]
fn a_panic_is_reported_in_one_line() {
    let project = Project::with_hi();
    let mut command = Server::command();
    command.args(["registry", "status"]).current_dir(project.root()).env("MCPBASH_TEST_PANIC", "command");
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), told.lines().count()), (Some(101), 1), "{told}");
    assert!(told.starts_with("mcp-bash: internal error at crates/cli/src/"), "{told}");
    assert!(told.ends_with("; please report this line and what you ran\n"), "{told}");
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let project = Project::new().file("tools/.keep", "").file("Makefile", "clean:\n\techo\n");
    let shown = |environment: &[(&str, &str)]| {
        let mut command = Server::command();
        command
            .args(["import", "Makefile"])
            .current_dir(project.root())
            .env_remove("NO_COLOR")
            .env("TERM", "xterm");
        command.envs(environment.iter().copied());
        Terminal::of_columns(100).run(command)
    };
    assert!(shown(&[]).contains("\u{1b}[1mclean"));
    assert!(!shown(&[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!shown(&[("TERM", "dumb")]).contains('\u{1b}'));
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let project = Project::new();
    let output = Server::command().args(["man", "--output"]).arg(project.path("man1")).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    for command in commands() {
        let page = project.read(&format!("man1/mcp-bash-{command}.1"));
        assert_eq!(page, String::from_utf8(run(&["man", &command]).stdout).unwrap(), "{command}");
        assert!(page.contains(".SH EXIT STATUS"), "{command}");
    }
    let expected = "mcp-bash: there is no command `imprt`, did you mean `import`?; `mcp-bash --help` lists the commands\n";
    assert_eq!(errors(&["man", "imprt"]), (Some(4), expected.to_owned()));
}

#[test]
fn the_manual_is_good_roff() {
    let project = Project::new();
    assert!(Server::command().args(["man", "--output"]).arg(project.root()).status().unwrap().success());
    for page in std::fs::read_dir(project.root()).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(checked) = Command::new("mandoc").args(["-T", "lint", "-W", "error"]).arg(&page).output()
        else {
            return;
        };
        let told = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success() && told.is_empty(), "{}: {told}", page.display());
    }
}

#[test]
fn habits_of_other_programs_work_or_are_explained() {
    let project = Project::with_hi();
    let root = project.root().to_str().unwrap();
    for words in [
        &["list-tools", "--project", root][..],
        &["tools", "list", "-C", root],
        &["list", "--root", root, "--yes"],
        &["list", "--project=.", "--project-root", root],
    ] {
        let output = run(words);
        if words.contains(&"--project=.") {
            assert_eq!(output.status.code(), Some(2), "the same flag twice");
            continue;
        }
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(0) && shown.contains("hi"), "{words:?}: {output:?}");
    }
    for (words, said) in [
        (&["run", "hi"][..], "`mcp-bash call TOOL`"),
        (&["serve", "--log-level", "debug"], "MCPBASH_LOG_LEVEL"),
        (&["list", "--token", "s3cret"], "--token-env NAME"),
        (&["inspect"], "mcp-bash config --inspector"),
    ] {
        let (code, words) = errors(words);
        assert!(code == Some(2) && words.contains(said) && !words.contains("s3cret"), "{words}");
    }
    // The flags of a tool are its own.
    let own = r#"{"name": "own", "inputSchema": {"type": "object", "properties": {"project": {"type": "string"}}}}"#;
    let project =
        project.script("tools/own/tool.sh", "#!/bin/sh\ncat\n").file("tools/own/tool.meta.json", own);
    let output = run(&["call", "--project", project.root().to_str().unwrap(), "own", "--project", "mine"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), r#"{"project":"mine"}"#, "{output:?}");
}

#[test]
fn a_port_and_a_host_are_the_address_of_a_server() {
    use std::io::{BufRead, BufReader};
    let project = Project::with_hi();
    let mut command = Server::command();
    command.args(["start", "--host", "127.0.0.1", "--port", "0"]).arg(project.root());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let served = lines.find(|line| line.starts_with("Serving at http://127.0.0.1:"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(served.is_some());
}
