//! The Python or Node.js that runs a function file: from the project's environment, from `uv`, or from the
//! machine; and the error if there is none.

use crate::functions::{SUMS, call, names, quiet, text, told_of};
use crate::harness::{Project, Server};
use serde_json::json;
use std::process::Command;

/// A function that returns where its Python is installed, and one that uses a package.
const WHERE: &str = "import sys\nfrom mcp_bash import tool\n@tool\ndef prefix() -> str: return sys.prefix\n";
const GREETS: &str =
    "import greeting\nfrom mcp_bash import tool\n@tool\ndef greets() -> str: return greeting.WORD\n";

/// The header of a file that declares its own dependencies.
const OWN_DEPENDENCIES: &str = "# /// script\n# dependencies = [\"greeting\"]\n# ///\n";

/// A folder for a user's own programs, before those of the machine.
struct Machine {
    home: Project,
}

impl Machine {
    fn new() -> Self {
        Self { home: Project::new().file("bin/README", "") }
    }

    fn program(self, name: &str, script: &str) -> Self {
        Self { home: self.home.script(&format!("bin/{name}"), script) }
    }

    fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.home.path("bin").display())
    }

    /// A `uv` that records how it was called, and runs `body`.
    fn with_uv(self, body: &str) -> Self {
        let calls = self.home.path("calls").display().to_string();
        self.program("uv", &format!("#!/bin/sh\necho \"$@\" >>'{calls}'\n{body}\n"))
    }

    fn calls(&self) -> Vec<String> {
        self.home.read("calls").lines().map(str::to_owned).collect()
    }

    fn serve(&self, project: &Project) -> Server {
        Server::ready_with(project.root(), &[("PATH", &self.path())], "2025-11-25")
    }

    /// The output of a command on a project.
    fn report(&self, command: &str, project: &Project) -> (i32, String) {
        let output = Server::command()
            .env("PATH", self.path())
            .args([command, "--project-root"])
            .arg(project.root())
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }
}

/// A virtual environment with the package `greeting`, whose word is `word`.
fn make_environment(project: &Project, folder: &str, word: &str) {
    let made = Command::new("sh")
        .args(["-c", "umask 022; /usr/bin/python3 -m venv --without-pip \"$0\""])
        .arg(project.path(folder))
        .status()
        .unwrap();
    assert!(made.success());
    let libraries = std::fs::read_dir(project.path(folder).join("lib")).unwrap();
    let version = libraries.map(|entry| entry.unwrap().file_name()).next().unwrap();
    let packages = format!("{folder}/lib/{}/site-packages", version.to_str().unwrap());
    project.write(&format!("{packages}/greeting.py"), &format!("WORD = '{word}'\n"));
}

#[test]
fn the_nearest_virtual_environment_is_used() {
    let machine = Machine::new();
    let project = Project::new()
        .file("tools/where.py", WHERE)
        .file("tools/greets.py", GREETS)
        .file("tools/inner/greets_too.py", &GREETS.replace("greets", "greets_too"));
    make_environment(&project, ".venv", "hello");
    make_environment(&project, "tools/inner/.venv", "good evening");
    let mut server = machine.serve(&project);
    assert_eq!(names(&mut server), ["greets", "greets_too", "prefix"]);
    let prefix = project.path(".venv").canonicalize().unwrap();
    assert_eq!(text(&call(&mut server, "prefix", &json!({}))), prefix.display().to_string());
    assert_eq!(text(&call(&mut server, "greets", &json!({}))), "hello");
    assert_eq!(text(&call(&mut server, "greets_too", &json!({}))), "good evening");
    let (code, report) = machine.report("validate", &project);
    assert_eq!(code, 0, "{report}");
}

#[test]
fn a_group_or_world_writable_environment_is_not_used() {
    let machine = Machine::new();
    let project = Project::new().file("tools/where.py", WHERE);
    make_environment(&project, ".venv", "hello");
    let opened = Command::new("chmod").arg("go+w").arg(project.path(".venv/bin")).status().unwrap();
    assert!(opened.success());
    let mut server = machine.serve(&project);
    assert!(names(&mut server).is_empty());
    let told = told_of(server, "where.py");
    assert!(told.contains("virtual environment is not used") && told.contains("chmod go-w"), "{told}");
}

