//! `mcp-bash config`: prints the entry for a client, in the client's format.

use crate::harness::{Home, Said, Server, Terminal};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const ENV: &str = "\"env\": {\n        \"MCPBASH_PROJECT_ROOT\": \"HOME/tools-box\",\n        \"MCPBASH_TOOL_ALLOWLIST\": \"*\"\n      }";

#[test]
fn the_entry_as_json() {
    let home = Home::new();
    let Said { code, out, err } = home.run(&["config", "--json", "--env", "K=v"]);
    assert_eq!((code, &*err), (0, ""));
    assert_eq!(
        json_of(&out),
        json!({
            "name": "tools-box",
            "command": "PROGRAM",
            "args": ["--project-root", "HOME/tools-box"],
            "env": { "MCPBASH_PROJECT_ROOT": "HOME/tools-box", "MCPBASH_TOOL_ALLOWLIST": "*", "K": "v" },
        })
    );
}

#[test]
fn each_client_gets_its_own_format() {
    let home = Home::new();
    home.write("tools-box/server.d/server.meta.json", r#"{"name": "my_tools"}"#);
    let snippet = |client: &str| {
        let Said { code, out, err } = home.run(&["config", "--client", client]);
        assert_eq!((code, &*err), (0, ""), "{client}");
        out
    };
    let usual = format!(
        "{{\n  \"mcpServers\": {{\n    \"my_tools\": {{\n      \"command\": \"PROGRAM\",\n      \
         \"args\": [\"--project-root\", \"HOME/tools-box\"],\n      {ENV}\n    }}\n  }}\n}}\n"
    );
    for client in [
        "claude-desktop",
        "claude-cli",
        "cursor",
        "windsurf",
        "copilot",
        "qwen",
        "Cline",
        "kiro",
        "lm-studio",
        "warp",
    ] {
        assert_eq!(snippet(client), usual, "{client}");
    }
    assert_eq!(snippet("gemini"), usual.replace("my_tools", "my-tools"));
    assert_eq!(snippet("amp"), usual.replace("mcpServers", "amp.mcpServers"));
    assert_eq!(snippet("zed"), usual.replace("mcpServers", "context_servers"));
    let stdio = usual.replace("\"command\"", "\"type\": \"stdio\",\n      \"command\"");
    assert_eq!(snippet("vs-code"), stdio.replace("mcpServers", "servers"));
    // JSON is also YAML.
    assert_eq!(snippet("librechat"), stdio);
    assert_eq!(
        snippet("codex"),
        "[mcp_servers.my_tools]\ncommand = \"PROGRAM\"\nargs = [\"--project-root\", \"HOME/tools-box\"]\n\
         env = { MCPBASH_PROJECT_ROOT = \"HOME/tools-box\", MCPBASH_TOOL_ALLOWLIST = \"*\" }\n"
    );
    assert_eq!(
        snippet("goose"),
        "extensions:\n  my_tools:\n    name: my_tools\n    description: \"\"\n    type: stdio\n    cmd: PROGRAM\n    \
         args: [\"--project-root\", \"HOME/tools-box\"]\n    timeout: 300\n    enabled: true\n    envs:\n      \
         MCPBASH_PROJECT_ROOT: HOME/tools-box\n      MCPBASH_TOOL_ALLOWLIST: \"*\"\n"
    );
    assert_eq!(
        snippet("continue"),
        "mcpServers:\n  - name: my_tools\n    command: PROGRAM\n    args: [\"--project-root\", \"HOME/tools-box\"]\n    env:\n      \
         MCPBASH_PROJECT_ROOT: HOME/tools-box\n      MCPBASH_TOOL_ALLOWLIST: \"*\"\n"
    );
    assert_eq!(
        snippet("vibe"),
        "[[mcp_servers]]\nname = \"my_tools\"\ntransport = \"stdio\"\ncommand = [\"PROGRAM\"]\n\
         args = [\"--project-root\", \"HOME/tools-box\"]\n\
         env = { MCPBASH_PROJECT_ROOT = \"HOME/tools-box\", MCPBASH_TOOL_ALLOWLIST = \"*\" }\n"
    );
    let opencode = json_of(&snippet("opencode"));
    assert_eq!(
        opencode["mcp"]["my_tools"]["command"],
        json!(["PROGRAM", "--project-root", "HOME/tools-box"])
    );
    assert_eq!(json_of(&snippet("raycast"))["type"], "stdio");

    let all = home.run(&["config"]).out;
    assert_eq!(all, home.run(&["config", "--show"]).out);
    assert!(
        all.starts_with("# Claude Desktop\n# HOME/.config/Claude/claude_desktop_config.json\n{\n"),
        "{all}"
    );
    assert!(
        all.contains("\n# Cursor\n# HOME/.cursor/mcp.json\n{\n")
            && all.contains("\n# Codex\n# HOME/.codex/config.toml\n[mcp")
    );
    assert!(
        all.contains("\n# LibreChat\n# HOME/tools-box/librechat.yaml\nmcpServers:\n  my_tools:\n"),
        "{all}"
    );
}

#[test]
fn an_unknown_client_is_an_error_with_a_suggestion() {
    let home = Home::new();
    for words in [&["--client", "windsruf"][..], &["--link", "windsruf"]] {
        let Said { code, out, err } = home.run(&[&["config"], words].concat());
        assert_eq!((code, &*out), (2, ""));
        assert!(
            err.starts_with("mcp-bash: there is no client `windsruf`; did you mean `windsurf`? Known are "),
            "{err}"
        );
    }
    assert_eq!(home.run(&["config", "--json", "--show"]).code, 2);
}

#[test]
fn install_links_are_only_for_clients_that_support_them() {
    let home = Home::new();
    let all = home.run(&["config", "--link"]).out;
    let titles: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    assert_eq!(titles, ["Cursor", "VS Code", "Visual Studio", "Kiro", "LM Studio", "Raycast"]);
    let cursor = home.run(&["config", "--link", "cursor"]).out;
    assert!(
        all.contains(&cursor)
            && cursor.starts_with("cursor://anysphere.cursor-deeplink/mcp/install?name=tools-box&config=")
    );
    let Said { code, err, .. } = home.run(&["config", "--link", "goose"]);
    let told = "mcp-bash: Goose has no links that install a server; use `mcp-bash install goose`\n";
    assert_eq!((code, &*err), (3, told));
}

#[test]
fn the_command_for_the_inspector_can_be_pasted_into_a_shell() {
    let home = Home::new();
    let root = home.path("it's here; $(touch x)");
    fs::create_dir_all(root.join("tools")).unwrap();
    let Said { out, .. } = home.said(home.command(&["config", "--inspector"]).current_dir(&root));
    assert!(
        out.starts_with("npx @modelcontextprotocol/inspector -e ")
            && out.contains(" --transport stdio -- PROGRAM --project-root "),
        "{out}"
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("npx() {{ printf '%s\\n' \"$@\"; }}; {out}")]).current_dir(home.root());
    let shown = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let words: Vec<&str> = shown.lines().collect();
    let root = "HOME/it's here; $(touch x)";
    let project = format!("MCPBASH_PROJECT_ROOT={root}");
    assert_eq!(
        words,
        [
            "@modelcontextprotocol/inspector",
            "-e",
            &project,
            "-e",
            "MCPBASH_TOOL_ALLOWLIST=*",
            "--transport",
            "stdio",
            "--",
            "PROGRAM",
            "--project-root",
            root
        ]
    );
    assert!(!home.path("x").exists());
}

