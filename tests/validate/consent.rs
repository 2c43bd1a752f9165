//! Destructive tools without a word about consent: found if the project asks for it.

use super::validate;
use crate::harness::Project;

const DESTRUCTIVE: &str = r#""annotations": {"destructiveHint": true}"#;

fn project(of_server: &str, of_tool: &str) -> Project {
    Project::new()
        .file("server.d/server.meta.json", &format!(r#"{{"name": "p"{of_server}}}"#))
        .script("tools/wipe/tool.sh", "#!/bin/sh\necho wiped\n")
        .file(
            "tools/wipe/tool.meta.json",
            &format!(r#"{{"name": "wipe", "description": "Wipes", {of_tool}}}"#),
        )
}

#[test]
fn a_project_that_decides_by_tool_learns_which_tools_do_not() {
    let declared = r#", "confirm": "declared""#;
    let (code, said) = validate(&project(declared, DESTRUCTIVE), &["--strict"]);
    assert_ne!(code, 0, "{said}");
    assert!(said.contains("`wipe` may destroy something, and nothing about `confirm`"), "{said}");
    for (of_server, of_tool) in [
        ("", DESTRUCTIVE.to_owned()),
        (r#", "confirm": "destructive""#, DESTRUCTIVE.to_owned()),
        (declared, format!(r#"{DESTRUCTIVE}, "confirm": true"#)),
        (declared, format!(r#"{DESTRUCTIVE}, "confirm": false"#)),
        (declared, r#""annotations": {"readOnlyHint": true}"#.to_owned()),
    ] {
        let (code, said) = validate(&project(of_server, &of_tool), &["--strict"]);
        assert_eq!(code, 0, "{of_server} {of_tool}: {said}");
    }
}
