//! `scripts/release --dry-run`: which packages it makes for which target, and what it names as missing. The recipes are stand-ins.

use crate::harness::Project;
use std::path::Path;
use std::process::Command;

/// A recipe that makes one empty file with the names of the recipe, its target and its image.
const RECIPE: &str = "#!/bin/sh\nfile=\"$OUT/$(basename \"$(dirname \"$0\")\")-${TARGET%%-*}${IMAGES:+-$IMAGES}\"\n\
                      : >\"$file\"\necho \"$file\"\n";

fn checkout() -> Project {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let mut checkout = Project::new()
        .script("scripts/release", &script("scripts/release"))
        .script("scripts/package", &script("scripts/package"))
        .file("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://x.invalid\"\n")
        .script("packaging/materials/write", "#!/bin/sh\nmkdir -p \"$1\"\n: >\"$1/mcp-bash.cdx.json\"\n")
        .script("packaging/install/sign", "#!/bin/sh\ntest -s \"$2\" && : >\"$1/SHA256SUMS\"\n")
        .script("program", "#!/bin/sh\necho mcp-bash 1.2.3\n");
    for recipe in ["archive", "deb", "rpm", "wheel", "npm", "image", "homebrew", "install"] {
        checkout = checkout.script(&format!("packaging/{recipe}/build"), RECIPE);
    }
    checkout
}

/// The files that a dry run makes for programs of these targets, what it cannot make, and its exit code.
fn dry_run(checkout: &Project, targets: &[&str]) -> (Vec<String>, Vec<String>, Option<i32>) {
    let mut command = Command::new(checkout.path("scripts/release"));
    command.args(["--dry-run", "--out", checkout.path("files").to_str().unwrap()]);
    for target in targets {
        command.args(["--binary", &format!("{target}={}", checkout.path("program").display())]);
    }
    let output =
        command.envs([("SOURCE_DATE_EPOCH", "1"), ("LC_ALL", "C")]).env_remove("IMAGES").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (files, missing) = text.split_once("not made here:\n").unwrap_or((&text, ""));
    let files = files
        .lines()
        .skip(1)
        .filter_map(|line| Some(line.split_once("  ")?.1.rsplit(' ').next()?.to_owned()));
    let missing = missing.lines().map(|line| line.trim().to_owned());
    (files.collect(), missing.collect(), output.status.code())
}

#[test]
fn each_target_has_its_packages() {
    let checkout = checkout();
    let (files, missing, code) = dry_run(&checkout, &["universal-apple-darwin", "x86_64-unknown-linux-musl"]);
    assert_eq!(code, Some(0));
    let expected = [
        "SHA256SUMS",
        "archive-universal",
        "archive-x86_64",
        "deb-x86_64",
        "homebrew-universal",
        "image-x86_64-debian",
        "image-x86_64-static",
        "install-universal",
        "mcp-bash-1.2.3-universal-apple-darwin.cdx.json",
        "mcp-bash-1.2.3-x86_64-unknown-linux-musl.cdx.json",
        "npm-universal",
        "npm-x86_64",
        "rpm-x86_64",
        "wheel-universal",
        "wheel-x86_64",
    ];
    assert_eq!(files, expected);
    assert_eq!(missing, ["everything for aarch64-unknown-linux-musl: no program was given"]);
}

#[test]
fn what_cannot_be_made_is_named_with_the_reason() {
    let checkout = checkout();
    checkout.write_script("packaging/rpm/build", "#!/bin/sh\necho 'rpmbuild is missing' >&2\nexit 1\n");
    let all = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "universal-apple-darwin"];
    let (files, missing, code) = dry_run(&checkout, &all);
    assert!(code == Some(0) && files.contains(&"deb-aarch64".to_owned()), "{files:?}");
    let expected = [
        "rpm (x86_64-unknown-linux-musl): rpmbuild is missing",
        "rpm (aarch64-unknown-linux-musl): rpmbuild is missing",
    ];
    assert_eq!(missing, expected);
    assert_eq!(dry_run(&checkout, &["x86_64-pc-windows-msvc"]).2, Some(2));
}
