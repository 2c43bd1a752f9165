//! `mcp-bash doctor`: the effective configuration of this machine, the problems, and how to fix them.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A user with an empty home, and the same shell and search path on every machine.
struct Person {
    home: Project,
}

impl Person {
    fn new() -> Self {
        let home = Project::new();
        let own = env!("CARGO_BIN_EXE_mcp-bash");
        fs::create_dir_all(home.path("bin")).unwrap();
        fs::create_dir_all(home.path("tmp")).unwrap();
        std::os::unix::fs::symlink(own, home.path("bin/mcp-bash")).unwrap();
        Self { home }
    }

    fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.home.path("bin").display())
    }

    fn doctor(&self, project: &Project, words: &[&str]) -> Command {
        let mut command = Server::command();
        command.env_clear().env("HOME", self.home.root()).env("SHELL", "/bin/sh").env("PATH", self.path());
        command.env("TMPDIR", self.home.path("tmp"));
        command.arg("doctor").args(words).arg("--project-root").arg(project.root()).current_dir("/");
        command
    }

    fn report(&self, project: &Project, words: &[&str]) -> (Option<i32>, Value) {
        of_json(&self.doctor(project, words).arg("--json").output().unwrap())
    }
}

fn of_json(output: &Output) -> (Option<i32>, Value) {
    let report = serde_json::from_slice(&output.stdout);
    (output.status.code(), report.unwrap_or_else(|error| panic!("{error}: {output:?}")))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The findings with an id.
fn findings<'a>(report: &'a Value, id: &str) -> Vec<&'a Value> {
    report["findings"].as_array().unwrap().iter().filter(|finding| finding["id"] == id).collect()
}

/// The lines of one section of the text.
fn section<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    text.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.is_empty()).collect()
}

fn sound_project() -> Project {
    Project::new()
        .tool("hi", "#!/bin/sh\necho hi\n")
        .file("server.d/server.meta.json", r#"{"name": "sound", "settings": {"maxJsonDepth": 50}}"#)
}

#[test]
fn a_healthy_machine_has_no_findings() {
    let (person, project) = (Person::new(), sound_project());
    let output = person.doctor(&project, &[]).output().unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let own = fs::canonicalize(env!("CARGO_BIN_EXE_mcp-bash")).unwrap();
    assert_eq!(
        section(&text, "This program"),
        [
            format!("  ✓ {} is version {}", own.display(), env!("CARGO_PKG_VERSION")),
            "  ✓ `mcp-bash` on PATH is this one".to_owned(),
        ]
    );
    let system = section(&text, "This system").join("\n");
    let temporary = format!("  ✓ temporary files go to {}", person.home.path("tmp").display());
    assert!(system.contains("files may be open at once") && system.contains(&temporary), "{system}");
    let search = section(&text, "Search path");
    assert_eq!(search[0], format!("  ✓ scripts look in {} (from environment)", person.path()));
    assert!(search[2].starts_with("  ✓ started by a desktop with /usr/bin:/bin:/usr/sbin:/sbin"), "{text}");
    let read = format!("  ✓ {}: 1 tool, 0 resources, 0 prompts", project.root().display());
    assert_eq!(section(&text, "Project"), [&*read, "  ✓ its changes are noticed at once"]);
    assert_eq!(
        section(&text, "Settings")[0],
        "  · MCPBASH_MAX_JSON_DEPTH = 50 (from server.d/server.meta.json)"
    );
    assert!(text.ends_with("\n0 errors, 0 warnings\n"), "{text}");
    assert!(output.stderr.is_empty() && !text.contains('\u{1b}'), "no colours in a pipe");
    assert_eq!(fs::read_dir(person.home.path("tmp")).unwrap().count(), 0, "nothing is left behind");
    assert!(!project.path(".registry").exists(), "nothing is written");
}

#[test]
fn the_json_report_has_the_fields_that_programs_read() {
    let (person, project) = (Person::new(), sound_project());
    let (status, report) = person.report(&project, &[]);
    assert_eq!((status, &report["schemaVersion"], &report["exitCode"]), (Some(0), &json!(1), &json!(0)));
    assert_eq!((&report["errors"], &report["warnings"]), (&json!(0), &json!(0)), "{report:#}");
    for key in ["findings", "proposedActions", "actionsTaken", "settings"] {
        assert!(report[key].is_array(), "{key}");
    }
    assert_eq!(report["framework"]["pathConfigured"], true);
    assert_eq!(report["shim"]["status"], "ok");
    assert_eq!(report["install"]["managed"], false);
    assert_eq!(report["runtime"]["jsonTool"], "jq");
    assert_eq!(report["runtime"]["tmpRootWritable"], true);
    assert!(report["runtime"]["bashVersion"].as_str().is_some_and(|version| !version.is_empty()));
    assert_eq!(report["project"]["toolsCount"], 1);
    assert_eq!(report["project"]["serverMetaValid"], true);
    let is_depth = |setting: &&Value| setting["name"] == "MCPBASH_MAX_JSON_DEPTH";
    let depth = report["settings"].as_array().unwrap().iter().find(is_depth).unwrap();
    assert_eq!((&depth["value"], &depth["source"]), (&json!("50"), &json!("project")));
}

#[test]
fn problems_are_reported_with_a_fix_and_an_exit_code() {
    let person = Person::new();
    let project = Project::new()
        .tool("broken", "#!/no/such/interpreter\n")
        .file("server.d/requirements.json", r#"{"framework": {"minVersion": "99.0"},
            "dependencies": [{"name": "sh"}, {"name": "jq"}, {"name": "no-such-program"}, {"or": ["no-1", "no-2"]}]}"#);
    let output = person.doctor(&project, &["-q"]).env("MCPBASH_LOG_LVEL", "debug").output().unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "\
Project
  ✗ version 99.0 or newer is wanted: this is {version}, which replaces 1.3.0 of the framework
    → install a newer mcp-bash in the way this one was installed
  ✗ no-such-program is missing, which the project needs
    → install no-such-program, or add its folder to MCPBASH_PATH
  ✗ the project needs one of no-1, no-2
    → install one of them, or add its folder to MCPBASH_PATH
  ✗ tools/broken/tool.sh:1: names the interpreter `/no/such/interpreter`, which does not exist
    → install interpreter, or name an interpreter that is there

What is wrong with settings
  ⚠ "
    );
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("MCPBASH_LOG_LVEL") && text.ends_with("\n4 errors, 1 warning\n"), "{text}");
    let (_, report) = person.report(&project, &[]);
    let missing = findings(&report, "deps.missing");
    assert_eq!(missing.len(), 2, "{report:#}");
    assert_eq!((&missing[0]["severity"], &missing[0]["fixable"]), (&json!("error"), &json!(false)));
}

