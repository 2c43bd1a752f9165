//! One version: `Cargo.toml` has it, and every other file that names it says the same.

use super::repository;
use crate::harness::Project;
use std::fs;
use std::process::Command;

/// A file that names the version, and the text before it there.
const PLACES: &[(&str, &str)] = &[
    ("Cargo.toml", "\n[workspace.package]\nversion = \""),
    ("deploy/compose.yaml", "MCP_BASH_IMAGE:-mcp-bash:"),
    ("deploy/helm/mcp-bash/Chart.yaml", "\nversion: \""),
    ("deploy/helm/mcp-bash/Chart.yaml", "\nappVersion: \""),
    ("deploy/kubernetes/kustomization.yaml", "newTag: \""),
    ("sdk/node/package.json", "\n  \"version\": \""),
    ("sdk/python/mcp_bash/__init__.py", "\n__version__ = \""),
    ("sdk/python/pyproject.toml", "\nversion = \""),
];

/// The text up to the next quote or brace.
fn named<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split_once(['"', '}']).map(|(version, _)| version)
}

#[test]
fn every_file_that_names_the_version_names_this_one() {
    for (file, before) in PLACES {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        assert_eq!(named(&text, before), Some(env!("CARGO_PKG_VERSION")), "{file}");
    }
}

/// With a stand-in for cargo, which writes the lock files.
fn set_version(checkout: &Project, version: &str) -> (bool, String) {
    let path = format!("{}:{}", checkout.path("bin").display(), std::env::var("PATH").unwrap());
    let mut script = Command::new(checkout.path("scripts/set-version"));
    let output = script.arg(version).env("PATH", path).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn one_command_sets_the_version_everywhere() {
    let read = |file: &str| fs::read_to_string(repository().join(file)).unwrap();
    let mut checkout = Project::new()
        .script("scripts/set-version", &read("scripts/set-version"))
        .script("bin/cargo", "#!/bin/sh\necho \"$*\" >>locked\n");
    for (file, _) in PLACES {
        checkout = checkout.file(file, &read(file));
    }
    for version in ["9.8.7-rc.1", "9.8.7"] {
        assert_eq!(set_version(&checkout, version), (true, String::new()));
        for (file, before) in PLACES {
            assert_eq!(named(&checkout.read(file), before), Some(version), "{file}");
        }
    }
    let locked = checkout.read("locked");
    assert!(locked.contains(" Cargo.toml\n") && locked.contains(" fuzz/Cargo.toml\n"), "{locked}");
    // Nothing else has changed.
    for (file, before) in PLACES {
        let (old, new) = (read(file), checkout.read(file));
        let changed = old.lines().zip(new.lines()).filter(|(old, new)| old != new).count();
        let places = PLACES.iter().filter(|(other, _)| other == file).count();
        assert_eq!((changed, old.lines().count()), (places, new.lines().count()), "{file} {before}");
    }
    for wrong in ["v1.2.3", "1.2", "1.2.3-next", "1.2.3/e id"] {
        let (passes, words) = set_version(&checkout, wrong);
        assert!(!passes && words.contains("is no version"), "{wrong}: {words}");
    }
    checkout.write("sdk/python/pyproject.toml", "[project]\n");
    let (passes, words) = set_version(&checkout, "9.8.8");
    assert!(!passes && words.contains("sdk/python/pyproject.toml has no line"), "{words}");
}

#[test]
fn no_crate_has_a_version_of_its_own() {
    for entry in fs::read_dir(repository().join("crates")).unwrap().flatten() {
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("\nversion.workspace = true\n"), "{}", entry.path().display());
    }
}
