//! `scripts/release-notes`: the section of one version in the changelog becomes the text of its release.

use crate::harness::Project;
use std::path::Path;
use std::process::{Command, Output};

fn notes(changelog: &str, version: &str) -> Output {
    let folder = Project::new().file("CHANGELOG.md", changelog);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/release-notes");
    Command::new(script).arg(version).env("CHANGELOG", folder.path("CHANGELOG.md")).output().unwrap()
}

const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- Later\n\n## 1.10.0 - 2026-11-18\n\n### Added\n\n- `## not a heading`\n\n\
    ## 1.1.0 - 2026-01-01\n\n- First\n\n## 1.0.0 - 2025-01-01\n\n## 0.9.0 - 2024-01-01\n\n- a\n\n## 0.9.0 - 2024-01-02\n\n- b\n";

#[test]
fn the_text_of_a_release_is_its_section() {
    let output = notes(CHANGELOG, "1.10.0");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "### Added\n\n- `## not a heading`\n");
    assert_eq!(String::from_utf8_lossy(&notes(CHANGELOG, "1.1.0").stdout), "- First\n");
}

#[test]
fn a_version_without_a_section_or_with_an_empty_one_is_refused() {
    for (version, part) in [
        ("1.2.0", "has no heading"),
        ("1.1", "has no heading"),
        ("1.1.", "has no heading"),
        (".*", "has no heading"),
        ("\\1", "has no heading"),
        ("0.9.0", "several"),
        ("1.0.0", "says nothing about 1.0.0"),
    ] {
        let output = notes(CHANGELOG, version);
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{version}: {words}");
        assert!(words.contains(part), "{version}: {words}");
        assert!(output.stdout.is_empty(), "{version}");
    }
}