/// Asks a server that a script starts for its tools and for the result of one of them.
fn call_through(script: &str, home: &Home, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(script);
    command.env_clear().env("HOME", home.root()).env("PATH", "/usr/bin:/bin").current_dir("/");
    command.envs(variables.iter().copied());
    let mut server = Server::spawn(command);
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    server.ask(1, "initialize", &initialize);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let answer = server.ask(2, "tools/call", &json!({ "name": "which", "arguments": {} }));
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).trim().to_owned()
}

fn executable(home: &Home, path: &str, text: &str) {
    home.write(path, text);
    fs::set_permissions(home.path(path), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_wrapper_starts_the_project_of_its_folder() {
    let home = Home::new();
    executable(&home, "tools-box/tools/which/tool.sh", "#!/bin/sh\necho \"$PWD $PATH\"\n");
    home.write("tools-box/tools/which/tool.meta.json", r#"{"name": "which", "description": "x"}"#);
    let shown = home.shown(&Terminal::of_columns(80).run(home.command(&["config", "--wrapper"])));
    assert_eq!(shown, "");
    let script = home.path("tools-box/tools-box.sh");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o755 & !umask());
    assert!(call_through(script.to_str().unwrap(), &home, &[]).contains("tools-box /usr/bin:/bin"));
    // Elsewhere it starts the project it was made for; in another project, that project.
    let text = fs::read_to_string(&script).unwrap();
    executable(&home, "elsewhere/start.sh", &text);
    let started = call_through(home.path("elsewhere/start.sh").to_str().unwrap(), &home, &[]);
    assert!(started.contains("tools-box /usr/bin:/bin"), "{started}");
    executable(&home, "moved/tools/which/tool.sh", "#!/bin/sh\necho moved\n");
    executable(&home, "moved/start.sh", &text);
    assert_eq!(call_through(home.path("moved/start.sh").to_str().unwrap(), &home, &[]), "moved");
    // Without a terminal it is printed, and nothing is overwritten.
    let Said { code, out, .. } = home.run(&["config", "--wrapper"]);
    assert_eq!((code, Some(out)), (0, home.read("tools-box/tools-box.sh")));
    // The terminal emulation does not capture standard error.
    let mut shell = Command::new("sh");
    let again = "\"$0\" config --wrapper 2>&1; test $? = 3";
    shell.args(["-c", again, env!("CARGO_BIN_EXE_mcp-bash")]).env("HOME", home.root());
    shell.current_dir(home.path("tools-box"));
    let shown = Terminal::of_columns(300).run(shell);
    assert!(shown.contains("tools-box.sh is there already; remove it"), "{shown}");
}

fn umask() -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, "").unwrap();
    0o666 & !(path.metadata().unwrap().permissions().mode() & 0o777)
}

