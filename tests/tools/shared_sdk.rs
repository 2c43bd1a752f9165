//! The SDK in the user's cache, for commands that exit after one call.

use crate::harness::{Project, Server};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const WHERE: &str = "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nmcp_emit_text \"$MCP_SDK\"\n";

/// Calls the tool that prints the path of its SDK.
fn sdk(root: &Path, cache: &Path) -> PathBuf {
    let mut command = Server::command();
    command.args(["call", "where"]).current_dir(root).env("XDG_CACHE_HOME", cache);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// The only folder of ours in a cache.
fn only_folder(cache: &Path) -> PathBuf {
    let found: Vec<_> =
        fs::read_dir(cache.join("mcp-bash")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn calls_share_one_sdk_that_is_restored_when_it_was_changed() {
    let (project, cache) = (Project::new().tool("where", WHERE), tempfile::tempdir().unwrap());
    let first = sdk(project.root(), cache.path());
    assert_eq!(first, only_folder(cache.path()).join("sdk"));
    let mode = fs::metadata(cache.path().join("mcp-bash")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(sdk(project.root(), cache.path()), first);
    for damage in ["mcp_emit_text() { echo evil; }", ""] {
        fs::write(first.join("tool-sdk.sh"), damage).unwrap();
        assert_eq!(sdk(project.root(), cache.path()), first);
        assert_eq!(only_folder(cache.path()).join("sdk"), first);
    }
    fs::remove_file(first.join("parts/output.sh")).unwrap();
    assert_eq!(sdk(project.root(), cache.path()), first);
}

#[test]
fn a_writable_or_linked_sdk_is_not_used() {
    let (project, cache) = (Project::new().tool("where", WHERE), tempfile::tempdir().unwrap());
    let first = sdk(project.root(), cache.path());
    let ours = cache.path().join("mcp-bash");
    for folder in [&ours, cache.path()] {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
        let other = sdk(project.root(), cache.path());
        assert!(!other.starts_with(cache.path()), "{other:?}");
        fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    }
    assert_eq!(sdk(project.root(), cache.path()), first);
    // A link in its place is not followed, even if its target is correct.
    let home = first.parent().unwrap();
    fs::rename(home, cache.path().join("moved")).unwrap();
    symlink(cache.path().join("moved"), home).unwrap();
    assert_eq!(sdk(project.root(), cache.path()), first);
    assert!(fs::symlink_metadata(home).unwrap().is_dir());
    // A missing cache fails no call either.
    let file = cache.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(!sdk(project.root(), &file).starts_with(cache.path()));
}

#[test]
fn concurrent_calls_do_not_disturb_each_other() {
    let (project, cache) = (Project::new().tool("where", WHERE), tempfile::tempdir().unwrap());
    let (root, cache_path) = (project.root(), cache.path());
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| sdk(root, cache_path))).collect();
        for call in calls {
            assert!(call.join().unwrap().join("tool-sdk.sh").exists());
        }
    });
    only_folder(cache.path());
}
