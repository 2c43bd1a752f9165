//! `mcp-bash install` and the variables that a project needs: no secret is written into a file.

use crate::harness::{Home, Terminal};
use serde_json::{Value, json};
use std::fs;

const SECRET: &str = "s3cret-of-the-test";
const CURSOR: &str = ".cursor/mcp.json";
const VSCODE: &str = ".config/Code/User/mcp.json";

/// A project whose tool needs a secret, and which needs a region for all tools.
fn home() -> Home {
    let home = Home::new();
    home.write("tools-box/server.d/server.meta.json", r#"{"name": "tools-box", "env": ["REGION"]}"#);
    let metadata =
        json!({ "name": "issues", "description": "x", "env": ["ISSUES_TOKEN", { "FIXED": "north" }] });
    home.write("tools-box/tools/issues/tool.meta.json", &metadata.to_string());
    home.write("tools-box/tools/issues/tool.sh", "#!/bin/sh\n");
    home
}

fn file(home: &Home, path: &str) -> Value {
    let text = home.read(path).unwrap_or_else(|| panic!("no {path}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn assert_no_secret(home: &Home) {
    for path in home.files("") {
        let text = fs::read(home.path(&path)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(SECRET), "{path}");
    }
}

#[test]
fn a_client_without_a_place_for_secrets_gets_none() {
    let home = home();
    let mut command = home.command(&["install", "cursor", "claude-desktop"]);
    let done = home.said(command.env("ISSUES_TOKEN", SECRET));
    assert_eq!(done.code, 0, "{}", done.err);
    for said in [
        "ISSUES_TOKEN  (for issues)",
        "REGION  (for all tools)",
        "Cursor: its file would hold",
        "Write \"secrets\": {\"ISSUES_TOKEN\": \"ISSUES_TOKEN\"} in place of \"env\"",
        "`mcp-bash secret set ISSUES_TOKEN`",
        "Export REGION in server.d/env.sh",
    ] {
        assert!(done.err.contains(said), "{said}: {}", done.err);
    }
    assert!(!done.err.contains("FIXED") && !done.err.contains(SECRET), "{}", done.err);
    assert_eq!(file(&home, CURSOR)["mcpServers"]["tools-box"].get("env"), None);
    assert_no_secret(&home);
    // Values by hand count, and stay.
    let done = home.run(&["install", "cursor", "--env", "REGION=north", "--env", "ISSUES_TOKEN=x"]);
    assert_eq!((done.code, &*done.err), (0, ""));
    let done = home.run(&["install", "cursor"]);
    assert_eq!((done.code, &*done.err), (0, ""));
    assert_eq!(file(&home, CURSOR)["mcpServers"]["tools-box"]["env"]["REGION"], "north");
}

#[test]
fn vscode_asks_for_them_itself() {
    let home = home();
    let before = "{\n\t// mine\n\t\"inputs\": [\n\t\t{ \"id\": \"a\", \"type\": \"promptString\" }, // kept\n\t],\n\t\"servers\": {},\n}\n";
    home.write(VSCODE, before);
    let done = home.run(&["install", "vscode"]);
    assert!(
        done.code == 0 && done.err.contains("VS Code: asks you for ISSUES_TOKEN, REGION"),
        "{}",
        done.err
    );
    let text = home.read(VSCODE).unwrap();
    assert!(text.contains("// mine") && text.contains("// kept"), "{text}");
    for part in [
        "\"ISSUES_TOKEN\": \"${input:tools-box-ISSUES_TOKEN}\"",
        "\"id\": \"tools-box-ISSUES_TOKEN\"",
        "\"description\": \"ISSUES_TOKEN for the server tools-box\"",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let passwords = ["\"password\": true", "\"password\": false"].map(|part| text.matches(part).count());
    assert_eq!(passwords, [1, 1], "{text}");
    let again = home.run(&["install", "vscode"]);
    assert!(again.out.contains("already installed") && again.err.is_empty(), "{}{}", again.out, again.err);
    assert_eq!(home.read(VSCODE).unwrap(), text);
    assert_eq!(home.run(&["uninstall", "vscode"]).code, 0);
    assert_eq!(home.read(VSCODE).unwrap(), before);
    // A new file is removed as a whole.
    fs::remove_dir_all(home.path(".config")).unwrap();
    assert_eq!(home.run(&["install", "vscode"]).code, 0);
    let inputs = file(&home, VSCODE)["inputs"].clone();
    assert_eq!(inputs[0]["id"], "tools-box-ISSUES_TOKEN", "{inputs}");
    assert_eq!(home.run(&["uninstall", "vscode"]).code, 0);
    assert_eq!(home.read(VSCODE), None);
}

#[test]
fn an_input_that_another_server_uses_stays() {
    let home = home();
    assert_eq!(home.run(&["install", "vscode"]).code, 0);
    let text = fs::read_to_string(home.path(VSCODE)).unwrap();
    let mut whole: Value = serde_json::from_str(&text).unwrap();
    whole["servers"]["other"] = json!({ "command": "x", "env": { "T": "${input:tools-box-ISSUES_TOKEN}" } });
    home.write(VSCODE, &whole.to_string());
    assert_eq!(home.run(&["uninstall", "vscode"]).code, 0);
    let left = file(&home, VSCODE);
    assert_eq!(left["inputs"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["inputs"][0]["id"], "tools-box-ISSUES_TOKEN");
    // A file whose inputs are no list is refused.
    let broken = r#"{"inputs": {"a": 1}, "servers": {}}"#;
    home.write(VSCODE, broken);
    assert_eq!(home.run(&["install", "vscode"]).code, 3);
    assert_eq!(home.read(VSCODE).unwrap(), broken);
}

#[test]
fn other_clients_take_them_by_name() {
    let home = home();
    let mut command = home.command(&["install", "gemini", "roo-code", "codex", "claude-code"]);
    let done = home.said(command.env("ISSUES_TOKEN", SECRET).env("REGION", "north"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("Gemini CLI: its entry takes ISSUES_TOKEN, REGION from the client"),
        "{}",
        done.err
    );
    // It passes on everything, and both are set here.
    assert!(!done.err.contains("Claude Code"), "{}", done.err);
    let gemini = file(&home, ".gemini/settings.json");
    let env = json!({ "ISSUES_TOKEN": "$ISSUES_TOKEN", "REGION": "$REGION" });
    assert_eq!(gemini["mcpServers"]["tools-box"]["env"], env);
    let codex = home.read(".codex/config.toml").unwrap();
    assert!(codex.contains("env_vars = [\"ISSUES_TOKEN\", \"REGION\"]"), "{codex}");
    assert_eq!(file(&home, ".claude.json")["mcpServers"]["tools-box"].get("env"), None);
    assert_no_secret(&home);
    // The list of the user stays.
    home.write(
        ".codex/config.toml",
        &fs::read_to_string(home.path(".codex/config.toml")).unwrap().replace("\"REGION\"", "\"MINE\""),
    );
    assert_eq!(home.run(&["install", "codex"]).code, 0);
    let codex = home.read(".codex/config.toml").unwrap();
    assert!(codex.contains("MINE") && codex.contains("REGION"), "{codex}");
}

#[test]
fn at_a_terminal_it_asks_for_what_is_no_secret() {
    let home = home();
    let shown = Terminal::of_columns(100).answer(home.command(&["install", "cursor"]), "north\n");
    assert!(shown.contains("REGION (for all tools): ") && !shown.contains("ISSUES_TOKEN ("), "{shown}");
    assert_eq!(file(&home, CURSOR)["mcpServers"]["tools-box"]["env"], json!({ "REGION": "north" }));
    // With --yes it does not ask, and a value that the client would replace is refused before anything is written.
    let shown = Terminal::of_columns(100).run(home.command(&["install", "kiro", "--yes"]));
    assert!(!shown.contains("REGION (for"), "{shown}");
    let hostile = home.command(&["install", "windsurf"]);
    let (_, code) = Terminal::of_columns(100).run_typing(hostile, "${env:HOME}\n");
    assert_eq!(code, Some(3));
    assert_eq!(home.read(".codeium/windsurf/mcp_config.json"), None);
}

#[test]
fn what_env_sh_exports_is_not_missing() {
    let home = home();
    home.write("tools-box/server.d/env.sh", "export ISSUES_TOKEN=from-a-file REGION=north\n");
    let mut command = home.command(&["install", "cursor"]);
    let done = home.said(command.env("PATH", "/usr/bin:/bin"));
    assert_eq!((done.code, &*done.err), (0, ""));
    assert!(!home.read(CURSOR).unwrap().contains("env"));
}