#[test]
fn a_wrapper_may_have_the_environment_of_the_login_shell() {
    let home = Home::new();
    executable(&home, "tools-box/tools/which/tool.sh", "#!/bin/sh\necho \"$PATH,$FROM_LOGIN\"\n");
    home.write(
        "tools-box/tools/which/tool.meta.json",
        r#"{"name": "which", "description": "x", "env": ["FROM_LOGIN"]}"#,
    );
    // A login shell that prints a greeting, and has a variable with two lines.
    executable(
        &home,
        "shell",
        "#!/bin/bash\necho 'Welcome! PATH=/wrong'\nexport PATH=/login:/usr/bin:/bin FROM_LOGIN=$'one\\ntwo'\nexec bash -c \"$2\"\n",
    );
    let out = home.said(&mut home.command(&["config", "--wrapper-env"])).out;
    let script = out.replace("PROGRAM", env!("CARGO_BIN_EXE_mcp-bash"));
    executable(&home, "tools-box/start.sh", &script);
    let shell = home.path("shell");
    let shell = ("SHELL", shell.to_str().unwrap());
    let script = home.path("tools-box/start.sh");
    let said = call_through(script.to_str().unwrap(), &home, &[shell]);
    assert_eq!(said, "/login:/usr/bin:/bin,one\ntwo");
    let said = call_through(script.to_str().unwrap(), &home, &[shell, ("FROM_LOGIN", "the client's")]);
    assert_eq!(said, "/login:/usr/bin:/bin,the client's");
}

const URL: &str = "https://mcp.example.com/mcp";

#[test]
fn each_client_gets_its_own_format_for_a_server_over_http() {
    let home = Home::new();
    let snippet = |client: &str| {
        let Said { code, out, err } =
            home.run(&["config", "--client", client, "--name", "box", "--http", URL]);
        assert_eq!((code, &*err), (0, ""), "{client}");
        out
    };
    let usual = |entry: Value| json!({ "mcpServers": { "box": entry } });
    for (client, entry) in [
        ("cursor", json!({ "url": URL })),
        ("claude-code", json!({ "type": "http", "url": URL })),
        ("windsurf", json!({ "serverUrl": URL })),
        ("cline", json!({ "type": "streamableHttp", "url": URL })),
        ("roo-code", json!({ "type": "streamable-http", "url": URL })),
        ("warp", json!({ "url": URL })),
        ("qwen", json!({ "httpUrl": URL })),
    ] {
        assert_eq!(json_of(&snippet(client)), usual(entry), "{client}");
    }
    let typed = json!({ "type": "http", "url": URL });
    assert_eq!(json_of(&snippet("vscode")), json!({ "servers": { "box": typed } }));
    let zed = json!({ "url": URL, "headers": {} });
    assert_eq!(json_of(&snippet("zed")), json!({ "context_servers": { "box": zed } }));
    let opencode = json!({ "type": "remote", "url": URL, "enabled": true });
    assert_eq!(json_of(&snippet("opencode")), json!({ "mcp": { "box": opencode } }));
    assert_eq!(snippet("codex"), format!("[mcp_servers.box]\nurl = \"{URL}\"\n"));
    assert_eq!(
        snippet("vibe"),
        format!("[[mcp_servers]]\nname = \"box\"\ntransport = \"streamable-http\"\nurl = \"{URL}\"\n")
    );
    for (client, line) in [("goose", "uri: "), ("librechat", "url: "), ("continue", "url: ")] {
        assert!(snippet(client).contains(&format!("{line}\"{URL}\"")), "{client}: {}", snippet(client));
    }
    let all = home.run(&["config", "--http", URL]).out;
    assert_eq!(all.matches(URL).count(), 21, "{all}");
    assert!(all.contains("tools-box") && !all.contains("Raycast"));
    let described = home.run(&["config", "--http", URL, "--json"]).out;
    assert_eq!(json_of(&described), json!({ "name": "tools-box", "url": URL, "tokenEnv": null }));
}

