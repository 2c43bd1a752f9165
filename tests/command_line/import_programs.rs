//! `mcp-bash import PROGRAM`: reads the help of a program, which runs only after a yes for exactly that command.

use super::import::{call, command, import, problems, said};
use crate::harness::{Project, Server, exists, wait_until, wait_until_gone};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

const HELP: &str = "\
Greets people

Usage: greet [OPTIONS] <WHOM>

Options:
  -n, --count <N>    How often
      --mood <MOOD>  How it sounds [possible values: kind, grim]
      --loud         Shouts
";

#[test]
fn the_help_of_a_program_becomes_a_tool_that_runs_it() {
    let project = Project::new().file("tools/.keep", "").script(
        "bin/greet",
        &format!("#!/bin/sh\n[ \"$1\" = --help ] && {{ cat <<'E'\n{HELP}E\nexit; }}\nprintf '<%s>' \"$@\"\n"),
    );
    let report: Value =
        serde_json::from_slice(&import(&project, &["bin/greet", "--run-help", "--yes", "--json"]).stdout)
            .unwrap();
    let (tool, metadata) = (&report["tools"][0], &report["tools"][0]["metadata"]);
    assert_eq!((&tool["status"], &report["leftOut"]), (&json!("written"), &json!([])));
    assert_eq!(
        *metadata,
        json!({
            "name": "greet",
            "description": "Greets people",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "count": { "type": "integer", "description": "How often" },
                    "mood": {
                        "type": "string",
                        "enum": ["kind", "grim"],
                        "description": "How it sounds [possible values: kind, grim]",
                    },
                    "loud": { "type": "boolean", "description": "Shouts" },
                    "whom": { "type": "string" },
                },
                "required": ["whom"],
                "additionalProperties": false,
            },
            "command": [
                "./bin/greet",
                ["--count", "{count}"],
                ["--mood", "{mood}"],
                { "flag": "--loud", "if": "loud" },
                "{whom}",
            ],
        })
    );
    let written: Value = serde_json::from_str(&project.read("tools/greet.meta.json")).unwrap();
    assert_eq!(written, *metadata);
    assert_eq!(problems(&project, &std::env::var("PATH").unwrap()), json!([]));
    let mut server = Server::ready(project.root());
    let result =
        call(&mut server, 1, "greet", &json!({ "whom": "Ada", "count": 2, "loud": true, "mood": "kind" }));
    assert_eq!(result["content"][0]["text"], "<--count><2><--mood><kind><--loud><Ada>");
    assert_eq!(call(&mut server, 2, "greet", &json!({ "whom": "--help" }))["isError"], true);
}

#[test]
fn help_from_a_file_or_a_pipe_runs_nothing() {
    let project = Project::new().file("tools/.keep", "").file("help.txt", HELP);
    let project = project.script("greet", "#!/bin/sh\ntouch owned\n");
    let (status, shown, _) = said(&project, &["./greet", "--help-from", "help.txt"]);
    assert_eq!(status, Some(0));
    assert!(shown.contains("runs  ./greet [--count {count}]"), "{shown}");
    let mut piped = command(&project, &["greet", "--help-from", "-", "--prefix", "my-", "--yes", "-q"]);
    let status = piped.stdin(std::fs::File::open(project.path("help.txt")).unwrap()).status().unwrap();
    assert!(status.success() && project.path("tools/my-greet.meta.json").exists());
    assert!(!project.path("owned").exists());
}

#[test]
fn ctrl_c_leaves_no_program_behind() {
    // A command line that no other process has.
    let sleep = format!("sleep 6{}", std::process::id());
    let project =
        Project::new().file("tools/.keep", "").script("slow", &format!("#!/bin/sh\nexec {sleep}\n"));
    let mut import = command(&project, &["./slow", "--run-help"]).stderr(Stdio::null()).spawn().unwrap();
    let pid: u32 = wait_until("the program", || process_with(&sleep));
    assert!(exists(pid));
    let own = rustix::process::Pid::from_child(&import);
    rustix::process::kill_process(own, rustix::process::Signal::INT).unwrap();
    assert!(!import.wait().unwrap().success());
    wait_until_gone(pid);
}

/// The process with this command line.
fn process_with(command_line: &str) -> Option<u32> {
    let words: Vec<u8> =
        command_line.bytes().map(|byte| if byte == b' ' { 0 } else { byte }).chain([0]).collect();
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == words))
}

