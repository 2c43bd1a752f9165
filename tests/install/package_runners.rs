//! Entries of a program that a package runner started from its cache: they name the runner, not the cache.

use crate::harness::{Home, Said, Server};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

const NPX: &str = ".npm/_npx/2f40f517/node_modules/mcp-bash-linux-x64/bin/mcp-bash";
const UVX: &str = ".cache/uv/archive-v0/WRbmx7EG/bin/mcp-bash";
const PIPX: &str = ".cache/pipx/df3bc7ab34f7db2/bin/mcp-bash";
const CURSOR: &str = ".cursor/mcp.json";

/// A home in which each runner has the program in its cache.
fn home() -> Home {
    let home = Home::new();
    for program in [NPX, UVX, PIPX] {
        let path = home.path(program);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(env!("CARGO_BIN_EXE_mcp-bash"), path).unwrap();
    }
    home.write(".cache/uv/CACHEDIR.TAG", "");
    home
}

/// A runner in `bin`, which starts the program with the words after those that a runner takes.
fn runner(home: &Home, name: &str, words: usize) {
    let text = format!("#!/bin/sh\nshift {words}\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_mcp-bash"));
    home.write(&format!("bin/{name}"), &text);
    fs::set_permissions(home.path(&format!("bin/{name}")), Permissions::from_mode(0o755)).unwrap();
}

fn started_from(home: &Home, program: &str, words: &[&str]) -> Said {
    let mut command = Command::new(home.path(program));
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    command.env_clear().env("HOME", home.root()).env("PATH", path);
    home.said(command.current_dir(home.path("tools-box")).args(words))
}

fn entry(home: &Home) -> Value {
    let file: Value = serde_json::from_str(&home.read(CURSOR).unwrap()).unwrap();
    file["mcpServers"]["tools-box"].clone()
}

#[test]
fn an_entry_names_the_runner_and_not_its_cache() {
    for (program, is_there, command, words) in [
        (NPX, true, "npx", &["-y", "mcp-bash"][..]),
        (UVX, true, "HOME/bin/uvx", &["mcp-bash"]),
        (UVX, false, "uvx", &["mcp-bash"]),
        (PIPX, true, "HOME/bin/pipx", &["run", "mcp-bash"]),
    ] {
        let home = home();
        if is_there {
            runner(&home, command.rsplit('/').next().unwrap(), words.len());
        }
        let said = started_from(&home, program, &["install", "cursor", "-q"]);
        assert_eq!((said.code, &*said.err), (0, ""), "{program}");
        let args = [words, &["--project-root", "HOME/tools-box"]].concat();
        assert_eq!(entry(&home), json!({ "command": command, "args": args }), "{program}");
        // Asked for it again, by the same or by an installed program, it is the same server.
        let again = started_from(&home, program, &["install", "cursor"]);
        assert!(again.out.contains("is already installed"), "{again:?}");
        let Said { code, out, err } = home.run(&["uninstall", "cursor"]);
        assert!(code == 0 && out.contains("removed"), "{out}{err}");
    }
}

#[test]
fn a_program_that_only_looks_cached_is_named_by_its_path() {
    let home = home();
    fs::remove_file(home.path(".cache/uv/CACHEDIR.TAG")).unwrap();
    let said = started_from(&home, UVX, &["config", "--json"]);
    let described: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(described["command"], format!("HOME/{UVX}"), "{described}");
}

#[test]
fn doctor_starts_an_entry_of_a_runner_and_does_not_want_its_path() {
    let home = home();
    runner(&home, "npx", 2);
    assert_eq!(started_from(&home, NPX, &["install", "cursor", "-q"]).code, 0);
    let Said { out, .. } = started_from(&home, NPX, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let found = &report["clients"][0]["entries"][0];
    assert_eq!((&found["command"], &found["starts"]), (&json!("npx"), &json!(true)), "{report:#}");
    let ids: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    assert!(!ids.iter().any(|id| id.starts_with("clients.")), "{report:#}");
    // Nor the folder of a cache on PATH.
    let Said { out, .. } = started_from(&home, NPX, &["doctor"]);
    assert!(!out.contains("export PATH="), "{out}");
}

#[test]
fn an_entry_into_a_vanished_cache_is_fixed_with_the_runner() {
    let home = home();
    runner(&home, "uvx", 1);
    let root = home.path("tools-box");
    let gone = home.path(".cache/uv/archive-v0/gone/bin/mcp-bash");
    let gone = json!({ "command": gone, "args": ["--project-root", root] });
    home.write(CURSOR, &json!({ "mcpServers": { "tools-box": gone } }).to_string());
    started_from(&home, UVX, &["doctor", "--fix"]);
    let args = ["mcp-bash", "--project-root", "HOME/tools-box"];
    assert_eq!(entry(&home), json!({ "command": "HOME/bin/uvx", "args": args }));
}

#[test]
fn a_wrapper_starts_the_runner() {
    let home = home();
    runner(&home, "uvx", 1);
    let Said { code, out, err } = started_from(&home, UVX, &["config", "--wrapper"]);
    assert_eq!(code, 0, "{err}");
    let script = out.replace("HOME/", &format!("{}/", home.root().display()));
    home.write("start.sh", &script);
    fs::set_permissions(home.path("start.sh"), Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(home.path("start.sh"));
    command.env_clear().env("HOME", home.root()).env("PATH", "/usr/bin:/bin").current_dir("/");
    let mut server = Server::spawn(command);
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let answer = server.ask(1, "initialize", &initialize);
    assert_eq!(answer["result"]["serverInfo"]["name"], "tools-box", "{answer}");
}
