//! `mcp-bash import`: turns existing scripts and programs into tools that work.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(super) fn command(project: &Project, words: &[&str]) -> Command {
    let mut command = Server::command();
    command.arg("import").args(words).current_dir(project.root()).stdin(Stdio::null());
    command
}

pub(super) fn import(project: &Project, words: &[&str]) -> Output {
    command(project, words).output().expect("the binary runs")
}

/// Exit code, standard output and standard error, with the folder of the project as `ROOT`.
pub(super) fn said(project: &Project, words: &[&str]) -> (Option<i32>, String, String) {
    let output = import(project, words);
    let root = project.root().canonicalize().unwrap();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&*root.to_string_lossy(), "ROOT");
        text.replace(&*project.root().to_string_lossy(), "ROOT")
    };
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The findings of `--health`, with these folders first on the PATH.
pub(super) fn problems(project: &Project, path: &str) -> Value {
    let output =
        Server::command().arg("--health").current_dir(project.root()).env("PATH", path).output().unwrap();
    serde_json::from_slice::<Value>(&output.stdout).expect("a report")["problems"].clone()
}

fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// A folder with programs of these names, each of which prints its arguments.
fn stubs(names: &[&str]) -> Project {
    names.iter().fold(Project::new(), |stubs, name| {
        stubs.script(name, &format!("#!/bin/sh\necho {name} \"$(printf '<%s>' \"$@\")\"\n"))
    })
}

/// The result of calling a tool.
pub(super) fn call(server: &mut Server, id: u64, tool: &str, arguments: &Value) -> Value {
    server.ask(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))["result"].take()
}

const MAKEFILE: &str = "\
# Whom to greet
NAME ?= world
.PHONY: greet clean
greet: ## Says hello
\t@echo \"hello $(NAME)\"
clean: ## Removes what was built
\t@echo cleaned
";

#[test]
fn a_makefile_is_shown_before_it_is_written() {
    let project = Project::new().file("tools/.keep", "").file("Makefile", MAKEFILE);
    let shown = "\
greet
  Says hello
  runs  make greet [NAME={NAME}]
  takes NAME (text of letters, digits and _ . / : @ + , -): Whom to greet (default: world)
  file  ROOT/tools/greet.meta.json

clean  (marked as destructive)
  Removes what was built
  runs  make clean
  file  ROOT/tools/clean.meta.json

";
    let told = "Nothing was written. `--yes` writes 2 files to ROOT/tools.\n";
    assert_eq!(said(&project, &["Makefile"]), (Some(0), format!("{shown}{told}"), String::new()));
    assert!(!project.path("tools/greet.meta.json").exists());
    let written = "Wrote 2 files to ROOT/tools. Look at them, change them as you like; `mcp-bash health` says whether they can be \
                   served.\n";
    assert_eq!(said(&project, &["Makefile", "--yes"]), (Some(0), format!("{shown}{written}"), String::new()));
    let entries = std::fs::read_dir(project.path("tools")).unwrap().count();
    assert_eq!(entries, 3, "nothing else is left in the folder");
    let skipped = "\
greet is skipped: the project has a tool of this name
clean is skipped: the project has a tool of this name
Nothing was written: there is nothing new.
";
    assert_eq!(said(&project, &["Makefile", "--yes"]), (Some(0), skipped.to_owned(), String::new()));
}

#[test]
fn targets_with_read_only_names_are_marked_and_programs_are_not() {
    let text = ".PHONY: list-users get-and-wipe build\nlist-users:\n\t@echo\nget-and-wipe:\n\t@echo\nbuild:\n\t@echo\n";
    let project = Project::new().file("tools/.keep", "").file("Makefile", text);
    let (_, shown, _) = said(&project, &["Makefile", "--yes"]);
    assert!(shown.contains("list-users  (marked as read-only)\n"), "{shown}");
    assert!(shown.contains("get-and-wipe  (marked as destructive)\n"), "{shown}");
    let annotations = |name: &str| -> Value {
        let text = project.read(&format!("tools/{name}.meta.json"));
        serde_json::from_str::<Value>(&text).unwrap()["annotations"].clone()
    };
    assert_eq!(annotations("list-users"), json!({ "readOnlyHint": true }));
    assert_eq!(annotations("get-and-wipe"), json!({ "destructiveHint": true }));
    assert_eq!(annotations("build"), Value::Null);
    // Its options may do more than its name suggests.
    let project = Project::new().file("tools/.keep", "");
    let help = "#!/bin/sh\necho 'Usage: find [--delete] PATH'; echo; echo 'Options:'; echo '  --delete  removes what it finds'\n";
    let project = project.script("bin/find", help);
    let (code, shown, problem) = said(&project, &["./bin/find", "--run-help", "--yes"]);
    assert_eq!(code, Some(0), "{shown}{problem}");
    assert!(!shown.contains("marked as read-only"), "{shown}");
}

