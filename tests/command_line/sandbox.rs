//! `mcp-bash sandbox`, and what `doctor`, `health` and `validate` report of sandboxes.

use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::process::{Command, Output};

/// A project with one tool, whose metadata has this `sandbox`.
fn project(sandbox: &str) -> Project {
    let metadata = format!(r#"{{"name":"hi","description":"Greets","sandbox":{sandbox}}}"#);
    Project::with_hi().file("tools/hi/tool.meta.json", &metadata)
}

fn run(project: &Project, words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Server::command();
    command.args(words).current_dir(project.root()).envs(environment.iter().copied());
    command.output().unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn promise<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mut promises = report["promises"].as_array().unwrap().iter();
    promises.find(|promise| promise["promise"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"))
}

/// The state that the trials of a promise show.
fn shown_by_trials(promise: &Value) -> &'static str {
    let trials = promise["trials"].as_array().unwrap();
    let tested: Vec<&Value> = trials.iter().filter(|trial| !trial["confined"].is_null()).collect();
    let open = tested.iter().filter(|trial| trial["confined"] == "done").count();
    match (tested.len(), open) {
        (0, _) => "untested",
        (_, 0) => "enforced",
        (all, open) if all == open => "not",
        _ => "partly",
    }
}

#[test]
fn everything_that_a_sandbox_promises_is_tried_and_nothing_is_left_behind() {
    let home = Project::new().file("tmp/.keep", "");
    let temporary = home.path("tmp").display().to_string();
    let output = run(&home, &["sandbox", "status", "--json"], &[("TMPDIR", &temporary)]);
    let report = json_of(&output);
    let promises = report["promises"].as_array().unwrap();
    assert!(promises.len() >= 14, "{report:#}");
    for promise in promises {
        assert_eq!(promise["state"], shown_by_trials(promise), "{promise:#}");
        let is_short = promise["state"] == "not" || promise["state"] == "partly";
        assert_eq!(is_short, promise["fix"].is_string(), "{promise:#}");
        assert!(!is_short || promise["why"].is_string(), "{promise:#}");
    }
    let has_open = promises.iter().any(|promise| promise["state"] == "not");
    assert_eq!(output.status.code(), Some(i32::from(has_open)), "{report:#}");
    let is_available = |name: &str| {
        let mechanisms = report["mechanisms"].as_array().unwrap().iter();
        mechanisms.clone().any(|one| one["name"] == name && one["isAvailable"] == true)
    };
    if is_available("landlock") {
        for name in ["files: no reading outside", "files: no writing outside", "/proc of other processes"] {
            assert_eq!(promise(&report, name)["state"], "enforced", "{report:#}");
        }
    }
    if is_available("seccomp") {
        for name in ["network: no IPv4", "network: no UDP", "system calls: dangerous ones"] {
            assert_eq!(promise(&report, name)["state"], "enforced", "{report:#}");
        }
    }
    for name in ["limit of memory", "limit of processor time", "limit of open files", "limit of file sizes"] {
        assert_eq!(promise(&report, name)["state"], "enforced", "{report:#}");
    }
    if is_root() {
        let processes = promise(&report, "limit of processes");
        assert_eq!(processes["state"], "not", "{processes:#}");
        assert!(processes["fix"].as_str().unwrap().contains("other than root"), "{processes:#}");
    }
    let left: Vec<_> =
        std::fs::read_dir(home.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".keep"]);
}

#[test]
fn the_table_for_people_names_state_mechanism_and_fix() {
    let output = run(&Project::new(), &["sandbox", "status"], &[]);
    let text = text_of(&output);
    assert!(text.contains("Mechanisms of this machine") && text.contains("Promises of a sandbox"), "{text}");
    assert!(
        text.lines().any(|line| line.contains("limit of open files") && line.contains("enforced")),
        "{text}"
    );
    assert!(text.trim_end().lines().last().unwrap().contains(" enforced, "), "{text}");
    if is_root() {
        assert!(text.contains("or run it as a user other than root"), "{text}");
    }
}

#[test]
fn the_operator_does_not_decide_what_a_machine_enforces() {
    let states = |environment: &[(&str, &str)]| {
        let report = json_of(&run(&Project::new(), &["sandbox", "status", "--json"], environment));
        let promises = report["promises"].as_array().unwrap().iter();
        promises.map(|promise| promise["state"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(states(&[("MCPBASH_SANDBOX", "off")]), states(&[]));
}

#[test]
fn what_fails_without_a_sandbox_too_is_no_proof() {
    let program = env!("CARGO_BIN_EXE_mcp-bash");
    // 1 MiB, in units of 512 bytes: the probe of large files fails before any sandbox.
    let line = format!("ulimit -f 2048; exec '{program}' sandbox status --json");
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    let report = json_of(&output);
    let sizes = promise(&report, "limit of file sizes");
    assert_eq!(sizes["state"], "untested", "{sizes:#}");
    assert!(sizes["why"].as_str().unwrap().starts_with("not possible without a sandbox either"), "{sizes:#}");
    assert_eq!(sizes["trials"][0]["confined"], Value::Null);
}

#[test]
fn a_probe_of_nothing_fails_with_words() {
    let output = run(&Project::new(), &["__probe", "fly"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text_of(&output), "there is no such trial\n");
}

#[test]
fn show_tells_what_a_tool_may_do_and_who_decided_it() {
    let project = project(
        r#"{"read":["project"],"write":["tmp","project/out"],"network":["example.org:443"],"memory":"512M"}"#,
    )
    .file("out/.keep", "")
    .tool("free", "#!/bin/sh\necho free\n");
    let shown = json_of(&run(&project, &["sandbox", "show", "--json"], &[]));
    let one = |name: &str| shown.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
    let hi = one("hi");
    assert_eq!((&hi["kind"], &hi["mode"], &hi["source"]), (&json!("tool"), &json!("on"), &json!("own")));
    assert_eq!(hi["network"], json!(["example.org:443"]));
    assert_eq!(hi["limits"]["memory"], 512 * 1024 * 1024);
    let out = project.root().canonicalize().unwrap().join("out").display().to_string();
    assert_eq!(hi["write"][1], json!({ "place": "project/out", "paths": [out] }));
    let free = one("free");
    assert_eq!((&free["mode"], &free["source"]), (&json!("off"), &json!("nothing")));
    assert!(free.get("enforced").is_none(), "{free:#}");
    // The operator overrules both.
    let environment = [("MCPBASH_SANDBOX", "on")];
    let shown = json_of(&run(&project, &["sandbox", "show", "free", "--json"], &environment));
    assert_eq!((&shown[0]["mode"], &shown[0]["source"]), (&json!("on"), &json!("operator")), "{shown:#}");
    assert_eq!(shown[0]["network"], "none");
    let environment = [("MCPBASH_SANDBOX", "off")];
    let shown = json_of(&run(&project, &["sandbox", "show", "hi", "--json"], &environment));
    assert_eq!((&shown[0]["mode"], &shown[0]["source"]), (&json!("off"), &json!("operator")), "{shown:#}");
    let text = text_of(&run(&project, &["sandbox", "show"], &[]));
    assert!(text.contains("tool hi: on (its own metadata)") && text.contains("project/out ("), "{text}");
    assert!(text.contains("tool free: off (nothing declares a sandbox)"), "{text}");
}

#[test]
fn show_tells_what_cannot_be_used() {
    let missing = project(r#"{"read":["project","/no/such/folder"]}"#);
    let shown = json_of(&run(&missing, &["sandbox", "show", "--json"], &[]));
    let problem = shown[0]["read"][1]["problem"].as_str().unwrap();
    assert!(problem.contains("`/no/such/folder`") && problem.contains("does not exist"), "{problem}");
    let output = run(&missing, &["sandbox", "show", "hy"], &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `hi`?"), "{output:?}");
    let broken = Project::with_hi().file("server.d/server.meta.json", r#"{"name":"p","sandbox":"onn"}"#);
    let shown = json_of(&run(&broken, &["sandbox", "show", "--json"], &[]));
    assert!(shown[0]["refused"].as_str().unwrap().contains("'onn'"), "{shown:#}");
    assert!(text_of(&run(&broken, &["sandbox", "show"], &[])).contains("tool hi: not run: "));
}

/// The problems of a report that mention a text.
fn problems<'a>(report: &'a Value, list: &str, text: &str) -> Vec<&'a Value> {
    let all = report[list].as_array().unwrap_or_else(|| panic!("{list}: {report:#}")).iter();
    all.filter(|problem| problem.to_string().contains(text)).collect()
}

#[test]
fn doctor_and_health_propose_a_sandbox_where_there_is_none() {
    let project = Project::with_hi();
    let health = json_of(&run(&project, &["health", "--json"], &[]));
    assert_eq!((&health["sandbox"]["confined"], &health["sandbox"]["unconfined"]), (&json!(0), &json!(1)));
    assert!(health["sandbox"]["proposal"].as_str().unwrap().contains("would confine 1 tool"), "{health:#}");
    assert_eq!(health["problems"], json!([]), "a project without a sandbox is healthy");
    let text = text_of(&run(&project, &["doctor"], &[]));
    assert!(text.contains("scripts run without a sandbox"), "{text}");
    assert!(text.contains("run: MCPBASH_SANDBOX=on mcp-bash test"), "{text}");
    let confined = text_of(&run(&project, &["doctor"], &[("MCPBASH_SANDBOX", "on")]));
    assert!(confined.contains("all scripts run in a sandbox: 1 (MCPBASH_SANDBOX=on)"), "{confined}");
    assert!(confined.contains("enforced here: "), "{confined}");
}

#[test]
fn a_sandbox_that_the_operator_turns_off_is_a_warning() {
    let project = project("\"on\"");
    let report = json_of(&run(&project, &["health", "--json"], &[("MCPBASH_SANDBOX", "off")]));
    let found = problems(&report, "problems", "MCPBASH_SANDBOX=off turns all sandboxes off");
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(found[0]["severity"], "warning");
    let report = json_of(&run(&project, &["health", "--json"], &[]));
    assert!(problems(&report, "problems", "MCPBASH_SANDBOX").is_empty(), "{report:#}");
}

#[test]
fn a_missing_folder_is_an_error_here_and_a_warning_to_validate() {
    let project = project(r#"{"write":["project/out"]}"#).tool("other", "#!/bin/sh\necho x\n");
    let output = run(&project, &["health", "--json"], &[]);
    let report = json_of(&output);
    let found = problems(&report, "problems", "project/out");
    assert_eq!((found.len(), output.status.code()), (1, Some(1)), "{report:#}");
    assert_eq!(found[0]["severity"], "error");
    assert!(found[0]["file"].as_str().unwrap().ends_with("tools/hi/tool.sh"), "{report:#}");
    assert!(found[0]["remedy"].as_str().unwrap().contains("create it"), "{report:#}");
    let doctor = json_of(&run(&project, &["doctor", "--json"], &[]));
    assert_eq!(problems(&doctor, "findings", "project/out")[0]["severity"], "error", "{doctor:#}");
    let output = run(&project, &["validate"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    assert!(text_of(&output).contains("`project/out`"), "{}", text_of(&output));
    assert_eq!(run(&project, &["validate", "--strict"], &[]).status.code(), Some(1));
    std::fs::create_dir(project.path("out")).unwrap();
    let report = json_of(&run(&project, &["health", "--json"], &[]));
    assert_eq!(report["problems"], json!([]));
}

#[test]
fn a_default_that_cannot_be_used_is_one_error_with_its_file() {
    for (sandbox, word) in [(r#""onn""#, "onn"), (r#"{"read":["../x"]}"#, "..")] {
        let metadata = format!(r#"{{"name":"p","sandbox":{sandbox}}}"#);
        let project =
            Project::with_hi().tool("two", "#!/bin/sh\n:\n").file("server.d/server.meta.json", &metadata);
        let output = run(&project, &["health", "--json"], &[]);
        let report = json_of(&output);
        let found = problems(&report, "problems", "no script is run");
        assert_eq!((found.len(), output.status.code()), (1, Some(1)), "{report:#}");
        assert_eq!(found[0]["severity"], "error");
        assert!(found[0]["problem"].as_str().unwrap().contains(word), "{report:#}");
        assert!(found[0]["file"].as_str().unwrap().ends_with("server.d/server.meta.json"), "{report:#}");
    }
    // A folder that the default names concerns both tools, and is one problem.
    let metadata = r#"{"name":"p","sandbox":{"read":["/no/such/folder"]}}"#;
    let project =
        Project::with_hi().tool("two", "#!/bin/sh\n:\n").file("server.d/server.meta.json", metadata);
    let report = json_of(&run(&project, &["health", "--json"], &[]));
    assert_eq!(problems(&report, "problems", "/no/such/folder").len(), 1, "{report:#}");
}

#[test]
fn a_home_that_does_not_exist_and_a_strict_sandbox_that_cannot_be_enforced_are_errors() {
    let project = project(r#"{"read":["~/notes"]}"#);
    let report = json_of(&run(&project, &["health", "--json"], &[("HOME", "relative")]));
    let found = problems(&report, "problems", "no home folder");
    assert_eq!(found.len(), 1, "{report:#}");
    assert!(found[0]["remedy"].as_str().unwrap().contains("set HOME"), "{report:#}");
    let strict = self::project(r#"{"mode":"strict","processes":9}"#);
    let report = json_of(&run(&strict, &["health", "--json"], &[]));
    let shown = json_of(&run(&strict, &["sandbox", "show", "--json"], &[]));
    let found = problems(&report, "problems", "cannot enforce its strict sandbox");
    assert_eq!(found.len(), usize::from(shown[0]["refused"].is_string()), "{report:#} {shown:#}");
    assert!(!is_root() || found.len() == 1, "root cannot limit its processes: {report:#}");
}