#[test]
fn help_with_escapes_is_shown_without_them() {
    let help = "\u{1b}[31mUsage:\u{1b}[0m evil\u{1b}]0;owned\u{7} FILE\n\nDoes\u{202e} it\u{8} all\n";
    let project = Project::new().file("tools/.keep", "").file("help.txt", help);
    let output = import(&project, &["evil", "--help-from", "help.txt", "--yes"]);
    let shown = String::from_utf8(output.stdout).unwrap() + &project.read("tools/evil.meta.json");
    assert!(shown.contains("runs  evil {file}"), "{shown}");
    assert!(
        !shown.chars().any(|letter| letter.is_control() && letter != '\n' || letter == '\u{202e}'),
        "{shown:?}"
    );
}

/// A program that leaves a file behind if it is run, and prints its help.
const TRAP: &str = "#!/bin/sh\ntouch \"$PWD/owned\"\necho 'Usage: trap [--loud] FILE'\n";

/// `import`, with someone at a terminal who answers this.
fn answered(project: &Project, words: &str, answer: &str) -> String {
    let program = format!("{} import {words}", env!("CARGO_BIN_EXE_mcp-bash"));
    let mut script = Command::new("script");
    script.args(["-qec", &program, "/dev/null"]).current_dir(project.root()).stdin(Stdio::piped());
    let mut child = script.stdout(Stdio::piped()).spawn().expect("script");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[cfg_attr(mcp_bash_portable, ignore = "the sandbox is Landlock")]
#[test]
fn no_program_runs_without_a_yes_for_it() {
    let project = Project::new().file("tools/.keep", "").script("bin/trap", TRAP);
    // A program that is no script; `true` prints its help only if it is run.
    let copied = project.path("bin/plain");
    std::fs::copy("/bin/true", &copied).unwrap();
    for words in [&["bin/plain"][..], &["bin/plain", "--yes"], &["bin/plain", "log", "--json", "--yes"]] {
        let (status, shown, problem) = said(&project, words);
        assert_eq!((status, &*shown), (Some(2), ""), "{words:?} {problem}");
        assert!(problem.contains("bin/plain") && problem.contains("--help` was not run: "), "{problem}");
        assert!(problem.contains("`--run-help`") && problem.contains("`--help-from FILE`"), "{problem}");
    }
    for words in [
        &["bin/trap"][..],
        &["bin/trap", "--yes"],
        &["bin/trap", "--yes", "--json"],
        &["bin/trap", "x", "--yes"],
    ] {
        said(&project, words);
        assert!(!project.path("owned").exists(), "{words:?}");
    }
    let refused = answered(&project, "bin/plain", "n\n");
    assert!(refused.contains("bin/plain --help` to read its help? [y/N]"), "{refused}");
    assert!(refused.contains("was not run"), "{refused}");
    // It runs in a sandbox, in which it cannot write here.
    let (status, shown, problem) = said(&project, &["bin/trap", "--run-help"]);
    assert_eq!((status, project.path("owned").exists()), (Some(0), false), "{shown}{problem}");
    let free = command(&project, &["bin/trap", "--run-help"]).env("MCPBASH_SANDBOX", "off").output().unwrap();
    assert!(free.status.success() && project.path("owned").exists(), "{free:?}");
}

#[test]
fn the_help_of_another_program_is_refused() {
    let project = Project::new()
        .file("tools/.keep", "")
        .script("disk-report", "#!/bin/sh\nexec du \"$@\"\n")
        .file("du.txt", "Usage: du [OPTION]... [FILE]...\n  -a, --all  all files\n");
    let expected = "mcp-bash: the help of `./disk-report` is the help of `du`, not of `disk-report`; import that program by its name, \
                    or use `--help-from FILE`\n";
    assert_eq!(
        said(&project, &["./disk-report", "--run-help"]),
        (Some(1), String::new(), expected.to_owned())
    );
    let (status, _, problem) = said(&project, &["disk-report", "--help-from", "du.txt"]);
    assert_eq!((status, problem.contains("is the help of `du`")), (Some(1), true), "{problem}");
    assert_eq!(said(&project, &["du", "--help-from", "du.txt"]).0, Some(0));
}

const HAZARDS: &str = "\
Usage: NAME [OPTION]... [FILE]...

  -a, --all              all of them
  -o, --output FILE      write there
  -i, --in-place         edit files
  -e, --rsh COMMAND      remote shell
      --to-command PROG  pipe
  -x, --exec CMD         runs it
      --delete           removes the rest
      --depth N          how deep
";

#[test]
fn options_that_run_or_write_are_left_out_unless_they_are_chosen() {
    let project = Project::new().file("tools/.keep", "").file("help.txt", &HAZARDS.replace("NAME", "any"));
    let report = |words: &[&str]| -> Value {
        let mut all = vec!["any", "--help-from", "help.txt", "--json"];
        all.extend(words);
        let output = import(&project, &all);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let names = |report: &Value| -> Vec<String> {
        let properties = report["tools"][0]["metadata"]["inputSchema"]["properties"].as_object().unwrap();
        let mut names: Vec<String> = properties.keys().cloned().collect();
        names.sort();
        names
    };
    let plain = report(&[]);
    assert_eq!(names(&plain), ["all", "depth", "file"]);
    assert_eq!(plain["tools"][0]["metadata"]["annotations"], Value::Null);
    let left: Vec<&str> =
        plain["leftOut"].as_array().unwrap().iter().map(|left| left["what"].as_str().unwrap()).collect();
    assert_eq!(left, ["--output", "--in-place", "--rsh", "--to-command", "--exec", "--delete"]);
    let chosen = report(&["--allow", "--delete", "--allow=-o"]);
    assert_eq!(names(&chosen), ["all", "delete", "depth", "file", "output"]);
    assert_eq!(chosen["tools"][0]["metadata"]["annotations"], json!({ "destructiveHint": true }));
    // What the program would run stays out, even if a person asks for it.
    assert_eq!(names(&report(&["--allow", "exec"])), ["all", "depth", "file"]);
    let (status, _, problem) = said(&project, &["any", "--help-from", "help.txt", "--allow", "--nothing"]);
    let expected = "mcp-bash: the help of `any` has no option `--nothing` that could be allowed; there are --output, --in-place, --delete\n";
    assert_eq!((status, &*problem), (Some(1), expected));
}

#[test]
fn a_tool_has_as_many_arguments_as_a_model_reads() {
    use std::fmt::Write as _;
    let mut help = String::from("Usage: many [-z NUM] [--late] FILE\n\n");
    for number in 0..40 {
        writeln!(help, "  --opt{number}  number {number}").unwrap();
    }
    help.push_str("  --late  mentioned in the usage line\n  -z NUM  too\n");
    let project = Project::new().file("tools/.keep", "").file("help.txt", &help);
    let (status, shown, _) = said(&project, &["many", "--help-from", "help.txt"]);
    assert_eq!(status, Some(0));
    assert_eq!(shown.matches("  takes ").count(), 15, "{shown}");
    assert!(
        shown.contains("takes late") && shown.contains("takes z ") && shown.contains("takes file"),
        "{shown}"
    );
    assert!(shown.contains("takes opt11 ") && !shown.contains("takes opt12 "), "{shown}");
    let told = "28 more options is left out: a model reads 15 arguments with ease; `--all-options` takes all";
    assert!(shown.contains(told), "{shown}");
    let (_, shown, _) = said(&project, &["many", "--help-from", "help.txt", "--all-options"]);
    assert_eq!(shown.matches("  takes ").count(), 43, "{shown}");
}

#[test]
fn a_program_that_starts_man_can_print_its_help() {
    let manual =
        ["/etc/manpath.config", "/etc/man_db.conf"].into_iter().find(|file| Path::new(file).exists());
    let Some(manual) = manual else { return eprintln!("skipped: man is not installed") };
    let project = Project::new().file("tools/.keep", "").script(
        "bin/greet",
        &format!("#!/bin/sh\n[ \"$1\" = --help ] || exit 1\nhead -c 1 {manual} >/dev/null || exit 2\ncat <<'E'\n{HELP}E\n"),
    );
    let output = import(&project, &["bin/greet", "--run-help", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["tools"][0]["name"], "greet", "{report:#}");
}

#[test]
fn what_a_program_complains_about_is_in_the_error() {
    let project = Project::new().file("tools/.keep", "").script(
        "bin/greet",
        "#!/bin/sh\necho starting\nfor n in 1 2 3 4; do echo \"no page $n\" >&2; done\nexit 1\n",
    );
    let (status, _, problem) = said(&project, &["bin/greet", "--run-help"]);
    assert_eq!(status, Some(1), "{problem}");
    assert!(
        problem.contains("its standard error ends with `no page 2; no page 3; no page 4`; `--help-from"),
        "{problem}"
    );
}