#[test]
fn a_database_that_cannot_be_reached_is_a_problem_also_where_no_tool_is_a_task() {
    let (person, project) = (Person::new(), sound_project());
    let store = "postgres:///team?host=/nowhere&user=me";
    let output = person.doctor(&project, &["--json"]).env("MCPBASH_STORE", store).output().unwrap();
    let (_, report) = of_json(&output);
    let [finding] = findings(&report, "project.problem")[..] else { panic!("{report}") };
    let message = finding["message"].as_str().unwrap_or_else(|| panic!("{finding}"));
    assert!(message.contains("/nowhere") && message.contains("address of a database"), "{message}");
    assert!(!message.contains("to a folder"), "{message}");
}

#[test]
fn a_program_that_only_this_shell_finds_is_missed_by_a_desktop() {
    let person = Person::new();
    let project = Project::new().tool("odd", "#!/usr/bin/env odd-interpreter\n");
    let own = person.home.path("bin/odd-interpreter");
    fs::write(&own, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let (status, report) = person.report(&project, &[]);
    let found = findings(&report, "path.desktop_missing");
    assert_eq!((status, found.len()), (Some(0), 1), "{report:#}");
    let message = found[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("`odd-interpreter` (for odd) is found here, and not where a desktop"),
        "{message}"
    );
    // A program on the login shell's PATH is found there too.
    person.home.write(".profile", "PATH=$HOME/bin:$PATH\n");
    let (_, report) = person.report(&project, &[]);
    assert!(findings(&report, "path.desktop_missing").is_empty(), "{report:#}");
}

#[test]
fn another_program_with_our_name_is_reported() {
    let (person, project, other) = (Person::new(), sound_project(), Project::new());
    let other = other.script("mcp-bash", "#!/bin/sh\n");
    let path = format!("{}:{}", other.root().display(), person.path());
    let output = person.doctor(&project, &["-q"]).env("PATH", path).output().unwrap();
    let own = fs::canonicalize(env!("CARGO_BIN_EXE_mcp-bash")).unwrap();
    let expected = format!(
        "\
This program
  ⚠ `mcp-bash` on PATH is another one: {}
    → remove it, or put the folder of this one before it
    → run: export PATH={}:\"$PATH\"

0 errors, 1 warning
",
        other.path("mcp-bash").display(),
        own.parent().unwrap().display()
    );
    assert_eq!(text(&output), expected);
}

#[test]
fn unsupported_and_invalid_options_are_refused() {
    let (person, project) = (Person::new(), sound_project());
    for (words, flag) in [
        (&["--ref", "v1.2.3"][..], "--ref"),
        (&["--version", "v1.2.3"], "--ref"),
        (&["--archive", "x.tar.gz", "--verify", "00"], "--archive"),
        (&["--dry-run", "--allow-downgrade"], "--allow-downgrade"),
    ] {
        let output = person.doctor(&project, words).output().unwrap();
        let expected = format!(
            "mcp-bash: doctor does not replace this program, so {flag} means nothing to it; install the version you want \
             in the way this one was installed\n"
        );
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(3), &*expected));
    }
    for words in [&["--fix", "--dry-run"][..], &["--nonsense"], &["--min-version"]] {
        assert_eq!(person.doctor(&project, words).output().unwrap().status.code(), Some(2), "{words:?}");
    }
    for (version, expected) in [("0.0.1", 0), ("v1.2", 0), ("99", 1), ("latest", 1)] {
        let (status, report) = person.report(&project, &["--min-version", version]);
        assert_eq!(status, Some(expected), "{version}: {report:#}");
    }
}

