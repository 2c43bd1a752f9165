//! `mcp-bash import` of scripts: they are read, never run, and become tools with cases that run nothing.

use super::import::{call, command, import, problems, said};
use crate::harness::{Project, Server, Terminal};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

/// A script that leaves a file behind if it is run.
const DEPLOY: &str = r#"#!/usr/bin/env bash
# Deploys a service to an environment.
touch "$PWD/owned"
usage() {
  cat <<EOF
Usage: $(basename "$0") [options] <service>

Options:
  -e, --env NAME   the environment
  -r, --replicas N how many
  -f, --force      without questions
EOF
  exit 1
}
: "${REGION:?the region}"
LOG_LEVEL="${LOG_LEVEL:-info}"
: "${API_TOKEN:=}"
while [[ $# -gt 0 ]]; do
  case "$1" in
    -e|--env) ENV_NAME="$2"; shift 2 ;;
    -r|--replicas) REPLICAS="$2"; shift 2 ;;
    -f|--force) FORCE=1; shift ;;
    -h|--help) usage ;;
    -*) echo "unknown option" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ -n "$ENV_NAME" ] || usage
SERVICE="$1"
[ -z "$SERVICE" ] && usage
printf '<%s>' "$ENV_NAME" "$REPLICAS" "$FORCE" "$SERVICE" "$REGION" "$LOG_LEVEL"
command -v kubectl >/dev/null && kubectl delete pod "$SERVICE"
exit 0
"#;

const COUNT: &str = r#"#!/usr/bin/env python3
"""Counts words in files."""
import argparse
open("owned", "w")
parser = argparse.ArgumentParser(description="Counts words in files.")
parser.add_argument("files", nargs="+", help="what to read")
parser.add_argument("--min", type=int, default=1, help="least length")
parser.add_argument("--sort", choices=["name", "count"])
parser.add_argument("-v", "--verbose", action="store_true")
args = parser.parse_args()
"#;

