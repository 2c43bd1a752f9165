//! Published schemas: the files in `schemas/` describe exactly what the code reads.

use crate::catalog::registrations::KINDS;
use crate::checks::known_keys;
use crate::declarations::metadata;
use mcp_bash_launchers::Launchers;
use mcp_bash_sandbox::Declaration;
use mcp_bash_schema::Schema;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema_text(name: &str) -> String {
    std::fs::read_to_string(repository().join(format!("schemas/{name}.schema.json"))).unwrap()
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&schema_text(name)).unwrap()
}

/// The problems of a value, as an editor would show them.
fn problems(name: &str, value: &Value) -> Vec<String> {
    let schema = Schema::compile(&schema_text(name)).expect("a schema of draft 2020-12");
    let problems = schema.check_value(&value.to_string()).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

/// The keys in a schema, except `$schema`.
fn keys(schema: &Value) -> BTreeSet<String> {
    let keys = schema["properties"].as_object().expect("properties").keys();
    keys.filter(|key| *key != "$schema").cloned().collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The schema for a file of a project, by its path.
fn schema_of(path: &str) -> Option<&'static str> {
    let is_metadata = path.contains(".meta.");
    let is_yaml = Path::new(path).extension().is_some_and(|ending| ending == "yaml");
    match path.split('/').next()? {
        "server.d" if path.ends_with("server.meta.json") => Some("server"),
        "server.d" if path.ends_with("register.json") => Some("register"),
        "server.d" if path.ends_with("policy.yaml") => Some("policy"),
        "server.d" if path.ends_with("roles.yaml") => Some("roles"),
        "project" if is_metadata => Some("server"),
        _ if is_yaml && !is_metadata => Some("test"),
        "tools" | "tool" if is_metadata => Some("tool"),
        "prompts" | "prompt" if is_metadata => Some("prompt"),
        "resources" | "resource" if is_metadata => Some("resource"),
        _ => None,
    }
}

fn read(path: &str, text: &str) -> Value {
    let is_json = Path::new(path).extension().is_some_and(|ending| ending == "json");
    if is_json { serde_json::from_str(text).expect(path) } else { metadata::yaml(text).expect(path) }
}

#[test]
fn every_key_that_is_read_is_in_a_schema_and_no_other() {
    let register = schema("register");
    let kinds = ["tool", "prompt", "resource", "resourceTemplate", "completion"];
    let mut described: BTreeSet<String> =
        kinds.iter().flat_map(|kind| keys(&register["$defs"][kind])).collect();
    for (name, only_registered) in [("tool", &["path", "provider"][..]), ("prompt", &["path"])] {
        let registered = keys(&register["$defs"][name]);
        let own = keys(&schema(name));
        assert_eq!(registered, own.union(&set(only_registered)).cloned().collect(), "{name}");
        described.extend(own);
    }
    let resource = keys(&schema("resource"));
    let entries: BTreeSet<String> =
        ["resource", "resourceTemplate"].iter().flat_map(|kind| keys(&register["$defs"][kind])).collect();
    assert_eq!(entries, resource.union(&set(&["path"])).cloned().collect());
    assert_eq!(described, set(&known_keys::of_metadata()));
    assert_eq!(keys(&schema("server")), set(&known_keys::of_server()));
    assert_eq!(
        keys(&register),
        [&KINDS[..], &["version", "_meta"]].concat().iter().map(ToString::to_string).collect()
    );
}

#[test]
fn a_registration_describes_entries_as_their_own_schemas_do() {
    let mut register = schema("register");
    for (entry, file) in
        [("tool", "tool"), ("prompt", "prompt"), ("resource", "resource"), ("resourceTemplate", "resource")]
    {
        let own = schema(file);
        let own = own["properties"].as_object().expect("properties");
        let entry = register["$defs"][entry]["properties"].as_object_mut().expect("properties");
        for (key, property) in own.iter().filter(|(key, _)| *key != "$schema") {
            // Resources and templates share a file, and each has keys that the other does not have.
            if file != "resource" || entry.contains_key(key) {
                entry.insert(key.clone(), property.clone());
            }
        }
    }
    let path = repository().join("schemas/register.schema.json");
    let expected = serde_json::to_string_pretty(&register).unwrap() + "\n";
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text == expected, "run the tests once with UPDATE_REFERENCE=1 to write {} again", path.display());
}