#[test]
fn a_broken_environment_file_is_named_and_not_the_interpreter() {
    let node =
        "import { tool } from 'mcp-bash'\nexport const where = tool('Where', () => process.execPath)\n";
    for (file, text) in [("where.py", WHERE), ("where.mjs", node)] {
        let project = Project::new().file("server.d/env.sh", "exit 3\n").file(&format!("tools/{file}"), text);
        let mut server = Machine::new().serve(&project);
        assert!(names(&mut server).is_empty());
        let told = told_of(server, file);
        assert!(told.contains("No script is run: server.d/env.sh ended with status 3"), "{told}");
        assert!(!told.contains("on the PATH of scripts"), "{told}");
    }
}

#[test]
fn a_project_of_uv_gets_its_environment_when_it_has_none() {
    let machine = Machine::new().with_uv(
        "[ \"$1\" = sync ] || exit 0\numask 022\n/usr/bin/python3 -m venv --without-pip \"$4/.venv\"",
    );
    let project = Project::new().file("tools/where.py", WHERE).file("uv.lock", "version = 1\n");
    let mut server = machine.serve(&project);
    let root = project.root().canonicalize().unwrap();
    assert_eq!(text(&call(&mut server, "prefix", &json!({}))), root.join(".venv").display().to_string());
    assert_eq!(machine.calls(), [format!("sync --quiet --project {}", root.display())]);
}

#[test]
fn dependencies_that_a_file_names_itself_are_for_uv() {
    let project = Project::new()
        .file("tools/greets.py", &format!("{OWN_DEPENDENCIES}{GREETS}"))
        .file("tools/where.py", WHERE);
    make_environment(&project, "of-uv", "by uv");
    make_environment(&project, ".venv", "of the project");
    let python = project.path("of-uv/bin/python").display().to_string();
    let machine = Machine::new().with_uv(&format!("[ \"$1\" = sync ] || echo '{python}'"));
    let mut server = machine.serve(&project);
    assert_eq!(text(&call(&mut server, "greets", &json!({}))), "by uv");
    let file = project.root().canonicalize().unwrap().join("tools/greets.py");
    let words = ["sync --quiet --script", "python find --script"];
    assert_eq!(machine.calls()[..2], words.map(|words| format!("{words} {}", file.display())));
    // The other files use the project's environment.
    let prefix = project.path(".venv").canonicalize().unwrap();
    assert_eq!(text(&call(&mut server, "prefix", &json!({}))), prefix.display().to_string());
    assert_eq!(machine.report("validate", &project).0, 0);
}

/// uv downloads packages; the function does not.
#[test]
fn uv_receives_network_variables_and_the_function_does_not() {
    const FUNCTION: &str = "import os\nfrom mcp_bash import tool\n\n@tool\ndef variables() -> str:\n    return \" \".join(sorted(os.environ))\n";
    let project = Project::new().file("tools/variables.py", &format!("{OWN_DEPENDENCIES}{FUNCTION}"));
    make_environment(&project, "of-uv", "by uv");
    let python = project.path("of-uv/bin/python").display().to_string();
    let machine = Machine::new();
    let seen = machine.home.path("seen").display().to_string();
    let machine = machine.with_uv(&format!("env >'{seen}'\n[ \"$1\" = sync ] || echo '{python}'"));
    let for_uv = [
        ("HTTPS_PROXY", "http://proxy.test:3128"),
        ("no_proxy", "localhost"),
        ("SSL_CERT_FILE", "/some.pem"),
        ("UV_INDEX_URL", "https://user:word@packages.test"),
    ];
    let path = machine.path();
    let mut variables = vec![("PATH", &*path), ("DEPLOY_TOKEN", "secret"), ("MY_UV_TOKEN", "secret")];
    variables.extend(for_uv);
    let mut server = Server::ready_with(project.root(), &variables, "2025-11-25");
    let of_function = text(&call(&mut server, "variables", &json!({}))).to_owned();
    let of_uv = machine.home.read("seen");
    for (name, value) in for_uv {
        assert!(of_uv.contains(&format!("{name}={value}\n")), "{of_uv}");
        assert!(!of_function.split(' ').any(|seen| seen == name), "{of_function}");
    }
    assert!(!of_uv.contains("secret"), "{of_uv}");
}

