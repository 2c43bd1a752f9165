//! `mcp-bash policy`, and what `validate` and `health` report of a policy.

use crate::harness::{Project, Server};
use serde_json::Value;
use std::process::Output;

const META: &str = r#"{"name": "hi", "description": "Greets", "_meta": {"tags": ["greeting"]}, "inputSchema":
  {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}}"#;

const POLICY: &str = r#"version: 1
default: deny
rules:
  - name: large
    when: args.n > 10
    deny: At most 10, not {args.n}.
  - name: dev
    when: |
      "dev" in caller.groups &&
      now.getHours("Europe/Berlin") >= 8 && caller.claims.team == "a"
    allow: true
  - name: hide
    when: '"greeting" in tool.tags'
    redact: [/secret]
"#;

fn project(policy: &str) -> Project {
    Project::with_hi().file("tools/hi/tool.meta.json", META).file("server.d/policy.yaml", policy)
}

fn run(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        Server::command().args(words).current_dir(project.root()).output().unwrap();
    (status.code(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

#[test]
fn check_lists_the_rules_or_the_mistakes() {
    let (code, text) = run(&project(POLICY), &["policy", "check"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("deny     large") && text.contains("deny     everything else"), "{text}");
    let (_, text) = run(&project(POLICY), &["policy", "check", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["rules"][2]["kinds"], serde_json::json!(["tool"]), "{text}");

    let wrong =
        project("version: 1\ndefault: allow\nrules:\n  - when: args.x = 1\n    allow: true\n  - deny: ''\n");
    let (code, text) = run(&wrong, &["policy", "check"]);
    assert_eq!((code, text.lines().count()), (Some(1), 2), "{text}");
    assert!(text.contains("policy.yaml:4:18"), "{text}");
    for command in ["validate", "health"] {
        let (code, text) = run(&wrong, &[command]);
        assert_eq!(code, Some(1), "{command}: {text}");
        assert!(text.contains("policy.yaml") && text.contains("compare with `==`"), "{command}: {text}");
    }
    let none = Project::with_hi();
    assert_eq!(run(&none, &["policy", "check"]).0, Some(0));
    assert_eq!(run(&none, &["policy", "explain", "hi"]).0, Some(0));
}

#[test]
fn explain_shows_each_rule_with_the_values_that_decided() {
    let project = project(POLICY);
    let (code, text) = run(&project, &["policy", "explain", "hi", "n=11"]);
    assert_eq!(code, Some(3), "{text}");
    for part in [
        "large (deny, line 4) matches",
        "args.n = 11",
        "dev (allow, line 7) is not reached",
        "deny: At most 10, not 11.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let bob = ["policy", "explain", "hi", "--as", "bob", "--group", "dev", "--claim", "team=a", "--at"];
    let at = |time: &'static str| run(&project, &[&bob[..], &[time]].concat());
    let (code, text) = at("2026-07-01T06:00:00Z");
    assert_eq!(code, Some(0), "{text}");
    for part in ["args.n = 1", "caller.groups = [\"dev\"]", "allow, and redact the result"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(at("2026-07-01T05:00:00Z").0, Some(3));
    assert_eq!(at("yesterday").0, Some(2));
    let (code, text) =
        run(&project, &["policy", "explain", "hi", "--group", "dev", "--at", "2026-07-01T06:00:00Z"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("dev (allow, line 7) fails") && text.contains("there is no `team`"), "{text}");
    let (_, text) = run(&project, &["policy", "explain", "hi", "n:=3", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["rules"][0]["values"]["args.n"], "3", "{text}");
    assert_eq!(report["decision"], "deny");
}

#[test]
fn explain_refuses_what_makes_no_sense_and_runs_nothing() {
    let project = project(POLICY).file("server.d/policy.sh", "touch asked\n");
    for (words, code, part) in [
        (&["nope"][..], 4, "nope"),
        (&["hi", "m=1"], 2, "has no argument `m`"),
        (&["hi", "n=x"], 2, "takes"),
        (&[], 2, "name a tool"),
        (&["--resource", "a://b", "x=1"], 2, "takes no arguments"),
        (&["--resource", "a://b"], 3, "no rule of server.d/policy.yaml allows it"),
        (&["hi", "n=11"], 3, "server.d/policy.sh is asked before"),
    ] {
        let (found, text) = run(&project, &[&["policy", "explain"], words].concat());
        assert_eq!(found, Some(code), "{words:?}: {text}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
    assert!(!project.path("asked").exists());
}