#[test]
fn a_launcher_is_described_alike_everywhere_and_as_it_is_read() {
    let shape = schema("tool")["$defs"]["launcher"].clone();
    for name in ["register", "server"] {
        assert_eq!(schema(name)["$defs"]["launcher"], shape, "{name}");
    }
    assert_eq!(schema("server")["properties"]["launchers"]["additionalProperties"], shape["anyOf"][1]);
    let is_read = |launcher: &Value| Launchers::read(None, Some(&launcher.to_string())).is_ok();
    for launcher in [
        json!("here"),
        json!("slurm"),
        json!({ "use": "ssh", "host": "me@build1", "options": ["-p", "22"], "carry": ["data"] }),
        json!({ "use": "slurm", "files": "there", "folder": "/srv/project" }),
        json!({ "use": "kubernetes", "image": "debian:12", "namespace": "tools", "temporary": "/scratch" }),
        json!({ "run": ["docker", "{command}"], "cancel": ["docker", "kill", "{id}"] }),
    ] {
        assert!(is_read(&launcher), "{launcher}");
        assert_eq!(problems("tool", &json!({ "launcher": launcher })), Vec::<String>::new(), "{launcher}");
    }
    for launcher in [
        json!(1),
        json!({ "use": "ssh", "host": "-oProxyCommand=x" }),
        json!({ "use": "ssh", "host": "a b" }),
        json!({ "use": "ssh", "host": "a", "unknown": 1 }),
        json!({ "run": "ssh host" }),
        json!({ "run": [] }),
        json!({ "use": "slurm", "files": "maybe" }),
        json!({ "use": "slurm", "files": "there", "folder": "relative" }),
    ] {
        assert!(!is_read(&launcher), "{launcher}");
        assert_ne!(problems("server", &json!({ "launcher": launcher })), Vec::<String>::new(), "{launcher}");
    }
}

#[test]
fn a_sandbox_is_described_alike_everywhere_and_as_it_is_read() {
    let shape = schema("tool")["$defs"]["sandbox"].clone();
    for name in ["prompt", "register", "resource", "server"] {
        assert_eq!(schema(name)["$defs"]["sandbox"], shape, "{name}");
    }
    for sandbox in [
        json!("off"),
        json!("on"),
        json!("strict"),
        json!({}),
        json!({ "mode": "strict", "read": ["project", "roots/src", "~/.aws", "/var/log", "/"] }),
        json!({ "write": ["tmp", "project/out"], "network": "none" }),
        json!({ "network": ["api.github.com:443", "*.example.org:443", "[::1]:80"] }),
        json!({ "memory": "512M", "fileSize": "2 GiB", "cpuSecs": 1, "processes": 4, "openFiles": 64 }),
        json!({ "memory": 1024 }),
    ] {
        assert!(Declaration::parse(&sandbox.to_string()).is_ok(), "{sandbox}");
        assert_eq!(problems("tool", &json!({ "sandbox": sandbox })), Vec::<String>::new(), "{sandbox}");
    }
    for sandbox in [
        json!("maybe"),
        json!(true),
        json!({ "reads": [] }),
        json!({ "deny": ["/etc"] }),
        json!({ "read": "project" }),
        json!({ "read": ["logs"] }),
        json!({ "read": ["project/../x"] }),
        json!({ "write": ["/var/*"] }),
        json!({ "write": ["tmp/x"] }),
        json!({ "network": "some" }),
        json!({ "network": ["example.org"] }),
        json!({ "memory": "lots" }),
        json!({ "cpuSecs": 0 }),
    ] {
        assert!(Declaration::parse(&sandbox.to_string()).is_err(), "{sandbox}");
        assert_ne!(problems("server", &json!({ "sandbox": sandbox })), Vec::<String>::new(), "{sandbox}");
    }
}

#[test]
fn all_settings_that_a_project_may_make_are_in_the_schema() {
    let page = std::fs::read_to_string(repository().join("docs/settings.md")).unwrap();
    // The table gives no default and no meaning for keys that are accepted for older projects only.
    let rows = page.lines().map(|line| line.split(" | ").collect::<Vec<_>>()).filter(|row| row.len() == 4);
    let settings = rows.filter(|row| row[0].starts_with("| `MCP") && !row[3].contains("*Environment only"));
    let short = |name: &str| {
        let mut words = name.split('_').skip(1).map(str::to_lowercase);
        let first = words.next().unwrap_or_default();
        words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
    };
    let known: BTreeSet<String> = settings.map(|row| short(row[0].trim_matches(['|', ' ', '`']))).collect();
    assert!(known.contains("defaultToolTimeout"), "{known:?}");
    let described = keys(&schema("server")["properties"]["settings"]);
    assert_eq!(described, known, "`settings` of schemas/server.schema.json, and docs/settings.md");
}

#[test]
fn the_keys_of_test_cases_are_those_of_their_page() {
    let page = std::fs::read_to_string(repository().join("docs/testing.md")).unwrap();
    // The keys are in the first column, some of them together, or with a value.
    let keys_below = |heading: &str| -> BTreeSet<String> {
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).expect(heading);
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let cells = rows.filter_map(|row| row.split(" | ").next());
        let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        quoted.map(|key| key.split(':').next().unwrap_or(key).to_owned()).collect()
    };
    let case = schema("test")["$defs"]["case"].clone();
    assert_eq!(keys(&case), keys_below("What a case says"));
    assert_eq!(keys(&case["properties"]["expect"]), keys_below("What is expected"));
}