#[test]
fn errors_of_uv_are_reported() {
    let project = Project::new()
        .file("tools/greets.py", &format!("{OWN_DEPENDENCIES}{GREETS}"))
        .file("tools/sums.py", SUMS);
    let machine = Machine::new().with_uv("echo 'no solution found for greeting' >&2; exit 1");
    let mut server = machine.serve(&project);
    assert_eq!(names(&mut server), ["add", "repeat"]);
    let told = told_of(server, "greets.py");
    assert!(told.contains("no solution found for greeting"), "{told}");

    // A uv whose output is not a program's path.
    let machine = Machine::new().with_uv("[ \"$1\" = sync ] || echo /nowhere/python");
    let mut server = machine.serve(&project);
    assert_eq!(names(&mut server), ["add", "repeat"]);
    assert!(told_of(server, "greets.py").contains("/nowhere/python"));
}

#[test]
fn without_uv_the_checks_say_what_is_missing() {
    let machine = Machine::new();
    let project = Project::new().file("tools/greets.py", &format!("{OWN_DEPENDENCIES}{GREETS}"));
    for command in ["validate", "doctor"] {
        let (code, report) = machine.report(command, &project);
        assert_eq!(code, 1, "{report}");
        for words in [
            "is skipped: ModuleNotFoundError",
            "there is no `uv` to install them",
            "install uv, or put them into a `.venv`",
        ] {
            assert!(report.contains(words), "{words} in {report}");
        }
    }
    // It runs if the project provides the packages.
    make_environment(&project, ".venv", "of the project");
    let mut server = machine.serve(&project);
    assert_eq!(text(&call(&mut server, "greets", &json!({}))), "of the project");
}

