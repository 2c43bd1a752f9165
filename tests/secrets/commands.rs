//! The commands about secrets: set, list, check and remove; and what `doctor`, `health`, `validate` and `install` say.

use crate::harness::{Home, Said};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const VALUE: &str = "a-value-to-keep";

/// A home whose project needs the secrets `planted` and `other`.
fn home() -> Home {
    let home = Home::new();
    home.write("tools-box/tools/uses/tool.sh", "#!/bin/sh\necho \"${#TOKEN}\"\n");
    fs::set_permissions(home.path("tools-box/tools/uses/tool.sh"), fs::Permissions::from_mode(0o755))
        .unwrap();
    home.write(
        "tools-box/tools/uses/tool.meta.json",
        r#"{"name": "uses", "description": "Uses two", "secrets": {"TOKEN": "planted", "OTHER": "other"}}"#,
    );
    home
}

fn set(home: &Home, name: &str, value: &str) -> Said {
    let mut command = home.command(&["secret", "set", name]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = |bytes: &[u8]| home.shown(&String::from_utf8_lossy(bytes));
    Said { code: output.status.code().unwrap(), out: shown(&output.stdout), err: shown(&output.stderr) }
}

#[test]
fn a_secret_is_kept_listed_checked_and_removed() {
    let home = home();
    let kept = set(&home, "planted", &format!("{VALUE}\n"));
    assert_eq!(
        (kept.code, kept.out.as_str()),
        (0, "Keeping `planted` in HOME/.config/mcp-bash/secrets.json\n"),
        "{kept:?}"
    );
    let mode = fs::metadata(home.path(".config/mcp-bash/secrets.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = home.run(&["secret", "list"]);
    assert!(
        listed.out.contains("planted  stored by `mcp-bash secret set` (used by tool uses)"),
        "{listed:?}"
    );
    assert!(
        listed.out.contains("other    NOT AVAILABLE: the secret `other` is missing: no variable OTHER"),
        "{listed:?}"
    );
    let json: Value = serde_json::from_str(&home.run(&["secret", "list", "--json"]).out).unwrap();
    assert_eq!(
        (&json[0]["present"], &json[1]["present"]),
        (&Value::Bool(true), &Value::Bool(false)),
        "{json}"
    );
    let checked = home.run(&["secret", "check"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.err.contains("mcp-bash secret set other"), "{checked:?}");
    assert_eq!(home.run(&["secret", "check", "planted"]).code, 0);
    let wrong = home.run(&["secret", "check", "plantd"]);
    assert!(wrong.code == 5 || wrong.err.contains("planted"), "{wrong:?}");
    for said in [kept, listed, checked] {
        assert!(!format!("{said:?}").contains(VALUE), "{said:?}");
    }
    assert_eq!(home.run(&["secret", "remove", "planted"]).code, 0);
    let again = home.run(&["secret", "remove", "planted"]);
    assert!(again.code != 0 && again.err.contains("has no secret `planted`"), "{again:?}");
}

#[test]
fn values_that_could_not_be_hidden_are_not_kept() {
    let home = home();
    for (value, said) in [("short", "at least 8"), ("", "it is empty"), ("nul\0inside-it", "NUL")] {
        let refused = set(&home, "planted", value);
        assert!(refused.code == 2 && refused.err.contains(said), "{refused:?}");
    }
    let named = set(&home, "../escape", VALUE);
    assert!(named.code == 2 && named.err.contains("letters, digits"), "{named:?}");
    assert_eq!(home.files(".config/mcp-bash"), Vec::<String>::new());
    let on_the_line = home.run(&["secret", "set", "planted", VALUE]);
    assert_eq!(on_the_line.code, 2, "{on_the_line:?}");
}

#[test]
fn other_commands_say_which_secrets_are_missing_and_how_to_set_them() {
    let home = home();
    set(&home, "planted", VALUE);
    for command in [vec!["health"], vec!["validate"], vec!["doctor"], vec!["doctor", "--json"]] {
        let mut run = home.command(&command);
        run.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let said = home.said(&mut run);
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains("the secret `other` is missing"), "{command:?}: {all}");
        assert!(!all.contains("`planted` is missing") && !all.contains(VALUE), "{command:?}: {all}");
    }
    let mut install = home.command(&["install", "cursor", "--yes"]);
    install.env("PLANTED", "x").env("OTHER", "in-this-shell-only");
    let installed = home.said(&mut install);
    let all = format!("{}{}", installed.out, installed.err);
    assert!(
        all.contains("is in the variable OTHER of this shell") && all.contains("mcp-bash secret set other"),
        "{all}"
    );
    for file in home.files("") {
        let text = fs::read(home.path(&file)).unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("in-this-shell-only"), "{file}");
        assert!(file == ".config/mcp-bash/secrets.json" || !text.contains(VALUE), "{file}");
    }
}
