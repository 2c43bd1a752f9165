//! `mcp-bash install --http`: an entry for a server that is running; and its removal.

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
fn vscode_asks_for_the_token() {
    let home = Home::new();
    let file = ".config/Code/User/mcp.json";
    let install = ["install", "vscode", "--http", URL, "--token-env", "TT"];
    let mut command = home.command(&install);
    let done = home.said(command.env("TT", "s3cret"));
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let header = json!({ "Authorization": "Bearer ${input:tools-box-TT}" });
    assert_eq!(entry(&home, file, "servers"), json!({ "type": "http", "url": URL, "headers": header }));
    let text = home.read(file).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let input = json!({
        "type": "promptString",
        "id": "tools-box-TT",
        "description": "TT for the server tools-box",
        "password": true,
    });
    assert_eq!(whole["inputs"], json!([input]), "{text}");
    // What `config` prints is what `install` writes.
    let printed = home.run(&["config", "--client", "vscode", "--http", URL, "--token-env", "TT"]);
    assert_eq!(serde_json::from_str::<Value>(&printed.out).unwrap(), whole);
    let again = home.run(&install);
    assert!(again.code == 0 && again.out.contains("already installed"), "{}", again.out);
    assert_eq!(home.read(file).unwrap(), text);
    assert_eq!(home.run(&["uninstall", "vscode", "--http", URL]).code, 0);
    assert_eq!(home.read(file), None);
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
fn uninstall_removes_the_entry_for_an_address() {
    let home = Home::new();
    let installed = ["install", "cursor", "--http", URL];
    assert_eq!(home.run(&installed).code, 0);
    // The name alone does not say that the entry is ours.
    let refused = home.run(&["uninstall", "cursor"]);
    assert!(refused.code == 3 && refused.err.contains("`--http URL` removes"), "{}", refused.err);
    let refused = home.run(&["uninstall", "cursor", "--http", "https://other.example.com/mcp"]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert_eq!(entry(&home, ".cursor/mcp.json", "mcpServers")["url"], URL);
    let done = home.run(&["uninstall", "cursor", "--http", URL]);
    assert_eq!((done.code, &*done.err), (0, ""));
    assert_eq!(home.read(".cursor/mcp.json"), None);
    // Without names, only files with that address are meant; a project's own entry stays.
    assert_eq!(home.run(&installed).code, 0);
    assert_eq!(home.run(&["install", "kiro"]).code, 0);
    let done = home.run(&["uninstall", "--all", "--http", URL]);
    assert!(done.code == 0 && done.out.contains("Cursor") && !done.out.contains("Kiro"), "{}", done.out);
    assert!(home.read(".kiro/settings/mcp.json").is_some());
}