#[test]
fn a_bare_and_hostile_environment_is_survived() {
    let (person, project) = (Person::new(), sound_project());
    let project = project.file("server.d/requirements.json", "{ nonsense");
    fs::set_permissions(project.path("server.d/server.meta.json"), fs::Permissions::from_mode(0o000))
        .unwrap();
    // No home, no shell, no search path.
    let mut command = person.doctor(&project, &[]);
    // Without $HOME, the home folder is the one in the user database.
    command.env_remove("HOME").env_remove("SHELL").env_remove("PATH").env("TMPDIR", "/nonexistent");
    let (status, report) = of_json(&command.arg("--json").output().unwrap());
    assert_eq!(status, Some(1));
    assert_eq!(findings(&report, "runtime.tmp_root_not_writable").len(), 1, "{report:#}");
    assert_eq!(findings(&report, "project.requirements_invalid").len(), 1, "{report:#}");
    assert_eq!(report["runtime"]["tmpRootWritable"], false);
    // A login shell that never exits.
    let shell = person.home.path("bin/sleepy");
    fs::write(&shell, "#!/bin/sh\nexec sleep 600\n").unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = person.doctor(&project, &["--json"]);
    let (_, report) = of_json(&command.env("SHELL", shell).output().unwrap());
    assert_eq!(findings(&report, "path.login_shell").len(), 1, "{report:#}");
}

impl Person {
    /// Writes Cursor's configuration file, with these servers.
    fn cursor(&self, servers: &Value) {
        self.home.write(".cursor/mcp.json", &json!({ "mcpServers": servers }).to_string());
    }

