//! No value of a call becomes code, an option or a separate word: attacks on mapped commands, on variables
//! and on imported recipes. Each attack is first shown to work without mcp-bash.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// A mapping, the arguments of a call that would create the file `owned`, and the resulting command line.
struct Attack {
    metadata: Value,
    arguments: Value,
    process: Vec<&'static str>,
    variables: Vec<(&'static str, &'static str)>,
}

fn attack(metadata: Value, value: &'static str, process: &[&'static str]) -> Attack {
    Attack { metadata, arguments: json!({ "x": value }), process: process.to_vec(), variables: Vec::new() }
}

fn by_variable(name: &'static str, value: &'static str, process: &[&'static str]) -> Attack {
    let metadata = json!({ "command": process, "env": { name: "{x}" } });
    Attack { variables: vec![(name, value)], ..attack(metadata, value, process) }
}

const TOUCH: &str = "touch owned";

fn attacks() -> Vec<Attack> {
    let command = |words: Value| json!({ "command": words });
    let javascript = "require('fs').writeFileSync('owned', '')";
    vec![
        attack(command(json!(["sh", "-c", "{x}"])), TOUCH, &["sh", "-c", TOUCH]),
        attack(
            command(json!(["sh", ["-c", "echo {x}"]])),
            "; touch owned",
            &["sh", "-c", "echo ; touch owned"],
        ),
        attack(command(json!(["env", ["sh", "-c", "{x}"]])), TOUCH, &["env", "sh", "-c", TOUCH]),
        attack(command(json!(["env", "-S", "{x}"])), TOUCH, &["env", "-S", TOUCH]),
        attack(command(json!(["env", "--split-string={x}"])), TOUCH, &["env", "--split-string=touch owned"]),
        attack(command(json!(["timeout", "9", "{x...}"])), TOUCH, &["timeout", "9", "touch", "owned"]),
        attack(command(json!(["nice", "sh", ["-c", "{x}"]])), TOUCH, &["nice", "sh", "-c", TOUCH]),
        attack(command(json!(["xargs", "sh", "-c", "{x}"])), TOUCH, &["xargs", "sh", "-c", TOUCH]),
        attack(
            command(json!(["script", "-qc", "{x}", "/dev/null"])),
            TOUCH,
            &["script", "-qc", TOUCH, "/dev/null"],
        ),
        attack(command(json!(["flock", "lock", "-c", "{x}"])), TOUCH, &["flock", "lock", "-c", TOUCH]),
        attack(
            command(json!(["node", "--eval={x}"])),
            javascript,
            &["node", "--eval=require('fs').writeFileSync('owned', '')"],
        ),
        attack(
            command(json!(["python3", ["-c", "{x}"]])),
            "open('owned', 'w')",
            &["python3", "-c", "open('owned', 'w')"],
        ),
        attack(
            command(json!(["awk", "{x}"])),
            "BEGIN { system(\"touch owned\") }",
            &["awk", "BEGIN { system(\"touch owned\") }"],
        ),
        attack(
            command(json!(["sed", "-n", "{x}", "file"])),
            "1e touch owned",
            &["sed", "-n", "1e touch owned", "file"],
        ),
        attack(
            command(json!(["find", "file", "-exec", "sh", "-c", "{x}", ";"])),
            TOUCH,
            &["find", "file", "-exec", "sh", "-c", TOUCH, ";"],
        ),
        attack(
            command(json!(["tar", "-xf", "a.tar", "--to-command={x}"])),
            TOUCH,
            &["tar", "-xf", "a.tar", "--to-command=touch owned"],
        ),
        attack(
            command(json!(["split", "--filter={x}", "file"])),
            TOUCH,
            &["split", "--filter=touch owned", "file"],
        ),
        attack(
            command(json!(["git", "-c", "{x}", "own"])),
            "alias.own=!touch owned",
            &["git", "-c", "alias.own=!touch owned", "own"],
        ),
        attack(
            command(json!(["make", "NAME={x}"])),
            "$(shell touch owned)",
            &["make", "NAME=$(shell touch owned)"],
        ),
        attack(command(json!(["make", "NAME={x}"])), "; touch owned", &["make", "NAME=; touch owned"]),
        attack(
            command(json!(["make", "{x}"])),
            "NAME=$(shell touch owned)",
            &["make", "NAME=$(shell touch owned)"],
        ),
        attack(
            command(json!(["make", "--eval={x}"])),
            "$(shell touch owned)",
            &["make", "--eval=$(shell touch owned)"],
        ),
        attack(json!({ "command": ["sh"], "stdin": "{x}" }), TOUCH, &["sh", "-c", TOUCH]),
        by_variable("MAKEFLAGS", "--eval=$(shell touch owned)", &["make"]),
        by_variable("GNUMAKEFLAGS", "--eval=$(shell touch owned)", &["make"]),
        by_variable("TAR_OPTIONS", "--to-command=touch\\ owned", &["tar", "-xf", "a.tar"]),
        by_variable("PERL5DB", "BEGIN { open(F, '>', 'owned') } sub DB::DB {}", &["perl", "-d", "empty.pl"]),
        by_variable("BASH_ENV", "code.sh", &["bash", "-c", ":"]),
        by_variable("NODE_OPTIONS", "--require=./code.js", &["node", "-e", "0"]),
    ]
}

fn project() -> Project {
    let project = Project::new()
        .file("file", "one\n")
        .file("empty.pl", "1;\n")
        .file("code.sh", "touch owned\n")
        .file("code.js", "require('fs').writeFileSync('owned', '')\n")
        .file("Makefile", "NAME ?= x\nall:\n\t@echo $(NAME)\n");
    let tar = Command::new("tar").args(["-cf", "a.tar", "file"]).current_dir(project.root()).status();
    assert!(tar.unwrap().success());
    project
}

/// Runs the command line unchanged. Returns whether it created the file.
fn owns(process: &[&str], variables: &[(&str, &str)]) -> bool {
    let project = project();
    let mut command = Command::new(process[0]);
    // `make` evaluates its variables with $SHELL, which a login sets and a service may not.
    command.args(&process[1..]).env("SHELL", "/bin/sh").envs(variables.iter().copied());
    command.current_dir(project.root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status().unwrap_or_else(|error| panic!("{process:?}: {error}"));
    project.path("owned").exists()
}

#[test]
fn no_value_in_a_command_is_run() {
    for attack in attacks() {
        // Some of these rely on GNU tools.
        if cfg!(target_os = "linux") {
            assert!(owns(&attack.process, &attack.variables), "{:?} is no attack", attack.process);
        }
    }
    let attacks = attacks();
    let project = attacks.iter().enumerate().fold(project(), |project, (index, attack)| {
        project.file(&format!("tools/t{index}.meta.json"), &attack.metadata.to_string())
    });
    let mut server = Server::ready(project.root());
    for (index, attack) in attacks.iter().enumerate() {
        let mut arguments = attack.arguments.clone();
        if attack.metadata.to_string().contains("{x...}") {
            arguments["x"] = arguments["x"].as_str().unwrap().split(' ').collect();
        }
        let answer = server.ask(
            index as u64,
            "tools/call",
            &json!({ "name": format!("t{index}"), "arguments": arguments }),
        );
        let is_refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
        assert!(is_refused, "{}: {answer}", attack.metadata);
        assert!(!project.path("owned").exists(), "{} ran {}", attack.metadata, attack.arguments);
    }
}

#[test]
fn ordinary_commands_and_values_are_left_alone() {
    let tool = |project: Project, name: &str, metadata: Value| {
        project.file(&format!("tools/{name}.meta.json"), &metadata.to_string())
    };
    let odd = "a b; $(c) 'd' \"e\" `f`";
    let mut project =
        project().file(odd, "two\n").script("own.sh", "#!/bin/sh\nprintf '[%s]' \"$@\" \"$TEXT\"\n");
    for (name, metadata) in [
        ("cat", json!({ "command": ["cat", "--", "{x}"] })),
        ("echo", json!({ "command": ["echo", "--text={x}"] })),
        ("own", json!({ "command": ["./own.sh", "--script={x}", "{x}"], "env": { "TEXT": "{x}" } })),
        (
            "shell",
            json!({ "command": ["sh", "-c", "printf '%s' \"$1$TEXT\"", "sh", "{x}"], "env": { "TEXT": "{x}" } }),
        ),
        ("wrapped", json!({ "command": ["env", "A=1", "timeout", "9", "echo", "{x}"] })),
        ("make", json!({ "command": ["make", "NAME={x}"] })),
        (
            "declared",
            json!({
                "command": ["make", "NAME={x}"],
                "unrestrictedArguments": { "x": "only this team calls it" },
            }),
        ),
        (
            "choice",
            json!({
                "command": ["sed", "-n", "{x}p", "file"],
                "inputSchema": { "required": ["x"], "properties": { "x": { "enum": ["1", "$"] } } },
            }),
        ),
    ] {
        project = tool(project, name, metadata);
    }
    let mut server = Server::ready(project.root());
    for (id, (name, value, expected)) in [
        ("cat", odd, "two".to_owned()),
        ("echo", odd, format!("--text={odd}")),
        ("own", odd, format!("[--script={odd}][{odd}][{odd}]")),
        ("shell", odd, format!("{odd}{odd}")),
        ("wrapped", odd, odd.to_owned()),
        ("make", "Ada", "Ada".to_owned()),
        ("declared", "Ada L", "Ada L".to_owned()),
        ("choice", "$", "one".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let answer =
            server.ask(id as u64, "tools/call", &json!({ "name": name, "arguments": { "x": value } }));
        assert_eq!(answer["result"]["content"][0]["text"], expected, "{name}: {answer}");
    }
    let refused = server.ask(90, "tools/call", &json!({ "name": "make", "arguments": { "x": "Ada L" } }));
    assert!(refused.to_string().contains("letters") || refused.to_string().contains("pattern"), "{refused}");
    let listed = server.ask(91, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let pattern = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["inputSchema"]["properties"]["x"]["pattern"].is_string()
    };
    assert!(pattern("make") && !pattern("declared") && !pattern("cat"), "{listed}");
}

#[test]
fn validate_shows_unrestricted_arguments_with_the_authors_reason() {
    let metadata = json!({
        "description": "Greets",
        "command": ["make", "NAME={x}"],
        "unrestrictedArguments": { "x": "only this team calls it" },
        "annotations": { "destructiveHint": true },
    });
    let project = project().file("tools/greet.meta.json", &metadata.to_string());
    let note = "tools/greet.meta.json - lets `x` hold any text, also where a program may read it as code; its author says: \
                only this team calls it";
    for words in [&["validate", "--strict"][..], &["validate", "-q"]] {
        let output =
            Server::command().args(words).arg("--project-root").arg(project.root()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.contains(&format!("ℹ {note}")), "{said}");
    }
    let refused = json!({ "command": ["sh", ["-c", "echo {x}"]] });
    let project = project.file("tools/bad.meta.json", &refused.to_string());
    let output = Server::command().args(["validate", "--project-root"]).arg(project.root()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("would have `sh` read a value as code"), "{said}");
    assert!(said.contains("say in `unrestrictedArguments` why any text is safe"), "{said}");
}

/// A minimal `just` for these recipes: substitutes values in the text and passes it to a shell.
const JUST: &str = r"#!/usr/bin/env python3
import os, re, shlex, subprocess, sys
name, values = sys.argv[3], sys.argv[4:]
recipes, current = {}, None
for line in open(sys.argv[2]):
    header = re.match(r'(\w+)((?: [*+$]?\w+(?:=\S+)?)*):', line)
    if header:
        current = recipes[header[1]] = (header[2].split(), [])
    elif current:
        current[1].append(line.strip() + '\n')
parameters, body = recipes[name]
known = {}
for parameter, value in zip([p.split('=')[0].lstrip('*+$') for p in parameters], values):
    known[parameter] = value
for parameter in parameters:
    bare, _, default = parameter.partition('=')
    known.setdefault(bare.lstrip('*+$'), known.get(default, default))
def filled(place):
    inner = place[1].strip()
    quoted = re.match(r'quote\((\w+)\)', inner)
    return shlex.quote(known[quoted[1]]) if quoted else known[inner]
text = re.sub(r'\{\{(.*?)\}\}', filled, ''.join(body))
sys.exit(subprocess.run(['bash', '-c', text, name, *values], env={**os.environ, **known}).returncode)
";

const RECIPES: &str = r#"set positional-arguments
a x:
    echo "{{quote(x)}}"
b x:
    echo '{{quote(x)}}'
c $x:
    bash -s <<< "echo $x"
d x y=x:
    echo {{y}}
f x:
    cat <<END
    - {{x}}
    END
g x:
    bash -s <<< "echo $1"
h x:
    #!/usr/bin/env bash
    echo {{x}}
j x:
    eval echo "$1"
k x:
    {{x}}
l x:
    eval "$1"
"#;

const HOSTILE: [&str; 9] = [
    "$(touch owned)",
    "`touch owned`",
    ";touch owned;",
    "'; touch owned; '",
    "\"; touch owned; \"",
    "x\ntouch owned\n",
    "touch owned",
    "a|touch owned",
    "&touch${IFS}owned",
];

#[test]
fn no_value_in_a_recipe_is_run() {
    let stub = Project::new().script("just", JUST);
    let path = format!("{}:{}", stub.root().display(), std::env::var("PATH").unwrap());
    let names = ["a", "b", "c", "d", "f", "g", "h", "j", "k", "l"];
    for name in names {
        let is_run = |value: &&str| {
            let project = Project::new().file("justfile", RECIPES);
            let words = ["--justfile", "justfile", name, value];
            // Through its interpreter: executing a file that was just written may fail with `ETXTBSY`.
            let mut just = Command::new("python3");
            just.arg(stub.path("just"))
                .args(words)
                .current_dir(project.root())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let _ = just.status().expect("python3");
            project.path("owned").exists()
        };
        assert!(HOSTILE.iter().any(is_run), "{name} is no attack");
    }
    let project = Project::new().file("tools/.keep", "").file("justfile", RECIPES);
    assert!(imported(project.root(), &["justfile"], &path).status.success());
    let mut server = Server::ready_with(project.root(), &[("PATH", &path)], "2025-11-25");
    let mut id = 0;
    for name in names {
        for value in HOSTILE {
            id += 1;
            let call = json!({ "name": name, "arguments": { "x": value } });
            let answer = server.ask(id, "tools/call", &call);
            let is_refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
            assert!(is_refused && !project.path("owned").exists(), "{name} {value:?}: {answer}");
        }
    }
    let answer = server.ask(0, "tools/call", &json!({ "name": "a", "arguments": { "x": "feature/x-1" } }));
    assert_eq!(answer["result"]["content"][0]["text"], "feature/x-1", "{answer}");
    // Even without the pattern, the recipe is safe.
    let mut metadata: Value = serde_json::from_str(&project.read("tools/d.meta.json")).unwrap();
    metadata["inputSchema"]["properties"]["x"] = json!({ "type": "string" });
    project.write("tools/d.meta.json", &metadata.to_string());
    let mut server = Server::ready_with(project.root(), &[("PATH", &path)], "2025-11-25");
    for value in HOSTILE {
        let answer = server.ask(1, "tools/call", &json!({ "name": "d", "arguments": { "x": value } }));
        assert!(
            answer["result"]["isError"] == true && !project.path("owned").exists(),
            "{value:?}: {answer}"
        );
    }
    metadata["unrestrictedArguments"] = json!({ "x": "a test opens it", "y": "a test opens it" });
    project.write("tools/d.meta.json", &metadata.to_string());
    let mut server = Server::ready_with(project.root(), &[("PATH", &path)], "2025-11-25");
    server.ask(1, "tools/call", &json!({ "name": "d", "arguments": { "x": ";touch owned;" } }));
    assert!(project.path("owned").exists(), "the explicit word of the author counts");
}

fn imported(root: &Path, words: &[&str], path: &str) -> std::process::Output {
    let mut command = Server::command();
    command.arg("import").args(words).args(["--yes", "--json"]).current_dir(root).env("PATH", path);
    command.stdin(Stdio::null()).output().expect("the binary runs")
}

#[test]
fn no_option_that_runs_something_is_imported() {
    let path = std::env::var("PATH").unwrap();
    for (program, hazards, kept) in [
        (
            "tar",
            &[
                "to-command",
                "info-script",
                "rsh-command",
                "rmt-command",
                "use-compress-program",
                "checkpoint-action",
            ][..],
            "file",
        ),
        ("sort", &["compress-program"], "key"),
        ("split", &["filter"], "separator"),
    ] {
        let project = Project::new().file("tools/.keep", "");
        let report: Value = serde_json::from_slice(
            &imported(project.root(), &[program, "--run-help", "--all-options"], &path).stdout,
        )
        .unwrap();
        let tool = &report["tools"][0];
        assert_eq!(tool["status"], "written", "{report}");
        let properties = tool["metadata"]["inputSchema"]["properties"].as_object().unwrap();
        assert!(properties.contains_key(kept), "{program}: {properties:?}");
        for hazard in hazards {
            assert!(!properties.contains_key(*hazard), "{program} --{hazard}");
        }
    }
}
