//! `scripts/release-check`: a tag becomes a release only if everything that names the version names the same one.

use crate::harness::Project;
use std::path::Path;
use std::process::Command;

/// A checkout with all files that name the version 1.2.3.
fn checkout() -> Project {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let key = "mcp-bash-release namespaces=\"mcp-bash-release\" ssh-ed25519 AAAA\n";
    Project::new()
        .script("scripts/release-check", &script("scripts/release-check"))
        .script("scripts/release-notes", &script("scripts/release-notes"))
        .file(
            "Cargo.toml",
            "[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://github.com/o/r\"\n",
        )
        .file("Cargo.lock", "[[package]]\nname = \"mcp-bash\"\nversion = \"1.2.3\"\n")
        .file(
            "CHANGELOG.md",
            "# Changelog\n\n## 1.2.3 - 2026-11-18\n\n- New\n\n## 1.2.2 - 2026-11-17\n\n- Old\n",
        )
        .file(
            "sdk/node/package.json",
            "{\n  \"name\": \"mcp-bash\",\n  \"version\": \"1.2.3\",\n  \"x\": 1\n}\n",
        )
        .file("sdk/python/pyproject.toml", "[project]\nversion = \"1.2.3\"\n")
        .file("sdk/python/mcp_bash/__init__.py", "__version__ = \"1.2.3\"\n")
        .file("packaging/install/signers", &format!("# A comment\n\n{key}"))
}

fn checked(checkout: &Project, tag: &str, repository: &str) -> (bool, String) {
    let mut command = Command::new(checkout.path("scripts/release-check"));
    let output = command.arg(tag).env("GITHUB_REPOSITORY", repository).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_tag_that_fits_everything_passes() {
    assert_eq!(checked(&checkout(), "v1.2.3", "o/r"), (true, String::new()));
}

#[test]
fn each_difference_is_named() {
    for (tag, repository, part) in [
        ("1.2.3", "o/r", "the tag is 1.2.3 and should be v1.2.3"),
        ("v1.2.4", "o/r", "the tag is v1.2.4"),
        ("v1.2.3", "fork/r", "should be https://github.com/fork/r"),
    ] {
        let (passes, words) = checked(&checkout(), tag, repository);
        assert!(!passes && words.contains(part), "{tag}: {words}");
    }
    for (file, text, part) in [
        (
            "CHANGELOG.md",
            "# Changelog\n\n## Unreleased\n\n## 1.2.3 - d\n\n- New\n",
            "the newest heading of CHANGELOG.md is Unreleased",
        ),
        ("CHANGELOG.md", "# Changelog\n\n## 1.2.3 - d\n", "says nothing about 1.2.3"),
        (
            "Cargo.lock",
            "[[package]]\nname = \"mcp-bash\"\nversion = \"1.2.2\"\n",
            "the version in Cargo.lock is 1.2.2",
        ),
        ("sdk/node/package.json", "{\n  \"version\": \"1.2.2\",\n}\n", "sdk/node/package.json is 1.2.2"),
        ("sdk/python/pyproject.toml", "[project]\n", "sdk/python/pyproject.toml is  and should be 1.2.3"),
        ("sdk/python/mcp_bash/__init__.py", "__version__ = \"1\"\n", "__init__.py is 1 and should be 1.2.3"),
        ("packaging/install/signers", "# No key yet\n", "packaging/install/signers has no key"),
    ] {
        let checkout = checkout();
        checkout.write(file, text);
        let (passes, words) = checked(&checkout, "v1.2.3", "o/r");
        assert!(!passes && words.contains(part), "{file}: {words}");
    }
}
