//! `audit show`, `audit head` and `audit verify`.

use super::{Audited, audit};
use crate::harness::Project;
use serde_json::json;
use std::fs;

fn recorded() -> Audited {
    let audited = Audited::new(Project::with_hi().tool("bad", "#!/bin/sh\nexit 1\n"));
    let mut server = audited.start(&[]);
    for (id, tool) in [(1, "hi"), (2, "bad"), (3, "hi")] {
        server.ask_past_news(id, "tools/call", &json!({ "name": tool }));
    }
    server.finish();
    audited
}

#[test]
fn records_are_shown_by_tool_caller_outcome_and_time() {
    let audited = recorded();
    let log = audited.log();
    let show = |arguments: &[&str]| {
        let said = audit(&[&["show", log.to_str().unwrap()], arguments].concat());
        assert_eq!(said.code, 0, "{said:?}");
        said.out
    };
    assert_eq!(show(&[]).lines().count(), 5, "with the start and the end of the server");
    assert_eq!(show(&["--tool", "hi"]).lines().count(), 2);
    assert_eq!(show(&["--outcome", "failure", "--since", "1h"]).lines().count(), 1);
    assert_eq!(show(&["--until", "2020-01-01"]), "");
    assert_eq!(show(&["--caller", "nobody-of-this-name"]), "");
    let json = show(&["--tool", "bad", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(record["outcome"], "failure");
    assert!(show(&["--tool", "bad"]).contains("mcp.tools.call  bad  "), "{}", show(&["--tool", "bad"]));
    let wrong = audit(&["show", log.to_str().unwrap(), "--since", "yesterday"]);
    assert!(wrong.code == 2 && wrong.err.contains("2026-01-31"), "{wrong:?}");
}

#[test]
fn a_head_that_was_kept_finds_a_cut_or_rewritten_log() {
    let audited = recorded();
    let log = audited.log();
    let path = log.to_str().unwrap();
    let head = audit(&["head", path]).out;
    let head = head.trim();
    let verify = |arguments: &[&str]| audit(&[&["verify", path], arguments].concat());
    assert_eq!(verify(&["--head", head]).code, 0);
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&log, format!("{}\n", lines[..3].join("\n"))).unwrap();
    assert_eq!(verify(&[]).code, 0, "the log itself cannot show it");
    let said = verify(&["--head", head]);
    assert!(said.code == 1 && said.err.contains("the end was cut off"), "{said:?}");
    fs::write(&log, format!("{}\n", [lines[0], lines[2], lines[1]].join("\n"))).unwrap();
    let said = verify(&[]);
    assert!(said.code == 1 && said.err.contains("audit.jsonl:2: record 2 is missing"), "{said:?}");
    fs::write(&log, text.replacen("\"hi\"", "\"ho\"", 1)).unwrap();
    let said = verify(&[]);
    assert!(said.code == 1 && said.err.contains("audit.jsonl:2: record 2 was changed"), "{said:?}");
    let said = verify(&["--head", "12"]);
    assert!(said.code == 2 && said.err.contains("audit head"), "{said:?}");
}

#[test]
fn a_log_that_is_not_named_or_not_there_is_an_error() {
    let said = audit(&["verify"]);
    assert!(said.code == 2 && said.err.contains("MCPBASH_AUDIT"), "{said:?}");
    let said = audit(&["show", "/nonexistent/audit.jsonl"]);
    assert!(said.code == 2 && said.err.contains("there is no audit log"), "{said:?}");
}