fn report(project: &Project, words: &[&str]) -> Value {
    let output = import(project, &[words, &["--json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{words:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn tool<'r>(report: &'r Value, name: &str) -> &'r Value {
    let tools = report["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{report:#}"))
}

#[test]
fn a_folder_of_scripts_becomes_tools_that_call_them() {
    let project =
        Project::new().file("tools/.keep", "").script("bin/deploy.sh", DEPLOY).script("bin/count.py", COUNT);
    let report = report(&project, &["bin", "--yes"]);
    assert!(!project.path("owned").exists(), "nothing was run");
    let deploy = tool(&report, "deploy");
    assert_eq!((&deploy["unsure"], &deploy["lacks"]), (&json!([]), &json!([])), "{deploy:#}");
    let metadata = &deploy["metadata"];
    assert_eq!(metadata["description"], "Deploys a service to an environment.");
    assert_eq!(
        metadata["command"],
        json!([
            "./bin/deploy.sh",
            ["--env", "{env}"],
            ["--replicas", "{replicas}"],
            { "flag": "--force", "if": "force" },
            "{service}",
        ])
    );
    assert_eq!(metadata["env"], json!({ "REGION": "{REGION}", "LOG_LEVEL": "{LOG_LEVEL}" }));
    assert_eq!(metadata["inputSchema"]["required"], json!(["env", "service", "REGION"]));
    assert_eq!(metadata["inputSchema"]["properties"]["replicas"]["type"], "integer");
    assert_eq!(metadata["annotations"], json!({ "destructiveHint": true }));
    assert_eq!(deploy["needs"], json!(["kubectl"]));
    let left = report["leftOut"].as_array().unwrap();
    assert!(
        left.iter().any(|left| left["what"] == "deploy.sh API_TOKEN"),
        "a secret is no argument: {left:?}"
    );
    let count = &tool(&report, "count")["metadata"];
    assert_eq!(
        count["command"],
        json!([
            "./bin/count.py",
            ["--min={min}"],
            ["--sort={sort}"],
            { "flag": "--verbose", "if": "verbose" },
            "{files...}"
        ])
    );
    assert_eq!(count["inputSchema"]["properties"]["sort"]["enum"], json!(["name", "count"]));

    // The cases that were written pass, and run nothing.
    assert_eq!(problems(&project, &std::env::var("PATH").unwrap()), json!([]));
    let tested = Server::command().arg("test").current_dir(project.root()).output().unwrap();
    let printed = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert!(tested.status.success() && printed.contains("4 passed, 0 failed"), "{printed}");
    assert!(!project.path("owned").exists(), "nothing was run");

    // The script gets what it was drafted to get.
    let mut server = Server::ready(project.root());
    let arguments = json!({ "env": "prod", "replicas": 2, "service": "web", "REGION": "eu" });
    let result = call(&mut server, 1, "deploy", &arguments);
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("<prod><2><><web><eu><info>"), "{result}");
    let arguments = json!({ "env": "prod", "service": "--force", "REGION": "eu" });
    assert_eq!(call(&mut server, 2, "deploy", &arguments)["isError"], true);
}

#[test]
fn a_value_that_a_script_evaluates_runs_nothing() {
    let project = Project::new()
        .file("tools/.keep", "")
        .script("bin/sum.sh", "#!/usr/bin/env bash\n# Adds one.\necho $(( $1 + 1 ))\n")
        .script("bin/long.sh", "#!/usr/bin/env bash\n# Tells how long.\n[[ ${MINUTES:-} -gt 60 ]] && echo long\n")
        .script(
            "bin/pick.sh",
            "#!/usr/bin/env bash\n# Picks one.\nwhile getopts i: o; do case $o in i) at=$OPTARG;; esac; done\n\
             all=(a b c)\necho \"${all[at]}\"\n",
        )
        .script("bin/set.sh", "#!/usr/bin/env bash\n# Sets it.\nprintf -v \"$1\" x\n");
    let report = report(&project, &["bin", "--yes"]);
    let left = report["leftOut"].to_string();
    assert!(left.contains("evaluates arg1 as a number or a name"), "{left}");
    let mut server = Server::ready(project.root());
    let hostile = format!("a[$(touch {})]", project.path("owned").display());
    for (id, (name, argument, value, expected)) in
        [("sum", "arg1", 4, "5"), ("long", "MINUTES", 61, "long"), ("pick", "at", 2, "c")]
            .into_iter()
            .enumerate()
    {
        let drafted = tool(&report, name);
        assert_eq!(
            drafted["metadata"]["inputSchema"]["properties"][argument]["type"], "integer",
            "{drafted:#}"
        );
        assert!(drafted["lacks"].to_string().contains("it calculates with"), "{drafted:#}");
        let id = 2 * id as u64 + 1;
        assert_eq!(call(&mut server, id, name, &json!({ argument: hostile }))["isError"], true, "{name}");
        let result = call(&mut server, id + 1, name, &json!({ argument: value }));
        assert_eq!(result["content"][0]["text"].as_str().map(str::trim), Some(expected), "{result}");
    }
    assert!(!project.path("owned").exists(), "nothing was run");
}

#[test]
fn a_draft_that_is_broken_afterwards_fails_its_case() {
    let project = Project::new().file("tools/.keep", "").script("bin/deploy.sh", DEPLOY);
    report(&project, &["bin/deploy.sh", "--yes"]);
    let metadata = project.read("tools/deploy.meta.json").replace("--replicas", "--copies");
    std::fs::write(project.path("tools/deploy.meta.json"), metadata).unwrap();
    let tested = Server::command().arg("test").current_dir(project.root()).output().unwrap();
    let printed = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert_eq!(tested.status.code(), Some(1), "{printed}");
    assert!(printed.contains("the command differs") && printed.contains("--copies"), "{printed}");
}

#[test]
fn drafts_are_shown_with_what_is_unsure_and_nothing_is_written_without_a_yes() {
    let project = Project::new()
        .file("tools/.keep", "")
        .script("bin/wrap", "#!/bin/sh\n# Calls docker.\ntouch owned\nexec docker compose \"$@\"\n")
        .script("bin/odd", "#!/usr/bin/ruby\n# Says it in ruby.\nputs ARGV\n");
    let (status, shown, problem) = said(&project, &["bin"]);
    assert_eq!((status, &*problem), (Some(0), ""));
    assert!(
        shown.contains("lacks it passes its words on to `docker`, whose options it does not name"),
        "{shown}"
    );
    assert!(
        shown.contains("unsure its arguments are not understood (scripts in its language are not read)"),
        "{shown}"
    );
    assert!(shown.contains("takes args (list of texts)"), "{shown}");
    assert!(shown.contains("Nothing was written. `--yes` writes 2 files to ROOT/tools."), "{shown}");
    assert!(!project.path("tools/wrap.meta.json").exists() && !project.path("tests").exists());
    assert!(!project.path("owned").exists());
}

const TRICK: &str = "#!/bin/sh
# Tries to trick a reader.
usage() { echo \"Usage: usage.sh $(rm -rf kept) NAME\"; exit 1; }
[ $# -eq 1 ] || usage
echo \"$1\"
";

#[test]
fn files_that_are_no_harmless_scripts_are_left_out_with_a_reason() {
    let outside = Project::new().script("secret.sh", "#!/bin/sh\ntouch owned\n");
    let project = Project::new()
        .file("tools/.keep", "")
        .file("kept", "")
        .script("bin/with space.sh", "#!/bin/sh\n# Prints a word twice.\necho \"$1\" \"$1\"\n")
        .script("bin/same.sh", "#!/bin/sh\n# One of two.\necho\n")
        .script("bin/same.py", "#!/usr/bin/env python3\n\"\"\"The other of two.\"\"\"\n")
        .script("bin/usage.sh", TRICK)
        .script("bin/runs", "#!/bin/sh\n# Runs what it is given.\nexec \"$@\"\n")
        .script("bin/evals", "#!/bin/sh\n# Evaluates it.\neval \"$1\"\n")
        .file("bin/lib.sh", "helper() { echo \"$1\"; }\n")
        .file("bin/plain.sh", "# Not executable.\necho \"$1\"\n")
        .file("bin/README.md", "# Not a script\n")
        .script("bin/huge.sh", &format!("#!/bin/sh\n{}", "echo x\n".repeat(300_000)))
        .script("bin/latin.sh", "");
    std::fs::write(
        project.path("bin/latin.sh"),
        b"#!/bin/sh\n# Gr\xfc\xdft jemanden freundlich.\necho \"$1\"\n",
    )
    .unwrap();
    std::fs::copy("/bin/true", project.path("bin/binary")).unwrap();
    symlink(outside.path("secret.sh"), project.path("bin/out")).unwrap();
    symlink("nowhere", project.path("bin/dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(project.path("bin/pipe.sh")).status().unwrap().success());
    let report = report(&project, &["bin", "--yes"]);
    let left = report["leftOut"].as_array().unwrap();
    let left: Vec<(&str, &str)> =
        left.iter().map(|left| (left["what"].as_str().unwrap(), left["why"].as_str().unwrap())).collect();
    for (what, reason) in [
        ("binary", "is no script"),
        ("out", "outside the folder"),
        ("dangling", "leads nowhere"),
        ("pipe.sh", "no regular file"),
        ("huge.sh", "1048576"),
        ("runs", "runs its words as a command"),
        ("evals", "as a command"),
        ("lib.sh", "only defines functions"),
    ] {
        let is_told = left.iter().any(|(name, why)| *name == what && why.contains(reason));
        assert!(is_told, "{what}: {left:?}");
    }
    assert!(!left.iter().any(|(what, _)| *what == "README.md"), "{left:?}");
    let tools = report["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["latin", "plain", "same-py", "same-sh", "usage", "with-space"]);
    assert_eq!(tool(&report, "plain")["metadata"]["command"], json!(["bash", "./bin/plain.sh", "{arg1}"]));
    assert!(project.path("kept").exists() && !outside.path("owned").exists());
    let mut server = Server::ready(project.root());
    let result = call(&mut server, 1, "with-space", &json!({ "arg1": "a b" }));
    assert_eq!(result["content"][0]["text"], "a b a b");
}

#[test]
fn a_script_on_the_path_or_by_its_name_is_read_and_not_run() {
    let text = "#!/bin/sh\n# Reports something.\ntouch \"$OWNED\"\necho \"$1\"\n";
    let stubs = Project::new().script("my-report", text);
    let project = Project::new().file("tools/.keep", "").script("here.sh", text);
    let owned = project.path("owned");
    for (words, status) in [
        (&["my-report", "--yes"][..], 0),
        (&["here.sh", "--yes"], 0),
        (&["./here.sh"], 0),
        (&["my-report", "sub", "--yes"], 2),
        (&["here.sh", "--as", "scripts"], 0),
    ] {
        let path = format!("{}:{}", stubs.root().display(), std::env::var("PATH").unwrap());
        let output = command(&project, words).env("PATH", path).env("OWNED", &owned).output().unwrap();
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{words:?} {problem}");
        assert!(!owned.exists(), "{words:?}");
    }
    let written: Value = serde_json::from_str(&project.read("tools/my-report.meta.json")).unwrap();
    assert_eq!(written["command"], json!(["my-report", "{arg1}"]));
}

#[test]
fn a_folder_of_scripts_that_is_no_project_names_the_next_step() {
    let folder = Project::new().script("bin/a.sh", "#!/bin/sh\ntouch owned\n");
    let run = |words: &[&str]| {
        let mut command = Server::command();
        command.args(words).current_dir(folder.root()).stdin(Stdio::null());
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
    };
    for words in [
        &["import", "bin"][..],
        &["list"],
        &["--health"],
        &["validate", "--project-root", "."],
        &["new", "bin"],
    ] {
        let printed = run(words);
        assert!(printed.contains("mcp-bash import"), "{words:?}: {printed}");
    }
    let printed = run(&["init"]);
    assert!(printed.contains("mcp-bash import bin"), "{printed}");
    assert!(!folder.path("owned").exists());
}

#[test]
fn a_folder_of_scripts_becomes_a_project_with_tools_after_a_yes() {
    const SCRIPT: &str = "#!/bin/sh\n# Greets.\ntouch owned\n[ $# -eq 1 ] || exit 1\necho \"Hello, $1\"\n";
    let run = |words: &[&str], typed: Option<&str>| {
        let folder = Project::new().script("bin/greet.sh", SCRIPT);
        let mut command = Server::command();
        command.args(words).current_dir(folder.root());
        let (printed, status) = if let Some(typed) = typed {
            Terminal::of_columns(100).run_typing(command, typed)
        } else {
            let output = command.stdin(Stdio::null()).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            (printed + &String::from_utf8_lossy(&output.stderr), output.status.code())
        };
        assert!(!folder.path("owned").exists() && !folder.path("bin/owned").exists(), "{words:?}: {printed}");
        let is_project = |root: &str| folder.path(&format!("{root}server.d/server.meta.json")).exists();
        let has_tool = |root: &str| folder.path(&format!("{root}tools/greet.meta.json")).exists();
        let made = (is_project("") || is_project("bin/"), has_tool("") || has_tool("bin/"));
        (status, made, printed)
    };
    for (words, typed, status, made) in [
        (&["init", "--yes"][..], None, 0, (true, true)),
        (&["init", "--yes", "--no-hello", "--quiet"], None, 0, (true, true)),
        (&["new", "bin", "--yes"], None, 0, (true, true)),
        (&["init"], Some("y\ny\n"), 0, (true, true)),
        (&["new", "bin"], Some("y\ny\ny\n"), 0, (true, true)),
        // Without a yes, nothing is made of the scripts.
        (&["init"], None, 0, (true, false)),
        (&["init"], Some("n\n"), 0, (true, false)),
        (&["init"], Some("y\nn\n"), 0, (true, false)),
        (&["new", "bin"], None, 1, (false, false)),
        (&["new", "bin"], Some("n\n"), 1, (false, false)),
    ] {
        let (found, wrote, printed) = run(words, typed);
        assert_eq!((found, wrote), (Some(status), made), "{words:?} {typed:?}: {printed}");
    }
    let (_, _, printed) = run(&["init"], Some("n\n"));
    assert!(printed.contains("mcp-bash import bin"), "{printed}");
}
