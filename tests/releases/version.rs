//! `mcp-bash version`.

use crate::harness::Home;
use serde_json::Value;
use std::path::Path;

fn from_root(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

#[test]
fn the_json_says_what_this_copy_is() {
    let said = Home::new().run(&["version", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let version: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(version["name"], "mcp-bash");
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let target = version["target"].as_str().unwrap();
    assert!(target.starts_with(std::env::consts::ARCH), "{target}");
    assert!(
        target.contains(if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS }),
        "{target}"
    );
    assert!(version["commit"].is_null() || version["commit"].as_str().unwrap().len() >= 7);
    assert!(version["features"].as_array().unwrap().contains(&Value::from("debug-assertions")));
    let compliance = from_root("docs/compliance.md");
    let revisions = version["protocolRevisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 5);
    for revision in revisions {
        assert!(compliance.contains(revision.as_str().unwrap()), "{revision}");
    }
    assert!(!version["sandbox"].as_array().unwrap().is_empty());
}

#[test]
fn the_sdks_have_the_version_that_is_said() {
    let said = Home::new().run(&["version", "--json"]);
    let version: Value = serde_json::from_str(&said.out).unwrap();
    let node: Value = serde_json::from_str(&from_root("sdk/node/package.json")).unwrap();
    assert_eq!(version["sdks"]["node"], node["version"]);
    let python = format!("__version__ = {}\n", version["sdks"]["python"]);
    assert!(from_root("sdk/python/mcp_bash/__init__.py").contains(&python), "{python}");
    assert_eq!(version["sdks"]["bash"], version["version"]);
}

#[test]
fn the_first_line_is_that_of_the_flag() {
    let home = Home::new();
    let said = home.run(&["version"]);
    let flag = home.run(&["--version"]);
    assert_eq!((said.code, flag.code), (0, 0));
    assert_eq!(said.out.lines().next(), flag.out.lines().next());
    assert!(said.out.contains("2026-07-28") && said.out.lines().count() > 3, "{}", said.out);
    let wrong = home.run(&["version", "--yaml"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("--yaml"), "{}", wrong.err);
}