#[test]
fn every_key_is_explained() {
    for name in ["policy", "prompt", "register", "resource", "roles", "server", "test", "tool"] {
        let schema = schema(name);
        let inner = schema["$defs"].as_object().into_iter().flatten().map(|(_, inner)| inner);
        for object in [&schema].into_iter().chain(inner) {
            for (key, property) in object["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{name}: {key}");
            }
        }
    }
}

#[test]
fn every_example_of_the_documentation_fits() {
    let mut seen = Vec::new();
    for page in std::fs::read_dir(repository().join("docs")).unwrap() {
        let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
        for block in text.split("\n```").skip(1).step_by(2) {
            let (info, example) = block.split_once('\n').expect("a block has lines");
            let Some((_, path)) = info.split_once(' ') else { continue };
            let Some(name) = schema_of(path) else { continue };
            assert_eq!(problems(name, &read(path, example)), Vec::<String>::new(), "{path}: {example}");
            seen.push(name);
        }
    }
    for name in ["tool", "prompt", "resource", "server", "register", "policy", "roles"] {
        assert!(seen.contains(&name), "there is no example of {name}");
    }
}

#[test]
fn everything_that_is_scaffolded_fits() {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let (templates, mut files) = (repository().join("templates"), Vec::new());
    walk(&templates, &mut files);
    let mut fitting = 0;
    for file in files {
        let path = file.strip_prefix(&templates).unwrap().to_str().unwrap();
        let Some(name) = schema_of(path) else { continue };
        let text = std::fs::read_to_string(&file).unwrap().replace("__SANDBOX__", "on");
        assert_eq!(problems(name, &read(path, &text)), Vec::<String>::new(), "{path}");
        fitting += 1;
    }
    assert_eq!(fitting, 11, "metadata and test cases of all kinds");
}

#[test]
fn members_that_the_code_refuses_or_ignores_are_marked() {
    let wrong = [
        ("tool", json!({ "desciption": "x" })),
        ("tool", json!({ "timeoutSecs": "90" })),
        ("tool", json!({ "timeoutSecs": 0 })),
        ("tool", json!({ "inputSchema": { "type": "string" } })),
        ("tool", json!({ "argv": "a b" })),
        ("tool", json!({ "argv": [{ "flag": "-a" }] })),
        ("tool", json!({ "command": ["ls"], "argv": ["-l"] })),
        ("tool", json!({ "env": ["A", 7] })),
        ("tool", json!({ "env": ["A", { "B": ["{b}"] }] })),
        ("tool", json!({ "uri": "file:///x" })),
        ("prompt", json!({ "role": "system" })),
        ("prompt", json!({ "arguments": "name" })),
        ("resource", json!({ "uri": "a://b", "uriTemplate": "a://{b}" })),
        ("resource", json!({ "uriTemplate": "a://b" })),
        ("server", json!({ "setting": {} })),
        ("server", json!({ "env": ["A B"] })),
        ("server", json!({ "env": ["A", { "B": "{b}" }] })),
        ("register", json!({})),
        ("register", json!({ "version": 2 })),
        ("register", json!({ "version": 1, "tool": [] })),
        ("register", json!({ "version": 1, "tools": {} })),
        ("register", json!({ "version": 1, "tools": [{ "name": "x" }] })),
        ("register", json!({ "version": 1, "completions": [{ "name": "x" }] })),
        ("policy", json!({ "version": 1, "default": "allow" })),
        ("policy", json!({ "version": 1, "default": "maybe", "rules": [] })),
        ("policy", json!({ "version": 1, "default": "allow", "rules": [{ "name": "x" }] })),
        ("policy", json!({ "version": 1, "default": "allow", "rules": [{ "allow": true, "deny": "no" }] })),
        ("roles", json!({})),
        ("roles", json!({ "roles": { "a": { "readonly": true } } })),
        ("roles", json!({ "roles": { "a": { "concurrency": 0 } } })),
        ("roles", json!({ "roles": { "a": { "rate": "many" } } })),
        ("roles", json!({ "roles": { "a": { "given": { "users": ["x"] } } } })),
        ("roles", json!({ "roles": { "a": {} }, "toolsets": { "b": ["@c"] } })),
        ("test", json!({ "argument": {} })),
        ("test", json!([{ "expect": { "txt": "x" } }])),
        ("test", json!([{ "answers": ["maybe"] }])),
    ];
    for (name, value) in wrong {
        assert_ne!(problems(name, &value), Vec::<String>::new(), "{name}: {value}");
    }
    let both = json!({ "env": ["API_TOKEN", { "REGION": "{region}", "OTHER": true }] });
    assert_eq!(problems("tool", &both), Vec::<String>::new());
    let own = json!({ "$schema": "x", "x-team": 1, "_note": 1, "#": 1, "com.example/x": 1 });
    for name in ["tool", "prompt", "resource", "server"] {
        assert_eq!(problems(name, &own), Vec::<String>::new(), "{name}");
    }
}