#[test]
fn imported_targets_run_with_the_real_make() {
    let project = Project::new().file("tools/.keep", "").file("sub dir/Makefile", MAKEFILE);
    assert_eq!(said(&project, &["sub dir", "--yes", "-q"]), (Some(0), String::new(), String::new()));
    assert_eq!(problems(&project, &std::env::var("PATH").unwrap()), json!([]));
    let mut server = Server::ready(project.root());
    assert_eq!(call(&mut server, 1, "greet", &json!({}))["content"][0]["text"], "hello world");
    assert_eq!(call(&mut server, 2, "greet", &json!({ "NAME": "Ada" }))["content"][0]["text"], "hello Ada");
    // Neither make nor the shell interprets special characters in an argument.
    for (id, name) in
        ["$(shell touch owned)", "`touch owned`", "\"; touch owned; \"", "-rf", "a -rf", "a b", ""]
            .iter()
            .enumerate()
    {
        let result = call(&mut server, 10 + id as u64, "greet", &json!({ "NAME": name }));
        assert_eq!(result["isError"], true, "{name}: {result}");
    }
    assert!(!project.path("owned").exists() && !project.path("sub dir/owned").exists());
    let list = server.ask(3, "tools/list", &json!({}));
    let clean =
        list["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "clean").unwrap();
    assert_eq!(clean["annotations"], json!({ "destructiveHint": true }));
}

#[test]
fn imports_of_justfiles_packages_and_taskfiles_run() {
    let project = Project::new()
        .file("tools/.keep", "")
        .file("justfile", "# Builds\nbuild target='debug' *flags:\n  x {{target}}\nsecret:=`touch owned`\n")
        .file("package.json", r#"{"packageManager": "pnpm@9", "scripts": {"lint": "eslint ."}}"#)
        .file(
            "Taskfile.yml",
            "version: '3'\ntasks:\n  ship: {desc: Ships, requires: {vars: [TO]}, cmds: [x]}\n",
        );
    for file in ["justfile", "package.json", "Taskfile.yml"] {
        assert_eq!(import(&project, &[file, "--yes"]).status.code(), Some(0), "{file}");
    }
    let stubs = stubs(&["just", "pnpm", "task"]);
    let path = path_with(stubs.root());
    assert_eq!(problems(&project, &path), json!([]));
    let mut server = Server::ready_with(project.root(), &[("PATH", &path)], "2025-11-25");
    for (id, (tool, arguments, printed)) in [
        ("build", json!({}), "just <--justfile><justfile><build><debug>"),
        ("build", json!({ "flags": ["a", "b"] }), "just <--justfile><justfile><build><debug><a><b>"),
        ("lint", json!({ "args": ["src"] }), "pnpm <run><lint><src>"),
        ("ship", json!({ "TO": "mars" }), "task <--taskfile><Taskfile.yml><ship><TO=mars>"),
    ]
    .into_iter()
    .enumerate()
    {
        let result = call(&mut server, id as u64, tool, &arguments);
        assert_eq!(result["content"][0]["text"], printed, "{result}");
    }
    assert_eq!(call(&mut server, 10, "lint", &json!({ "args": ["--fix"] }))["isError"], true);
    assert!(!project.path("owned").exists());
}

#[test]
fn sources_that_cannot_be_imported_are_refused_with_the_next_step() {
    let project = Project::new()
        .file("tools/.keep", "")
        .file("notes.txt", "x")
        .file("Makefile", MAKEFILE)
        .file("justfile", "_x:\n")
        .file("package.json", "{")
        .file("Taskfile.yml", &"[".repeat(100_000))
        .script("silent", "#!/bin/sh\n")
        .script("binary", "#!/bin/sh\nhead -c 5000 /dev/zero\n")
        .script("endless", "#!/bin/sh\nwhile :; do echo more and more of the same thing; done\n")
        .script("killed", "#!/bin/sh\nkill -9 $$\n");
    let made = Server::command().args(["import", "x"]).current_dir("/").output().unwrap();
    assert_eq!(made.status.code(), Some(2));
    for (words, status, expected) in [
        (
            &["nothing-of-this-name"][..],
            4,
            "mcp-bash: `nothing-of-this-name` is neither a file nor a program on PATH; name a script, a justfile, a Makefile, a package.json, a Taskfile, a folder or a program\n",
        ),
        (
            &["Makefle"],
            4,
            "mcp-bash: `Makefle` is neither a file nor a program on PATH; did you mean `Makefile`?\n",
        ),
        (
            &["./Justfil"],
            4,
            "mcp-bash: `./Justfil` is neither a file nor a program on PATH; did you mean `./justfile`?\n",
        ),
        (
            &["cd"],
            4,
            "mcp-bash: `cd` is neither a file nor a program on PATH (only a shell knows it); name a script, a justfile, a Makefile, a package.json, a Taskfile, a folder or a program\n",
        ),
        (
            &["notes.txt"],
            2,
            "mcp-bash: notes.txt is no program, and its name does not say what it is; say it with `--as`: justfile, makefile, package-json, taskfile or scripts\n",
        ),
        (
            &["Makefile", "greet"],
            2,
            "mcp-bash: Makefile is a file, and has no command `greet`; use `--only greet` for one of its tools\n",
        ),
        (
            &["Makefile", "--only", "gret"],
            4,
            "mcp-bash: there is no `gret` to import; there are greet, clean\n",
        ),
        (&["tools"], 2, "mcp-bash: tools has nothing that can be imported; name the file\n"),
        (&["justfile"], 1, "mcp-bash: there is nothing in justfile to import\n"),
        (
            &["package.json"],
            1,
            "mcp-bash: package.json is no JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        (
            &["./silent", "--run-help"],
            1,
            "mcp-bash: the help of `./silent` does not look like the help of a program: there is no usage line and no option in it; `--help-from FILE` reads a help text from a file\n",
        ),
        (
            &["./binary", "--run-help"],
            1,
            "mcp-bash: the help of `./binary` is no text; `--help-from FILE` reads a help text from a file\n",
        ),
        (
            &["./endless", "--run-help"],
            1,
            "mcp-bash: `ROOT/endless --help` printed more than 1048576 bytes, which is no help; use `--help-from FILE` with the right part\n",
        ),
        (&["./killed", "--run-help"], 1, "mcp-bash: failed to run ROOT/killed --help: signal 9 ended it\n"),
    ] {
        assert_eq!(said(&project, words), (Some(status), String::new(), expected.to_owned()), "{words:?}");
    }
    assert_eq!(import(&project, &["Taskfile.yml"]).status.code(), Some(1));
    assert_eq!(import(&project, &["."]).status.code(), Some(2));
}

#[test]
fn existing_files_are_not_touched() {
    let project = Project::new()
        .file("Makefile", "a:\n\techo\nb:\n\techo\nc/d:\n\techo\nc-d:\n\techo\n")
        .file("tools/a.meta.yaml", "x")
        .script("tools/b/tool.sh", "#!/bin/sh\n");
    let (status, shown, _) = said(&project, &["Makefile", "--yes"]);
    assert_eq!(status, Some(0));
    assert_eq!(
        shown.lines().filter(|line| line.contains("skipped")).collect::<Vec<_>>(),
        [
            "a is skipped: ROOT/tools/a.meta.yaml is there already",
            "b is skipped: the project has a tool of this name",
            "c-d is skipped: another one before it has the same name",
        ]
    );
    assert_eq!(
        (&*project.read("tools/a.meta.yaml"), project.path("tools/b.meta.json").exists()),
        ("x", false)
    );
    assert!(project.path("tools/c-d.meta.json").exists());
}

#[test]
fn a_person_is_asked() {
    let project = Project::new().file("tools/.keep", "").file("Makefile", "greet: ## Hello\n\techo\n");
    let answered = |answer: &str| {
        let program = format!("{} import Makefile", env!("CARGO_BIN_EXE_mcp-bash"));
        let mut script = Command::new("script");
        script.args(["-qec", &program, "/dev/null"]).current_dir(project.root()).stdin(Stdio::piped());
        let mut child = script.stdout(Stdio::piped()).spawn().expect("script");
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let refused = answered("n\n");
    assert!(refused.contains("Write 1 file? [y/N]") && refused.contains("Nothing was written."), "{refused}");
    assert!(!project.path("tools/greet.meta.json").exists());
    let accepted = answered("y\n");
    assert!(accepted.contains("Wrote 1 file to"), "{accepted}");
    assert!(project.path("tools/greet.meta.json").exists());
}
