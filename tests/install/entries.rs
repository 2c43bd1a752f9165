//! `mcp-bash install` and `uninstall`: their output, their refusals, and that the entry works.

use crate::harness::{Home, Said, Server, Terminal};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

fn said(code: i32, out: &str, err: &str) -> Said {
    Said { code, out: out.to_owned(), err: err.to_owned() }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const CURSOR: &str = ".cursor/mcp.json";
const INSTALLED: &str = "{\n  \"mcpServers\": {\n    \"tools-box\": {\n      \"command\": \"PROGRAM\",\n      \
                         \"args\": [\"--project-root\", \"HOME/tools-box\"]\n    }\n  }\n}\n";

#[test]
fn it_prints_what_it_did_and_the_next_step() {
    let home = Home::new();
    assert_eq!(
        home.run(&["install", "lm-studio", "junie"]),
        said(
            0,
            "LM Studio: installed `tools-box` in HOME/.lmstudio/mcp.json\n  \
             Next: it notices by itself; the server is listed in its settings.\n\
             Junie: installed `tools-box` in HOME/.junie/mcp/mcp.json\n  Next: restart it.\n",
            ""
        )
    );
    assert_eq!(home.read(".lmstudio/mcp.json").as_deref(), Some(INSTALLED));
    assert_eq!(
        home.run(&["install", "lm-studio"]),
        said(0, "LM Studio: `tools-box` is already installed in HOME/.lmstudio/mcp.json\n", "")
    );
    assert_eq!(home.run(&["install", "-q", "cursor"]), said(0, "", ""));
    home.write(
        ".junie/mcp/mcp.json",
        &fs::read_to_string(home.path(".junie/mcp/mcp.json"))
            .unwrap()
            .replace("{\n  \"mcp", "{\n  \"x\": 1,\n  \"mcp"),
    );
    assert_eq!(
        home.run(&["uninstall", "lm-studio", "junie", "kiro"]),
        said(
            0,
            "LM Studio: removed HOME/.lmstudio/mcp.json, which had nothing but `tools-box`\n  \
             Next: it notices by itself; the server is listed in its settings.\n\
             Junie: removed `tools-box` from HOME/.junie/mcp/mcp.json (before: mcp.json.bak)\n  Next: restart it.\n\
             Kiro: `tools-box` is not installed; HOME/.kiro/settings/mcp.json was left as it is\n",
            ""
        )
    );
    assert_eq!(
        home.read(".junie/mcp/mcp.json").as_deref(),
        Some("{\n  \"x\": 1,\n  \"mcpServers\": {}\n}\n")
    );
}

#[test]
fn notes_match_the_scope() {
    let home = Home::new();
    let note = |client: &str, scope: &str| {
        let out = home.run(&["install", client, "--scope", scope]).out;
        out.lines().find_map(|line| line.strip_prefix("  Note: ")).unwrap_or_default().to_owned()
    };
    for (client, scope, told) in [
        (
            "opencode",
            "user",
            "A call may take 60 seconds, and each progress report starts that time again; `timeout`",
        ),
        (
            "claude-code",
            "project",
            "An interactive session asks before it uses a server of a project; `claude -p` uses it",
        ),
        ("continue", "project", "`cn`, its command line, does not read this file: it needs `--scope user`."),
        ("qwen", "user", "Without a user it refuses tools unless the entry has `\"trust\": true`."),
        ("vscode", "user", "Each profile, and each remote machine, has a file of its own."),
        ("zed", "project", "These settings count when you trust the folder."),
    ] {
        let note = note(client, scope);
        assert!(note.contains(told), "{client}: {note}");
    }
    for (client, scope, untrue) in [
        ("claude-code", "user", "project"),
        ("continue", "user", "`cn`"),
        ("amp", "user", "approve"),
        ("codex", "user", "trust"),
        ("copilot", "user", "trust"),
        ("vscode", "project", "profile"),
    ] {
        let note = note(client, scope);
        assert!(!note.contains(untrue), "{client}: {note}");
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let home = Home::new();
    let before = "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": {\"command\": \"y\"}\n  }\n}\n";
    home.write(CURSOR, before);
    let files = home.files("");
    assert_eq!(
        home.run(&["install", "cursor", "--dry-run"]),
        said(
            0,
            "Cursor: would change HOME/.cursor/mcp.json\n {\n   \"a\": 1,\n   \"mcpServers\": {\n\
             -    \"x\": {\"command\": \"y\"}\n+    \"x\": {\"command\": \"y\"},\n+    \"tools-box\": {\n\
             +      \"command\": \"PROGRAM\",\n+      \"args\": [\"--project-root\", \"HOME/tools-box\"]\n+    }\n   }\n }\n",
            ""
        )
    );
    assert_eq!(home.read(CURSOR).as_deref(), Some(before));
    home.run(&["install", "lm-studio"]);
    let shown = home.run(&["uninstall", "lm-studio", "--dry-run"]);
    assert!(shown.out.starts_with("LM Studio: would remove HOME/.lmstudio/mcp.json\n-{\n"), "{}", shown.out);
    assert_eq!(home.files("").len(), files.len() + 1);
}

#[test]
fn without_a_name_it_lists_the_clients_and_changes_nothing() {
    let home = Home::new();
    let nothing = "No client was found on this machine. `mcp-bash install NAME` writes its file in any case; \
                   docs/clients.md has the names.\n";
    assert_eq!(home.run(&["install"]), said(0, nothing, ""));
    assert_eq!(home.run(&["install", "--all"]), said(0, nothing, ""));
    assert_eq!(home.run(&["uninstall"]), said(0, "No client has this project.\n", ""));
    fs::create_dir_all(home.path(".cursor")).unwrap();
    home.write(".codex/config.toml", "");
    home.write("bin/zed", "");
    let files = home.files("");
    let listed = "Found:\n  cursor  HOME/.cursor/mcp.json\n  zed     HOME/.config/zed/settings.json\n  \
                  codex   HOME/.codex/config.toml\n";
    let ask = "mcp-bash: name the clients that you mean, or use --all\n";
    let mut command = home.command(&["install"]);
    command.env("PATH", home.path("bin"));
    assert_eq!(home.said(&mut command), said(2, listed, ask));
    let Said { code, out, .. } = home.run(&["install", "--json"]);
    let cursor =
        json!({ "client": "cursor", "scope": "user", "file": "HOME/.cursor/mcp.json", "installed": false });
    assert_eq!((code, &json_of(&out)["found"][0]), (2, &cursor));
    assert_eq!(home.files(""), files);

    assert_eq!(home.run(&["install", "--all", "-q"]), said(0, "", ""));
    assert!(home.path(CURSOR).exists());
    let listed =
        "This project is installed in:\n  cursor  HOME/.cursor/mcp.json\n  codex   HOME/.codex/config.toml\n";
    assert_eq!(home.run(&["uninstall"]), said(2, listed, ask));
    assert_eq!(home.run(&["uninstall", "--all", "-q"]), said(0, "", ""));
    let mut with_copies =
        [files, vec![".codex/config.toml.bak".into(), ".codex/config.toml.bak2".into()]].concat();
    with_copies.sort();
    assert_eq!(home.files(""), with_copies);
}

#[test]
fn on_a_terminal_it_asks() {
    let home = Home::new();
    for folder in [".cursor", ".kiro", ".junie"] {
        fs::create_dir_all(home.path(folder)).unwrap();
    }
    let answer = |verb: &str, typed: &str| {
        home.shown(&Terminal::of_columns(200).answer(home.command(&[verb]), typed)).replace("\r\n", "\n")
    };
    let shown = answer("install", "\n");
    assert!(
        shown.contains(
            "  kiro    HOME/.kiro/settings/mcp.json\n\nWhich ones? Names, `all`, or nothing to leave it: "
        ),
        "{shown}"
    );
    assert!(!home.path(CURSOR).exists() && !home.path(".kiro/settings/mcp.json").exists());
    let shown = answer("install", "cursor, kiro\n");
    assert!(shown.contains("Kiro: installed `tools-box`"), "{shown}");
    assert!(home.path(CURSOR).exists() && !home.path(".junie/mcp/mcp.json").exists());
    assert!(answer("install", "none\n").contains("cursor  HOME/.cursor/mcp.json  (installed)"));
    let shown = answer("uninstall", "all\n");
    assert!(shown.contains("Cursor: removed HOME/.cursor/mcp.json"), "{shown}");
    assert!(!home.path(".kiro/settings/mcp.json").exists());
}

#[test]
fn a_broken_file_is_refused_and_untouched_and_the_others_are_written() {
    let home = Home::new();
    for (client, path, text, told) in [
        (
            "cursor",
            CURSOR,
            "{\n  \"mcpServers\": {\n    \"a\": }\n}",
            "it is broken at line 3, column 10: a value is expected",
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "{\"mcpServers\": {},}",
            "it is broken at line 1, column 19: there is a comma before the closing brace",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"a\": 1, }",
            "it is broken at line 1, column 10: there is a comma before the closing brace",
        ),
        (
            "claude-code",
            ".claude.json",
            "{} // x",
            "it is broken at line 1, column 4: comments are not allowed here",
        ),
    ] {
        home.write(path, text);
        let refused = format!(
            "mcp-bash: {}: HOME/{path}: {told}; nothing was changed: fix it first\n",
            match client {
                "cursor" => "Cursor",
                "claude-desktop" => "Claude Desktop",
                "gemini" => "Gemini CLI",
                _ => "Claude Code",
            }
        );
        assert_eq!(home.run(&["install", client, "-q"]), said(3, "", &refused));
        assert_eq!(home.run(&["uninstall", client, "-q"]), said(3, "", &refused));
        assert_eq!(home.run(&["install", client, "--force", "--dry-run"]), said(3, "", &refused));
        assert_eq!(home.read(path).as_deref(), Some(text));
        assert_eq!(home.read(&format!("{path}.bak")), None);
    }
    for (client, path, text) in [
        ("codex", ".codex/config.toml", "a = 1\na = 2\n"),
        ("goose", ".config/goose/config.yaml", "extensions:\n  a: [\n"),
        ("continue", ".continue/config.yaml", "a: b: c\n"),
    ] {
        home.write(path, text);
        let Said { code, out, err } = home.run(&["install", client, "kiro"]);
        assert_eq!((code, out.contains("Kiro: ")), (3, true), "{client}");
        assert!(err.contains(&format!("HOME/{path}: it is broken at line ")), "{err}");
        assert!(err.ends_with("; nothing was changed: fix it first\n"), "{err}");
        assert_eq!(home.read(path).as_deref(), Some(text));
    }
    assert!(home.read(".kiro/settings/mcp.json").is_some());
}

#[test]
fn files_that_cannot_be_edited_safely_get_a_snippet_to_paste() {
    let home = Home::new();
    home.write(".codex/config.toml", "mcp_servers = {}\n");
    assert_eq!(
        home.run(&["install", "codex"]),
        said(
            3,
            "",
            "mcp-bash: Codex: HOME/.codex/config.toml: it is written in a way that cannot be changed safely; nothing was \
             changed. Paste this yourself:\n[mcp_servers.tools-box]\ncommand = \"PROGRAM\"\nargs = [\"--project-root\", \
             \"HOME/tools-box\"]\n\n"
        )
    );
    home.write(CURSOR, "{\"mcpServers\": []}");
    let Said { code, err, .. } = home.run(&["install", "cursor"]);
    assert!(
        code == 3
            && err.contains("it has no object where the servers stand; nothing was changed. Paste this"),
        "{err}"
    );
    home.write(CURSOR, "{\"mcpServers\": {}, \"mcpServers\": {}}");
    let Said { code, err, .. } = home.run(&["install", "cursor"]);
    assert!(code == 3 && err.contains("it has `mcpServers` twice; nothing was changed"), "{err}");
}

#[test]
fn a_foreign_entry_stays_unless_forced() {
    let home = Home::new();
    let foreign = "{\"mcpServers\": {\"tools-box\": {\"command\": \"/other\", \"args\": [\"x\"], \"env\": {\"TOKEN\": \"secret\"}}}}";
    home.write(CURSOR, foreign);
    let taken = "mcp-bash: Cursor: HOME/.cursor/mcp.json has a server called `tools-box` that is not this project: /other x";
    let install = format!("{taken}; choose another name with --name, or replace it with --force\n");
    assert_eq!(home.run(&["install", "cursor"]), said(3, "", &install));
    assert_eq!(home.run(&["uninstall", "cursor"]), said(3, "", &format!("{taken}; it was left as it is\n")));
    assert_eq!(home.read(CURSOR).as_deref(), Some(foreign));

    assert_eq!(home.run(&["install", "cursor", "--name", "mine", "-q"]).code, 0);
    let both = json_of(&home.read(CURSOR).unwrap());
    assert_eq!(
        (&both["mcpServers"]["tools-box"]["command"], &both["mcpServers"]["mine"]["command"]),
        (&json!("/other"), &json!("PROGRAM"))
    );
    assert_eq!(home.run(&["uninstall", "cursor", "--name", "mine", "-q"]).code, 0);
    assert_eq!(home.read(CURSOR).as_deref(), Some(foreign));
    assert_eq!(home.run(&["install", "cursor", "--force", "-q"]).code, 0);
    assert_eq!(json_of(&home.read(CURSOR).unwrap())["mcpServers"]["tools-box"]["command"], "PROGRAM");
}

#[test]
fn an_entry_is_brought_up_to_date_and_keeps_what_its_owner_added() {
    let home = Home::new();
    let root = home.path("tools-box");
    let old = json!({ "mcpServers": { "tools-box": {
        "command": "/old/mcp-bash", "env": { "MCPBASH_PROJECT_ROOT": root, "TOKEN": "t" }, "timeout": 90, "disabled": true,
    } } });
    home.write(CURSOR, &old.to_string());
    assert_eq!(home.run(&["install", "cursor", "--env", "LEVEL=a=b", "-q"]), said(0, "", ""));
    let entry = &json_of(&home.read(CURSOR).unwrap())["mcpServers"]["tools-box"];
    let expected = json!({
        "command": "PROGRAM",
        "env": { "MCPBASH_PROJECT_ROOT": "HOME/tools-box", "TOKEN": "t", "LEVEL": "a=b" },
        "timeout": 90, "disabled": true, "args": ["--project-root", "HOME/tools-box"],
    });
    assert_eq!(entry, &expected);
    assert!(home.run(&["install", "cursor"]).out.contains("already installed"));
    let report = json_of(&home.run(&["uninstall", "cursor", "--json"]).out);
    assert_eq!(report["clients"][0]["status"], "uninstalled");
    assert_eq!(home.read(CURSOR).as_deref(), Some("{\"mcpServers\":{}}"));
}

#[test]
fn json_output_is_complete() {
    let home = Home::new();
    home.write(".junie/mcp/mcp.json", "[");
    home.write(".kiro/settings/mcp.json", "{}");
    let Said { code, out, err } = home.run(&["install", "kiro", "junie", "--env", "K=v", "--json"]);
    assert_eq!((code, &*err), (3, ""));
    let file = |client: &str, file: &str, status: &str, more: (&str, &str)| json!({ "client": client, "scope": "user", "file": file, "name": "tools-box", "status": status, more.0: more.1 });
    let junie = "HOME/.junie/mcp/mcp.json";
    let error = format!("{junie}: it is broken at line 1, column 2: it ends too early; nothing was changed");
    assert_eq!(
        json_of(&out),
        json!({
            "name": "tools-box",
            "command": "PROGRAM",
            "args": ["--project-root", "HOME/tools-box"],
            "env": { "K": "v" },
            "clients": [
                file("kiro", "HOME/.kiro/settings/mcp.json", "installed", ("backup", "HOME/.kiro/settings/mcp.json.bak")),
                file("junie", junie, "refused", ("error", &error)),
            ],
        })
    );
}

#[test]
fn invalid_options_are_refused_before_anything_is_written() {
    let home = Home::new();
    let files = home.files("");
    for (words, told) in [
        (
            &["cursor", "curser"][..],
            "there is no client `curser`; did you mean `cursor`? Known are claude-desktop, ",
        ),
        (
            &["cursor", "warp"],
            "Warp has no file for servers: run `mcp-bash config --client warp` and paste it into Settings, MCP servers\n",
        ),
        (
            &["cursor", "windsurf", "--scope", "project"],
            "Windsurf has no file of the scope `project`; use `--scope user`\n",
        ),
        (&["librechat"], "LibreChat has no file of the scope `user`; use `--scope project`\n"),
        (&["visual-studio"], "Visual Studio does not run on this system\n"),
        (
            &["cursor", "gemini", "--name", "a_b"],
            "Gemini CLI takes no `_` in the name of a server: use `a-b`\n",
        ),
        (
            &["cursor", "--name", "a b"],
            "`a b` is no name for a server: letters, digits, `-` and `_` make one, 64 at most\n",
        ),
        (&["cursor", "--env", "x"], "`--env x` is not NAME=VALUE\n"),
        (&["cursor", "--env", "A B=x"], "`--env A B=x` names no variable that a script can read: "),
        (&["cursor", "--env", "7=x"], "`--env 7=x` names no variable that a script can read: "),
    ] {
        let Said { code, out, err } = home.run(&[&["install"], words].concat());
        assert_eq!((code, &*out), (2, ""), "{words:?}");
        assert!(err.starts_with(&format!("mcp-bash: {told}")), "{err}");
        assert_eq!(home.files(""), files, "{words:?}");
    }
    let mut elsewhere = home.command(&["install", "cursor"]);
    let Said { code, err, .. } = home.said(elsewhere.current_dir("/"));
    assert!(code == 2 && err.starts_with("mcp-bash: no project found here"), "{err}");
    let mut homeless = home.command(&["install", "cursor"]);
    let Said { code, err, .. } = home.said(homeless.env("HOME", "relative"));
    assert_eq!(
        (code, &*err),
        (2, "mcp-bash: HOME is not set to an absolute path, so no client's file can be found\n")
    );
}

#[test]
fn links_and_modes_stay_and_non_files_are_refused() {
    let home = Home::new();
    home.write("dotfiles/cursor.json", "{}");
    fs::set_permissions(home.path("dotfiles/cursor.json"), Permissions::from_mode(0o604)).unwrap();
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink("../dotfiles/cursor.json", home.path(CURSOR)).unwrap();
    assert_eq!(home.run(&["install", "cursor", "-q"]).code, 0);
    assert!(home.path(CURSOR).symlink_metadata().unwrap().is_symlink());
    assert_eq!(home.read("dotfiles/cursor.json.bak").as_deref(), Some("{}"));
    let mode = |path: &str| home.path(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("dotfiles/cursor.json"), mode("dotfiles/cursor.json.bak")), (0o604, 0o600));
    home.run(&["install", "junie"]);
    home.run(&["install", "junie", "--scope", "project"]);
    assert_eq!((mode(".junie/mcp/mcp.json"), mode("tools-box/.junie/mcp/mcp.json")), (0o600, 0o644));

    symlink("nowhere", home.path(".lmstudio-link")).unwrap();
    fs::create_dir_all(home.path(".lmstudio")).unwrap();
    symlink("nowhere", home.path(".lmstudio/mcp.json")).unwrap();
    let told = "mcp-bash: LM Studio: HOME/.lmstudio/mcp.json is a link to something that is not there\n";
    assert_eq!(home.run(&["install", "lm-studio"]), said(3, "", told));
    fs::create_dir_all(home.path(".kiro/settings/mcp.json")).unwrap();
    let told = "mcp-bash: Kiro: failed to read HOME/.kiro/settings/mcp.json: it is a directory, not a file\n";
    assert_eq!(home.run(&["install", "kiro"]), said(1, "", told));
    home.write(".codex/config.toml", "");
    fs::set_permissions(home.path(".codex/config.toml"), Permissions::from_mode(0o400)).unwrap();
    let told = "mcp-bash: Codex: HOME/.codex/config.toml is read-only; nothing was changed\n";
    assert_eq!(home.run(&["install", "codex"]), said(3, "", told));
    home.write(".gemini", "a file where a folder should be");
    let Said { code, err, .. } = home.run(&["install", "gemini"]);
    assert!(code == 1 && err.contains("HOME/.gemini/settings.json: "), "{err}");
}

/// Runs the entry as a desktop application would: with almost no environment, in another folder.
fn answers(entry: &Value) {
    let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.args(words).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
    let mut server = Server::spawn(command);
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let answer = server.ask(1, "initialize", &initialize);
    assert_eq!(answer["result"]["serverInfo"]["name"], "tools-box", "{answer}");
}

#[test]
fn an_entry_works_with_a_bare_path_and_in_any_folder_wherever_the_project_is() {
    let home = Home::new();
    for odd in ["with space", "quo\"te's", "line\nbreak", "back\\slash", "é$HOME`x`"] {
        let root = home.path("odd").join(odd);
        fs::create_dir_all(root.join("server.d")).unwrap();
        fs::write(root.join("server.d/server.meta.json"), r#"{"name": "tools-box"}"#).unwrap();
        let mut command = home.command(&["install", "cursor", "codex", "goose", "-q"]);
        assert_eq!(home.said(command.current_dir(&root)), said(0, "", ""), "{odd}");
        let text = fs::read_to_string(home.path(CURSOR)).unwrap();
        let entry = json_of(&text)["mcpServers"]["tools-box"].clone();
        assert_eq!(entry["args"][1].as_str(), root.to_str());
        answers(&entry);
        let mut command = home.command(&["uninstall", "--all", "-q"]);
        assert_eq!(home.said(command.current_dir(&root)), said(0, "", ""), "{odd}");
        assert!(!home.path(CURSOR).exists() && !home.path(".config/goose/config.yaml").exists());
    }
    let root = home.path("odd").join(OsStr::from_bytes(b"\xff"));
    fs::create_dir_all(root.join("tools")).unwrap();
    let mut command = home.command(&["install", "cursor"]);
    let Said { code, err, .. } = home.said(command.current_dir(&root));
    assert!(code == 2 && err.contains("which is not UTF-8 text"), "{err}");
}

#[test]
fn the_command_is_the_called_path_and_not_the_target_of_a_link() {
    let home = Home::new();
    let bin = home.path("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_mcp-bash"), bin.join("mcp-bash")).unwrap();
    let command_of =
        |home: &Home| json_of(&home.read(CURSOR).unwrap())["mcpServers"]["tools-box"]["command"].clone();
    // By its name, by its absolute path, and by a relative path.
    for called in ["mcp-bash", &*bin.join("mcp-bash").to_string_lossy(), "./link"] {
        symlink(bin.join("mcp-bash"), home.path("tools-box/link")).ok();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec \"$0\" install cursor -q", called]).env_clear();
        command.env("HOME", home.root()).env("PATH", &bin).current_dir(home.path("tools-box"));
        assert_eq!(home.said(&mut command), said(0, "", ""), "{called}");
        let expected = if called == "./link" { "HOME/tools-box/link" } else { "HOME/bin/mcp-bash" };
        assert_eq!(command_of(&home), expected, "{called}");
    }
}

