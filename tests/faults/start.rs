//! A start on a machine that lacks something every call needs: one sentence tells the operator and the
//! client.

use crate::harness::{Project, Server};
use rustix::process::getuid;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program in its own namespaces, after root has run `prelude` there. Its `$0` is `folder`.
fn command_after(prelude: &str, folder: &Path) -> Command {
    let mut command = Server::command_of("unshare");
    // An ordinary user may mount inside a user namespace.
    command.args(if getuid().is_root() { &["--mount"][..] } else { &["--map-root-user", "--mount"] });
    command.args(["sh", "-c", &format!("{prelude} && exec \"$@\"")]).arg(folder);
    command.arg(env!("CARGO_BIN_EXE_mcp-bash"));
    command
}

/// The standard error of a start that fails, and the answer to a client's first request.
fn failed_start(mut command: Command, project: &Project) -> (String, String) {
    command.arg("--project-root").arg(project.root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().expect("a process");
    let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {} });
    let mut input = server.stdin.take().expect("a pipe");
    // A server that has exited reads nothing.
    let _ = writeln!(input, "{request}");
    drop(input);
    let output = server.wait_with_output().expect("an end");
    let said = String::from_utf8(output.stderr).expect("text");
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("one answer, not {:?}; {said}", String::from_utf8_lossy(&output.stdout)));
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32603)), "{answer}");
    assert_eq!(output.status.code(), Some(1), "{said}");
    (said, answer["error"]["message"].as_str().expect("words").to_owned())
}

fn expect_both(said: &(String, String), words: &[&str]) {
    for text in [&said.0, &said.1] {
        assert!(words.iter().all(|words| text.contains(words)), "{words:?} in {text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    }
}

#[cfg_attr(mcp_bash_portable, ignore = "only Linux has /proc")]
#[test]
fn a_start_without_proc_says_so() {
    let project = Project::with_hi();
    let said = failed_start(command_after("mount -t tmpfs none /proc", project.root()), &project);
    expect_both(&said, &["/proc/self/exe cannot be read", "mount -t proc proc /proc"]);
}

#[test]
fn a_start_without_a_usable_temporary_folder_names_it_and_the_setting() {
    let (project, outer) = (Project::with_hi(), Project::new().file("file", "").file("disk/.keep", ""));
    let with = |name: &str, folder: &Path| {
        let mut command = Server::command();
        command.env(name, folder);
        command
    };
    let (missing, file, disk) = (outer.path("missing"), outer.path("file"), outer.path("disk"));
    for name in ["TMPDIR", "MCPBASH_TMP_ROOT"] {
        let set = &*format!("set {name} to a folder that you may write to");
        let said = failed_start(with(name, &file), &project);
        expect_both(&said, &[&file.to_string_lossy(), "it is no folder", set]);
    }
    let set = "set TMPDIR to a folder that you may write to";
    let said = failed_start(with("TMPDIR", &missing), &project);
    expect_both(&said, &[&missing.to_string_lossy(), "No such file or directory", set]);
    let read_only = "mount -t tmpfs -o size=64k,ro disk \"$0\"";
    let mut command = command_after(read_only, &disk);
    command.env("TMPDIR", &disk);
    expect_both(&failed_start(command, &project), &[&disk.to_string_lossy(), "Read-only file system", set]);
    let full = "mount -t tmpfs -o size=64k disk \"$0\" && { head -c 1M /dev/zero > \"$0/filler\" 2>/dev/null || true; }";
    let mut command = command_after(full, &disk);
    command.env("TMPDIR", &disk);
    expect_both(&failed_start(command, &project), &[&disk.to_string_lossy(), "No space left on device", set]);
    if !getuid().is_root() {
        // Root may write anywhere.
        fs::set_permissions(&disk, Permissions::from_mode(0o555)).expect("permissions");
        expect_both(&failed_start(with("TMPDIR", &disk), &project), &["Permission denied", set]);
        fs::set_permissions(&disk, Permissions::from_mode(0o755)).expect("permissions");
    }
}