#[test]
fn the_checks_report_dependencies_that_are_not_installed() {
    let machine = Machine::new();
    let project = Project::new()
        .file("tools/sums.py", SUMS)
        .file("tools/n.mjs", "import { tool } from 'mcp-bash'\nexport const n = tool('x', {}, () => 1)\n")
        .file("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\ndependencies = ['greeting']\n")
        .file("package.json", r#"{"dependencies": {"left-pad": "1"}}"#);
    for command in ["validate", "doctor"] {
        let (_, report) = machine.report(command, &project);
        for words in ["python3 -m venv .venv", "run `npm install`"] {
            assert!(report.contains(words), "{words} in {report}");
        }
    }
    let project = project.file("node_modules/left-pad/package.json", "{}");
    make_environment(&project, ".venv", "hello");
    for command in ["validate", "doctor"] {
        let (_, report) = machine.report(command, &project);
        for words in ["python3 -m venv .venv", "run `npm install`"] {
            assert!(!report.contains(words), "{words} in {report}");
        }
    }
}

#[test]
fn an_environment_without_an_interpreter_is_reported_with_the_command_to_recreate_it() {
    let machine = Machine::new();
    let remedy = "create it again with `python3 -m venv --clear .venv`";
    let project = Project::new().file("tools/where.py", WHERE);
    std::fs::create_dir_all(project.path(".venv/bin")).unwrap();
    let is_told = |project: &Project| {
        let (_, report) = machine.report("validate", project);
        (report.contains(".venv - has no working interpreter") && report.contains(remedy), report)
    };
    let (told, report) = is_told(&project);
    assert!(told, "an empty folder: {report}");
    std::os::unix::fs::symlink("/nowhere/python3", project.path(".venv/bin/python")).unwrap();
    let (told, report) = is_told(&project);
    assert!(told, "a link that leads nowhere: {report}");
    // A file that needs one of its packages says so, too.
    let project = project.file("tools/greets.py", GREETS);
    let (code, report) = machine.report("validate", &project);
    assert_eq!(code, 1, "{report}");
    let wanted = "ModuleNotFoundError: No module named 'greeting'";
    let remedies: Vec<&str> =
        report.lines().skip_while(|line| !line.contains(wanted)).skip(1).take(1).collect();
    assert!(
        remedies[0].contains(".venv has no working interpreter") && remedies[0].contains(remedy),
        "{report}"
    );
    assert!(!report.contains("make a `.venv`"), "{report}");

    std::fs::remove_dir_all(project.path(".venv")).unwrap();
    make_environment(&project, ".venv", "hello");
    let (told, report) = is_told(&project);
    assert!(!told && report.contains("All checks passed"), "{report}");
    // A folder named `venv` may contain anything.
    std::fs::create_dir(project.path("tools/venv")).unwrap();
    let (_, report) = machine.report("validate", &project);
    assert!(!report.contains("no working interpreter"), "{report}");
}

#[test]
fn packages_of_the_project_are_found_by_node() {
    let project = Project::new()
        .file(
            "tools/greets.mjs",
            "import { tool } from 'mcp-bash'\nimport { word } from 'greeting'\nexport const greets = tool('x', {}, () => word)\n",
        )
        .file("node_modules/greeting/package.json", r#"{"name": "greeting", "type": "module", "main": "index.js"}"#)
        .file("node_modules/greeting/index.js", "export const word = 'hello'\n");
    let mut server = quiet(&project);
    assert_eq!(text(&call(&mut server, "greets", &json!({}))), "hello");
}

#[test]
fn a_package_of_type_module_may_call_its_files_js() {
    let function = "import { tool } from 'mcp-bash'\nexport const greets = tool('x', {}, () => 'hello')\n";
    let project =
        Project::new().file("tools/greets.js", function).file("package.json", r#"{"type": "module"}"#);
    let mut server = quiet(&project);
    assert_eq!(text(&call(&mut server, "greets", &json!({}))), "hello");
}

#[test]
fn a_machine_without_python_or_node_says_so() {
    let project = Project::with_hi()
        .file("tools/sums.py", SUMS)
        .file("tools/n.mjs", "import { tool } from 'mcp-bash'\nexport const n = tool('x', {}, () => 1)\n");
    let home = Project::new().file("bin/README", "");
    let path = home.path("bin").display().to_string();
    // No login shell provides another PATH.
    let bare = [("PATH", &*path), ("SHELL", "/nowhere/sh"), ("HOME", home.root().to_str().unwrap())];
    let mut server = Server::ready_with(project.root(), &bare, "2025-11-25");
    assert_eq!(names(&mut server), ["hi"]);
    assert_eq!(text(&call(&mut server, "hi", &json!({}))), "hi");
    let log = server.finish();
    for words in [
        "there is no `python3` on the PATH of scripts; install Python 3.8 or newer",
        "there is no `node` on the PATH of scripts; install Node.js 18 or newer",
    ] {
        assert!(log.contains(words), "{words} in {log}");
    }
}

#[test]
fn an_interpreter_that_is_too_old_is_reported_in_one_line() {
    let old = "#!/bin/sh\n# The worker itself looks at the version; this one claims to be older.\nexec /usr/bin/python3 -c 'import runpy, sys; sys.version_info = (3, 7, 9, \"final\", 0); sys.argv = sys.argv[1:]; sys.path.insert(0, \"\"); runpy.run_path(sys.argv[0], run_name=\"__main__\")' \"$@\"\n";
    let machine = Machine::new().program("python3", old);
    let project = Project::with_hi().file("tools/sums.py", SUMS);
    let mut server = machine.serve(&project);
    assert_eq!(names(&mut server), ["hi"]);
    let told = told_of(server, "sums.py");
    assert!(told.contains("3.8"), "{told}");
}
