//! `mcp-bash install --http`: an entry for a server that is running, and variables that a project needs.

use crate::harness::Home;
use serde_json::{Value, json};

const URL: &str = "https://mcp.example.com/mcp";

fn entry(home: &Home, file: &str, key: &str) -> Value {
    let text = home.read(file).unwrap_or_else(|| panic!("no {file}"));
    serde_json::from_str::<Value>(&text).unwrap()[key]["tools-box"].clone()
}

#[test]
fn entries_hold_the_address_and_the_name_of_the_token_variable() {
    let home = Home::new();
    let done = home.run(&["install", "claude-code", "--http", URL, "--token-env", "TEAM_TOKEN"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert_eq!(home.run(&["install", "cursor", "--http", URL]).code, 0);
    let claude = entry(&home, ".claude.json", "mcpServers");
    let header = json!({ "Authorization": "Bearer ${TEAM_TOKEN}" });
    assert_eq!(claude, json!({ "type": "http", "url": URL, "headers": header }));
    assert_eq!(entry(&home, ".cursor/mcp.json", "mcpServers")["url"], URL);
    let again = home.run(&["install", "claude-code", "--http", URL, "--token-env", "TEAM_TOKEN"]);
    assert!(again.code == 0 && again.out.contains("already installed"), "{}", again.out);
    // Another address under the same name is not replaced by accident.
    let other = ["install", "claude-code", "--http", "https://other.example.com/mcp"];
    let refused = home.run(&other);
    assert!(refused.code == 3 && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(home.run(&[&other[..], &["--force"]].concat()).code, 0);
    assert_eq!(entry(&home, ".claude.json", "mcpServers")["url"], "https://other.example.com/mcp");
}

#[test]
fn a_token_is_written_into_no_file() {
    let home = Home::new();
    for (words, code, said) in [
        (
            &["install", "cline", "--http", URL, "--token-env", "TEAM_TOKEN"][..],
            3,
            "token itself in its file",
        ),
        (&["install", "claude-desktop", "--http", URL], 3, "takes no address"),
        (&["install", "cursor", "--http", "mcp.example.com"], 2, "is no address"),
        (&["install", "cursor", "--http", URL, "--env", "A=b"], 2, "cannot be used with"),
        (&["install", "cursor", "--token-env", "X"], 2, "--http"),
    ] {
        let mut command = home.command(words);
        let done = home.said(command.env("TEAM_TOKEN", "s3cret"));
        assert!(done.code == code && done.err.contains(said), "{words:?}: {} {}", done.code, done.err);
        assert!(!done.err.contains("s3cret"));
    }
    assert_eq!(
        home.files("").iter().filter(|file| file.contains("cline") || file.contains(".cursor")).count(),
        0
    );
}

#[test]
fn install_names_the_variables_that_tools_need() {
    let home = Home::new();
    let metadata =
        json!({ "name": "issues", "description": "x", "env": ["ISSUES_TOKEN", { "REGION": "north" }] });
    home.write("tools-box/tools/issues/tool.meta.json", &metadata.to_string());
    home.write("tools-box/tools/issues/tool.sh", "#!/bin/sh\n");
    let done = home.run(&["install", "cursor"]);
    assert!(done.code == 0 && done.err.contains("ISSUES_TOKEN  (for issues)"), "{}", done.err);
    assert!(!done.err.contains("REGION"), "{}", done.err);
    let mut command = home.command(&["install", "cursor"]);
    let done = home.said(command.env("ISSUES_TOKEN", "s3cret"));
    assert_eq!((done.code, &*done.err), (0, ""));
    assert!(!home.read(".cursor/mcp.json").unwrap().contains("s3cret"));
}
