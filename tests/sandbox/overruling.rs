//! Who decides: the tool, the default of its project, and the operator's setting above both.

use super::arena::{Arena, Report};
use super::identity::Identity;
use super::outside::Outside;
use serde_json::json;

/// Whether tools with these declarations can read a file outside.
fn reads(server: Option<&str>, environment: &[(&str, &str)], tool: &str) -> bool {
    let outside = Outside::new(Identity::Own);
    let mut arena =
        Arena::new(Identity::Own, &[("off", json!("off")), ("on", json!("on")), ("strict", json!("strict"))]);
    let metadata = json!({
        "description": "An attack",
        "inputSchema": { "type": "object", "properties": { "words": { "type": "array", "items": { "type": "string" } } } },
        "command": ["bin/hostile", "{words...}"],
    });
    arena.project.write("tools/undeclared.meta.json", &metadata.to_string());
    if let Some(default) = server {
        let metadata = json!({ "name": "test", "sandbox": default });
        arena.project.write("server.d/server.meta.json", &metadata.to_string());
    }
    arena.start_with(environment);
    match arena.attack(tool, &format!("read {}", outside.path("home/notes").display())) {
        Ok(report) => report.is_done,
        // A strict sandbox may ask for more than the machine can enforce. Then nothing is run.
        Err(why) if why.contains("cannot enforce its strict sandbox") => false,
        Err(why) => panic!("{server:?}, {environment:?}, {tool}: {why}"),
    }
}

#[test]
fn the_default_of_the_project_holds_for_tools_that_declare_nothing() {
    for (server, tool, can_read) in [
        (None, "undeclared", true),
        (Some("off"), "undeclared", true),
        (Some("on"), "undeclared", false),
        (Some("strict"), "undeclared", false),
        (Some("on"), "off", true),
        (Some("off"), "on", false),
    ] {
        assert_eq!(reads(server, &[], tool), can_read, "{server:?}, {tool}");
    }
}

#[test]
fn the_setting_of_the_operator_overrules_projects() {
    for (setting, tool, can_read) in [
        ("on", "off", false),
        ("on", "undeclared", false),
        ("on", "on", false),
        ("strict", "off", false),
        ("strict", "undeclared", false),
        ("off", "on", true),
        ("off", "strict", true),
    ] {
        let environment = [("MCPBASH_SANDBOX", setting)];
        assert_eq!(reads(None, &environment, tool), can_read, "{setting}, {tool}");
    }
}

#[test]
fn the_command_line_uses_the_same_sandbox() {
    for identity in Identity::all() {
        let outside = Outside::new(identity);
        let arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        let words = json!({ "words": ["read", outside.path("home/notes")] }).to_string();
        for (tool, can_read) in [("off", true), ("on", false)] {
            let output =
                arena.command().args(["call", tool, "--args", &words]).output().expect("the binary runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let report =
                Report::read(&text).unwrap_or_else(|why| panic!("{identity:?}, {tool}: {why} {output:?}"));
            assert_eq!(report.is_done, can_read, "{identity:?}, {tool}: {report:?}");
        }
    }
}
