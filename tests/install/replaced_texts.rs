//! Texts that clients expand in their entries: no path and no value is expanded silently. It is escaped, or
//! refused.

use crate::harness::{Home, Said};
use mcp_bash_entries::{CLIENTS, Client, Scope};
use serde_json::Value;
use std::fs;

/// Each form of placeholder.
const FORMS: [&str; 9] = [
    "${HOME}",
    "$HOME",
    "${HOME:-x}",
    "${env:HOME}",
    "${workspaceFolder}",
    "{env:HOME}",
    "{file:x}",
    "${{ secrets.HOME }}",
    "{{HOME}}",
];

/// One of each kind, and one that no client expands on the supported systems.
const FOLDERS: [&str; 6] = ["${HOME}", "$HOME", "{env:HOME}", "${{ secrets.HOME }}", "{{HOME}}", "%HOME%~5$"];

/// How a client treats a form, stated a second time: this must not use the table that it checks.
fn refuses(client: &Client, form: &str) -> bool {
    let is_dollar = form.starts_with("$H") || form.starts_with("${");
    match client.name {
        "claude-desktop" | "codex" | "zed" | "cline" | "goose" | "vibe" | "opencode" => false,
        "gemini" | "qwen" | "copilot" => is_dollar,
        "continue" => form.starts_with("${{"),
        "librechat" => form.starts_with("${") || form.starts_with("{{"),
        _ => form.starts_with("${"),
    }
}

fn scope_words(client: &Client) -> Vec<&'static str> {
    match client.files.first().map(|file| file.scope) {
        Some(Scope::Project) => vec!["--scope", "project"],
        _ => Vec::new(),
    }
}

/// All strings of an entry, whatever the format of the file.
fn has_text(text: &str, client: &Client, part: &str) -> bool {
    fn any(value: &Value, part: &str) -> bool {
        match value {
            Value::String(text) => text.contains(part),
            Value::Array(items) => items.iter().any(|item| any(item, part)),
            Value::Object(members) => members.values().any(|member| any(member, part)),
            _ => false,
        }
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) => any(&value, part),
        Err(_) => text.contains(part) || panic!("{}: {text}", client.name),
    }
}