#[test]
fn a_project_elsewhere_is_installed_for_the_current_folder() {
    let home = Home::new();
    fs::create_dir(home.path("work")).unwrap();
    let root = home.path("tools-box");
    let root = root.to_str().unwrap();
    let mut command =
        home.command(&["install", "cursor", "--scope", "project", "--project-root", root, "-q"]);
    assert_eq!(home.said(command.current_dir(home.path("work"))), said(0, "", ""));
    assert_eq!(home.read("work/.cursor/mcp.json").as_deref(), Some(INSTALLED));
    // Inside the project, it is the project's folder.
    fs::create_dir_all(home.path("tools-box/deep/er")).unwrap();
    let mut command = home.command(&["install", "cursor", "--scope", "project", "-q"]);
    assert_eq!(home.said(command.current_dir(home.path("tools-box/deep/er"))), said(0, "", ""));
    assert_eq!(home.read("tools-box/.cursor/mcp.json").as_deref(), Some(INSTALLED));
}

#[test]
fn variables_that_move_the_files_of_clients_are_followed() {
    let home = Home::new();
    for (client, variable, value, path) in [
        ("codex", "CODEX_HOME", "moved", "moved/config.toml"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "claude", "claude/.claude.json"),
        ("gemini", "GEMINI_CLI_HOME", "gemini", "gemini/.gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "copilot", "copilot/mcp-config.json"),
        ("vibe", "VIBE_HOME", "vibe", "vibe/config.toml"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", "cline.json", "cline.json"),
        ("zed", "XDG_CONFIG_HOME", "xdg", "xdg/zed/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "xdg", "xdg/opencode/opencode.json"),
    ] {
        let mut command = home.command(&["install", client, "-q"]);
        assert_eq!(home.said(command.env(variable, home.path(value))), said(0, "", ""), "{client}");
        assert!(home.read(path).is_some_and(|text| text.contains("tools-box")), "{client}");
    }
}

#[test]
fn each_client_of_the_table_has_its_section_in_the_documentation() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let page = fs::read_to_string(page).expect("docs/clients.md");
    let home = Home::new();
    let shown = home.run(&["config"]).out;
    let titles: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    for title in titles.chunks(2).map(|pair| pair[0]) {
        assert!(page.contains(&format!("\n## {title}\n")), "{title}");
    }
    assert_eq!(titles.len(), 2 * page.matches("\n## ").count());
}

#[test]
fn installs_at_the_same_time_lose_no_entry() {
    let home = Home::new();
    home.write(CURSOR, "{\n  // ours\n  \"mcpServers\": {}\n}\n");
    let names: Vec<String> = (0..8).map(|number| format!("box-{number}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            home.command(&["install", "cursor", "--name", name])
                .stdout(Stdio::null())
                .spawn()
                .expect("a child")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = home.read(CURSOR).unwrap();
    assert!(names.iter().all(|name| text.contains(&format!("\"{name}\""))), "{text}");
    let left: Vec<_> =
        fs::read_dir(home.path(".cursor")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with("mcp.json")), "{left:?}");
}

#[test]
fn a_refusal_does_not_show_secrets_of_other_entries() {
    let home = Home::new();
    let others = json!({ "mcpServers": { "tools-box": {
        "command": "npx", "args": ["server", "--api-key", "s3cr3t", "--url", "https://me:s3cr3t@host/?k=s3cr3t"],
        "env": { "TOKEN": "s3cr3t" } } } });
    home.write(CURSOR, &others.to_string());
    let refused = home.run(&["install", "cursor"]);
    assert_eq!(refused.code, 3);
    let told = format!("{}{}", refused.out, refused.err);
    assert!(told.contains("npx server --api-key [redacted]") && !told.contains("s3cr3t"), "{told}");
}