    /// A different program with our name.
    fn pretender(&self, name: &str, script: &str) -> Value {
        let path = self.home.path(&format!("{name}/mcp-bash"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        json!({ "command": path, "env": { "API_KEY": "hunter2-hunter2" } })
    }
}

/// An entry that starts mcp-bash for a project.
fn entry(project: &Project) -> Value {
    json!({ "command": env!("CARGO_BIN_EXE_mcp-bash"), "args": ["--project-root", project.root()] })
}

#[test]
fn entries_of_clients_are_started_as_the_client_would() {
    let (person, project) = (Person::new(), sound_project());
    person.cursor(&json!({ "sound": entry(&project), "other": { "command": "/no/such/server" } }));
    let (status, report) = person.report(&project, &[]);
    let cursor = &report["clients"][0];
    assert_eq!((status, &cursor["name"]), (Some(0), &json!("cursor")), "{report:#}");
    let entries = cursor["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "the other one is none of ours: {report:#}");
    assert_eq!((&entries[0]["starts"], &entries[0]["tools"]), (&json!(true), &json!(1)));
    let text = text(&person.doctor(&project, &[]).output().unwrap());
    let clients = section(&text, "Clients");
    let file = person.home.path(".cursor/mcp.json");
    let expected = format!("  ✓ Cursor: `sound` in {} answers in ", file.display());
    assert!(clients[0].starts_with(&expected) && clients[0].ends_with(" with 1 tool"), "{text}");
    assert_eq!(clients.len(), 1, "{text}");
}

#[test]
fn a_client_without_the_project_gets_the_install_command() {
    let (person, project) = (Person::new(), sound_project());
    person.cursor(&json!({}));
    let text = text(&person.doctor(&project, &[]).output().unwrap());
    let expected =
        ["  · Cursor is here, and does not have this project", "    → run: mcp-bash install cursor"];
    assert_eq!(section(&text, "Clients"), expected);
}

#[test]
fn hostile_entries_and_broken_files_are_reported_and_hang_nothing() {
    let (person, project) = (Person::new(), sound_project());
    let gone =
        json!({ "command": env!("CARGO_BIN_EXE_mcp-bash"), "args": ["--project-root", "/no/such/project"] });
    let filled = json!({ "command": env!("CARGO_BIN_EXE_mcp-bash"), "args": ["--project-root", "${workspaceFolder}"] });
    person.cursor(&json!({
        "dies": person.pretender("dies", "#!/bin/sh\necho \"no luck with $API_KEY \u{1b}[2J\" >&2\nexit 7\n"),
        "floods": person.pretender("floods", "#!/bin/sh\nwhile :; do echo nonsense; echo nonsense >&2; done\n"),
        "hangs": person.pretender("hangs", "#!/bin/sh\necho $$ >$HOME/hanging\nsetsid sleep 15 &\nexec sleep 600\n"),
        "gone": gone,
        "filled": filled,
        "bare": { "command": "mcp-bash", "args": ["--project-root", project.root()] },
    }));
    person.home.write(".codeium/windsurf/mcp_config.json", "{ broken");
    let output = person.doctor(&project, &["-q"]).output().unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.contains("hunter2") && !text.contains('\u{1b}'), "{text}");
    let clients = section(&text, "Clients").join("\n");
    for expected in [
        "does not start: the server ended before it answered (exit status: 7); it wrote: no luck with [redacted]",
        "does not start: the server does not speak the protocol: it sent `nonsense`",
        "does not start: it did not answer within 10 s",
        "serves /no/such/project, which is no folder",
        "is configured to start `mcp-bash`, which only some search paths have",
        "Windsurf cannot read its file: ",
    ] {
        assert!(clients.contains(expected), "{expected} in {clients}");
    }
    assert!(!clients.contains("`filled`"), "what only the client can fill in is no fault: {clients}");
    let pid = person.home.read("hanging").trim().parse().unwrap();
    crate::harness::wait_until_gone(pid);
}

#[test]
fn the_fix_for_a_project_that_has_moved_works() {
    let (person, project) = (Person::new(), sound_project());
    let mut moved = entry(&project);
    moved["args"] = json!(["--project-root", "/no/longer/here"]);
    person.cursor(&json!({ "sound": moved }));
    let told = text(&person.doctor(&project, &[]).output().unwrap());
    assert!(told.contains("from where it is now: `mcp-bash install cursor --force`"), "{told}");
    let mut install = Server::command();
    install.args(["install", "cursor", "--force", "--name", "sound"]).env("HOME", person.home.root());
    let output = install.current_dir(project.root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (_, report) = person.report(&project, &[]);
    assert_eq!(findings(&report, "clients.project_missing").len(), 0, "{report:#}");
}

#[test]
fn a_missing_temporary_folder_is_reported_as_such() {
    let (person, project) = (Person::new(), sound_project());
    let output = person.doctor(&project, &["--json"]).env("TMPDIR", "/no/such").output().unwrap();
    let (_, report) = of_json(&output);
    assert_eq!(findings(&report, "runtime.tmp_root_not_writable").len(), 1, "{report:#}");
    assert_eq!(findings(&report, "system.file_events").len(), 0, "{report:#}");
}

#[test]
fn an_entry_whose_program_has_moved_is_fixed() {
    let (person, project) = (Person::new(), sound_project());
    let mut moved = entry(&project);
    moved["command"] = json!("/no/longer/here/mcp-bash");
    moved["timeout"] = json!(5);
    person.cursor(&json!({ "sound": moved, "other": { "command": "x" } }));
    let before = person.home.read(".cursor/mcp.json");
    let (status, report) = person.report(&project, &["--dry-run"]);
    let found = findings(&report, "clients.moved");
    assert_eq!((status, found.len(), &found[0]["fixable"]), (Some(1), 1, &json!(true)), "{report:#}");
    assert_eq!(report["proposedActions"][0]["id"], "clients.moved");
    assert_eq!((&report["actionsTaken"], person.home.read(".cursor/mcp.json")), (&json!([]), before));
    let (status, report) = person.report(&project, &["--fix"]);
    assert_eq!((status, &report["actionsTaken"][0]["id"]), (Some(0), &json!("clients.moved")), "{report:#}");
    let after: Value = serde_json::from_str(&person.home.read(".cursor/mcp.json")).unwrap();
    let sound = &after["mcpServers"]["sound"];
    assert!(Path::new(sound["command"].as_str().unwrap()).exists(), "{after}");
    assert_eq!((&sound["timeout"], &after["mcpServers"]["other"]["command"]), (&json!(5), &json!("x")));
    assert_eq!(person.report(&project, &[]).0, Some(0));
}

#[test]
fn modes_of_the_project_are_fixed_on_request() {
    let (person, project) = (Person::new(), sound_project());
    fs::set_permissions(project.path("tools/hi/tool.sh"), fs::Permissions::from_mode(0o666)).unwrap();
    let mode = || fs::metadata(project.path("tools/hi/tool.sh")).unwrap().permissions().mode() & 0o777;
    let (_, report) = person.report(&project, &[]);
    assert!(
        report["findings"].as_array().unwrap().iter().any(|finding| finding["fixable"] == true),
        "{report:#}"
    );
    let proposed = text(&person.doctor(&project, &["--dry-run"]).output().unwrap());
    assert!(proposed.contains("Would do\n  - tools/hi/tool.sh: "), "{proposed}");
    assert_eq!(mode(), 0o666, "nothing is changed unless it is wanted");
    let done = text(&person.doctor(&project, &["--fix"]).output().unwrap());
    assert!(done.contains("Done\n  - tools/hi/tool.sh: "), "{done}");
    assert_eq!(mode() & 0o022, 0, "{done}");
}

#[test]
fn names_of_folders_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let (person, project) = (Person::new(), Project::new());
    let odd = project.root().join(std::ffi::OsStr::from_bytes(b"a b\xff'\n\x1b"));
    fs::create_dir_all(odd.join("tools")).unwrap();
    fs::create_dir_all(odd.join("tmp")).unwrap();
    for words in [&["doctor"][..], &["doctor", "--json"]] {
        let mut command = person.doctor(&project, &words[1..]);
        command.arg("-q").current_dir(&odd).env("TMPDIR", odd.join("tmp")).env("MCPBASH_PROJECT_ROOT", &odd);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!output.stdout.contains(&0x1b), "{output:?}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let (person, project) = (Person::new(), sound_project());
    let secret = "a-secret-of-more-than-32-characters";
    for words in [&["-v"][..], &["--json"]] {
        let output = person.doctor(&project, words).env("MCPBASH_REMOTE_TOKEN", secret).output().unwrap();
        let text = text(&output);
        assert!(text.contains("MCPBASH_REMOTE_TOKEN") && !text.contains(secret), "{text}");
    }
}

#[test]
fn no_project_is_fine_and_a_wrong_one_is_an_error() {
    let (person, empty) = (Person::new(), Project::new());
    let mut command = Server::command();
    command.env_clear().env("HOME", person.home.root()).env("PATH", person.path()).env("SHELL", "/bin/sh");
    let output = command.args(["doctor", "--json"]).current_dir(empty.root()).output().unwrap();
    let (status, report) = of_json(&output);
    assert_eq!((status, &report["project"]["root"]), (Some(0), &json!("")), "{report:#}");
    let gone = Project::new();
    let mut command = person.doctor(&gone, &["--json"]);
    fs::remove_dir(gone.root()).unwrap();
    let (status, report) = of_json(&command.output().unwrap());
    assert_eq!((status, findings(&report, "project.unusable").len()), (Some(1), 1), "{report:#}");
}