#[test]
fn a_project_path_that_a_client_would_expand_is_escaped_or_refused() {
    let home = Home::new();
    for form in FOLDERS {
        let folder = home.path("odd").join(form);
        fs::create_dir_all(folder.join("server.d")).unwrap();
        fs::write(folder.join("server.d/server.meta.json"), r#"{"name": "odd"}"#).unwrap();
        for client in
            CLIENTS.iter().filter(|client| !client.files.is_empty() && client.name != "visual-studio")
        {
            let before = home.files("");
            let words = [vec!["install", client.name], scope_words(client)].concat();
            let Said { code, out, err } = home.said(home.command(&words).current_dir(&folder));
            if refuses(client, form) {
                assert_eq!((code, &*out), (3, ""), "{} {form}", client.name);
                let told = format!(
                    ", which {} may replace, and {0} has no escape for it; give the folder another name",
                    client.title
                );
                assert!(err.contains(&told) && err.contains(form), "{err}");
                assert_eq!(home.files(""), before, "{}", client.name);
            } else {
                assert_eq!((code, &*err), (0, ""), "{} {form}", client.name);
                let made = home.files("").into_iter().find(|file| !before.contains(file)).unwrap();
                let text = home.read(&made).unwrap();
                assert!(has_text(&text, client, form), "{} {form}: {text}", client.name);
                if client.name == "opencode" {
                    assert!(!text.contains("{env:") && !text.contains("{file:"), "{text}");
                }
                let words = [vec!["uninstall", client.name], scope_words(client)].concat();
                assert_eq!(home.said(home.command(&words).current_dir(&folder)).code, 0);
                assert_eq!(home.files(""), before, "{} {form}", client.name);
            }
        }
    }
}

#[test]
fn a_value_that_a_client_would_expand_is_escaped_or_refused_and_not_shown() {
    let home = Home::new();
    for form in FORMS {
        let variable = format!("SECRET=s3cret{form}");
        for client in CLIENTS {
            let words = ["config", "--client", client.name, "--env", &variable];
            let Said { code, out, err } = home.run(&words);
            if refuses(client, form) {
                assert_eq!((code, &*out), (3, ""), "{} {form}", client.name);
                assert!(
                    err.starts_with("mcp-bash: the value of SECRET contains `") && !err.contains("s3cret"),
                    "{err}"
                );
            } else {
                assert_eq!((code, &*err), (0, ""), "{} {form}", client.name);
                assert!(has_text(&out, client, form), "{} {form}: {out}", client.name);
            }
        }
    }
    // With all clients at once, those that would expand it are left out, with the reason.
    let Said { code, out, err } = home.run(&["config", "--env", "K=${HOME}"]);
    assert!(code == 0 && out.contains("# Codex") && !out.contains("# Claude Code"), "{out}");
    assert!(err.contains("Claude Code is left out: the value of K contains `${…}`"), "{err}");
    let Said { code, err, .. } = home.run(&["config", "--link", "cursor", "--env", "K=${HOME}"]);
    assert!(code == 3 && err.contains("which Cursor may replace"), "{err}");
}

#[test]
fn opencode_keeps_the_references_of_its_owner_and_escapes_ours() {
    let home = Home::new();
    let path = ".config/opencode/opencode.json";
    assert_eq!(home.run(&["install", "opencode", "-q", "--env", "K=a{env:X}"]).code, 0);
    let text = home.read(path).unwrap();
    assert!(text.contains(r#""K": "a\u007benv:X}""#), "{text}");
    // Updated, it stays a literal text.
    let older = text.replace("PROGRAM", "/old/mcp-bash");
    home.write(path, &older.replace("HOME/", &format!("{}/", home.root().display())));
    assert_eq!(home.run(&["install", "opencode", "-q"]).code, 0);
    assert_eq!(home.read(path).unwrap(), text);
    // A reference that the user wrote stays; an entry with both the user's and ours is refused.
    let with_theirs = text.replace(r"\u007benv:X}", "{env:X}").replace("PROGRAM", "/old/mcp-bash");
    home.write(path, &with_theirs.replace("HOME/", &format!("{}/", home.root().display())));
    assert_eq!(home.run(&["install", "opencode", "-q"]).code, 0);
    assert!(home.read(path).unwrap().contains(r#""K": "a{env:X}""#));
    let Said { code, err, .. } = home.run(&["install", "opencode", "-q", "--env", "L={env:Y}"]);
    assert!(code == 3 && err.contains("cannot be changed safely"), "{err}");
}

#[test]
fn an_address_or_a_token_that_a_client_would_expand_is_refused() {
    let home = Home::new();
    for (client, url) in [
        ("claude-code", "https://h/${X}"),
        ("gemini", "https://h/$X"),
        ("goose", "https://h/$X"),
        ("opencode", "https://h/{env:X}"),
        ("continue", "https://h/${{secrets.X}}"),
        ("librechat", "https://h/{{X}}"),
    ] {
        let Said { code, out, err } = home.run(&["config", "--client", client, "--http", url]);
        assert_eq!((code, &*out), (3, ""), "{client}");
        assert!(err.contains(url) && err.contains("write it with percent signs"), "{err}");
    }
    let mut command =
        home.command(&["config", "--client", "cursor", "--http", "https://h/mcp", "--token-env", "T"]);
    let Said { code, out, err } = home.said(command.env("T", "s3cret${X}"));
    assert_eq!((code, &*out), (3, ""));
    assert!(
        err.contains("the token contains `${…}`, which Cursor may replace") && !err.contains("s3cret"),
        "{err}"
    );
}