#[test]
fn tokens_are_named_for_clients_that_expand_variables() {
    let home = Home::new();
    let ask = |client: &str, token: Option<&str>| {
        let words = ["config", "--client", client, "--name", "box", "--http", URL, "--token-env", "MY_TOKEN"];
        let mut command = home.command(&words);
        command.env_remove("MY_TOKEN").envs(token.map(|token| ("MY_TOKEN", token)));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    for (client, said) in [
        ("claude-code", "\"Authorization\": \"Bearer ${MY_TOKEN}\""),
        ("gemini", "\"Authorization\": \"Bearer $MY_TOKEN\""),
        ("codex", "bearer_token_env_var = \"MY_TOKEN\""),
        ("qwen", "\"Authorization\": \"Bearer ${MY_TOKEN}\""),
        ("copilot", "\"Authorization\": \"Bearer ${MY_TOKEN}\""),
        ("opencode", "\"Authorization\": \"Bearer {env:MY_TOKEN}\""),
        ("goose", "env_keys: [\"MY_TOKEN\"]"),
        ("goose", "Authorization: \"Bearer ${MY_TOKEN}\""),
        ("continue", "Authorization: \"Bearer ${{ secrets.MY_TOKEN }}\""),
        ("librechat", "Authorization: \"Bearer ${MY_TOKEN}\""),
        ("roo-code", "\"Authorization\": \"Bearer ${env:MY_TOKEN}\""),
        ("vibe", "api_key_env = \"MY_TOKEN\""),
    ] {
        let (code, out, err) = ask(client, Some("s3cret"));
        assert_eq!((code, &*err), (Some(0), ""), "{client}");
        assert!(out.contains(said) && !out.contains("s3cret"), "{client}: {out}");
        // The variable need not be set when the entry is written.
        assert_eq!(ask(client, None), (Some(0), out, err), "{client}");
    }
    // VS Code asks its user.
    for token in [Some("s3cret"), None] {
        let (code, out, err) = ask("vscode", token);
        assert_eq!((code, &*err), (Some(0), ""));
        let header = json!({ "Authorization": "Bearer ${input:box-MY_TOKEN}" });
        let entry = json!({ "type": "http", "url": URL, "headers": header });
        let description = "MY_TOKEN for the server box";
        let input = json!({
            "type": "promptString", "id": "box-MY_TOKEN", "description": description, "password": true,
        });
        assert_eq!(json_of(&out), json!({ "servers": { "box": entry }, "inputs": [input] }));
    }
    let (_, out, _) = ask("cursor", Some("s3cret"));
    let entry = json!({ "url": URL, "headers": { "Authorization": "Bearer s3cret" } });
    assert_eq!(json_of(&out), json!({ "mcpServers": { "box": entry } }));
    let (code, out, err) = ask("cursor", None);
    assert_eq!((code, &*out), (Some(2), ""));
    assert!(err.contains("the variable MY_TOKEN is not set, and Cursor wants the token itself"), "{err}");
    let mut all = home.command(&["config", "--name", "box", "--http", URL, "--token-env", "MY_TOKEN"]);
    let Said { code, out, err } = home.said(all.env_remove("MY_TOKEN"));
    assert!(code == 0 && out.contains("# Codex") && !out.contains("# Cursor"), "{out}");
    assert!(
        err.contains("MY_TOKEN is not set, and these want the token itself in their entry: Cursor, "),
        "{err}"
    );
    assert_eq!(home.said(all.env("MY_TOKEN", "s3cret")).err, "");
}

#[test]
fn invalid_urls_and_clients_without_http_are_refused() {
    let home = Home::new();
    for wrong in ["mcp.example.com", "https://", "file:///mcp", "https://a b"] {
        let Said { code, err, .. } = home.run(&["config", "--http", wrong]);
        assert_eq!(code, 2, "{wrong}");
        assert!(err.contains("is no address of a server"), "{err}");
    }
    let Said { code, err, .. } = home.run(&["config", "--client", "raycast", "--http", URL]);
    assert_eq!(code, 3);
    assert!(err.contains("Raycast takes no address of a server"), "{err}");
    assert_eq!(home.run(&["config", "--wrapper", "--http", URL]).code, 2);
    assert_eq!(home.run(&["config", "--token-env", "X"]).code, 2);
}
