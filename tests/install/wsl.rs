//! `mcp-bash install --windows`, inside WSL: entries for clients on Windows, which start the server with `wsl.exe`.

use crate::harness::{Home, Said};
use serde_json::{Value, json};

const FILE: &str = "Users/ann/AppData/Roaming/Claude/claude_desktop_config.json";

/// A home folder on Linux, in which the disk of Windows is mounted.
fn home() -> Home {
    let home = Home::new();
    std::fs::create_dir_all(home.path("Users/ann/AppData/Roaming/Claude")).unwrap();
    home
}

fn run(home: &Home, distribution: Option<&str>, words: &[&str]) -> Said {
    let mut command = home.command(words);
    command.env_remove("WSL_DISTRO_NAME").envs(distribution.map(|name| ("WSL_DISTRO_NAME", name)));
    home.said(&mut command)
}

#[test]
fn a_client_on_windows_gets_an_entry_that_enters_the_distribution() {
    let home = home();
    let windows = format!("--windows={}", home.path("Users/ann").display());
    let words = ["install", "claude-desktop", &windows, "--env", "TOKEN=abc"];
    let said = run(&home, Some("Debian"), &words);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    assert!(said.out.contains(FILE), "{}", said.out);
    let text = home.read(FILE).expect("the file of the client");
    let entry = &serde_json::from_str::<Value>(&text).expect("JSON")["mcpServers"]["tools-box"];
    assert_eq!(entry["command"], "wsl.exe");
    assert_eq!(
        entry["args"],
        json!(["--distribution", "Debian", "--exec", "PROGRAM", "--project-root", "HOME/tools-box"])
    );
    assert_eq!(entry["env"], json!({ "TOKEN": "abc", "WSLENV": "TOKEN" }));
    assert!(run(&home, Some("Debian"), &words).out.contains("is already installed"));
    let said = run(&home, Some("Debian"), &["uninstall", "claude-desktop", &windows]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(home.read(FILE).is_none_or(|text| !text.contains("tools-box")));
}

#[test]
fn outside_wsl_or_for_a_project_nothing_is_written() {
    let home = home();
    let windows = format!("--windows={}", home.path("Users/ann").display());
    let nowhere = format!("--windows={}", home.path("Users/eve").display());
    for (distribution, words, expected) in [
        (None, ["install", "claude-desktop", &windows, "-q"], "WSL_DISTRO_NAME"),
        (Some("Debian"), ["install", "cursor", &windows, "--scope=project"], "leave out --scope"),
        (Some("Debian"), ["install", "claude-desktop", &nowhere, "-q"], "Users/eve is no home folder"),
        (Some("Debian"), ["uninstall", "claude-desktop", &nowhere, "-q"], "Users/eve is no home folder"),
    ] {
        let said = run(&home, distribution, &words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.err);
        assert!(said.err.contains(expected), "{words:?}: {}", said.err);
        assert_eq!(home.read(FILE), None);
    }
}
