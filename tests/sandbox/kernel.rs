//! Attacks on the kernel, on privileges, and on the sandbox itself.

use super::arena::{Arena, hostile};
use super::attacks::{Row, allowed, expect, refused};
use super::identity::Identity;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

const PROJECT: &str = "a tool reads its project";

#[test]
fn namespaces_and_mounts_are_refused() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", PROJECT),
        // Some systems let only root have user namespaces.
        refused("unshare user").on_some_kernels(),
        refused("unshare user net").on_some_kernels(),
        refused("unshare user mount pid").on_some_kernels(),
        refused("unshare net").by_root(),
        refused("unshare mount").by_root(),
        refused("unshare pid").by_root(),
        refused("clone user").on_some_kernels(),
        refused("clone user net").on_some_kernels(),
        refused("clone3 user").on_some_kernels(),
        refused("enter {process} mount").by_root(),
        refused("enter {process} pid").by_root(),
        refused("mount {home}").by_root(),
        refused("mount %TMP").by_root(),
        refused("open-tree {home}").by_root(),
        refused("new-mount").by_root(),
        refused("pivot-root").by_root(),
        refused("chroot {home}").by_root(),
        refused("by-daemon unshare user").on_some_kernels(),
    ];
    expect(ROWS);
}

#[test]
fn doors_into_the_kernel_are_closed() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", PROJECT),
        refused("add-key").on_some_kernels(),
        refused("request-key").on_some_kernels(),
        refused("keyctl").on_some_kernels(),
        refused("io-uring").on_some_kernels(),
        refused("bpf").on_some_kernels(),
        refused("perf").on_some_kernels(),
        refused("userfaultfd").on_some_kernels(),
        refused("fanotify").on_some_kernels(),
        refused("kernel-log").on_some_kernels(),
        refused("module").on_some_kernels(),
        refused("kexec").on_some_kernels(),
        refused("hostname").by_root(),
        refused("swap").by_root(),
        refused("ports").on_some_kernels(),
        refused("x32").on_some_kernels(),
        refused("i386").on_some_kernels(),
        refused("type-into-input"),
        refused("type-with-high-bits"),
        refused("console-selection"),
        allowed("personality", "it changes only programs that the tool starts"),
    ];
    expect(ROWS);
}

#[test]
fn there_are_no_privileges() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", PROJECT),
        refused("become 1").by_root(),
        refused("capabilities").by_root(),
        refused("new-privileges"),
        refused("device %TMP").by_root(),
    ];
    expect(ROWS);
}

#[test]
fn the_sandbox_cannot_be_undone() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", PROJECT),
        refused("undo-seccomp").on_some_kernels(),
        refused("undo-landlock {key}").on_some_kernels(),
        refused("by-memory-file undo-landlock {key}").on_some_kernels(),
    ];
    expect(ROWS);
}

/// A program of root with the setuid bit, in the project of another user.
#[test]
fn setuid_programs_give_no_privileges() {
    let identity = Identity::Nobody;
    if !Identity::all().contains(&identity) {
        eprintln!("skipped: only root can make a setuid program of root");
        return;
    }
    let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
    arena.start();
    // Made after everything was given to the other user.
    let program = arena.project.path("bin/setuid");
    fs::copy(hostile(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    let words = format!("setuid-program {}", program.display());
    let report = arena.attack("on", &words).unwrap();
    assert!(!report.is_done && report.note == "ran as itself", "{report:?}");
    let report = arena.attack("off", &words).unwrap();
    assert!(report.is_done, "without a sandbox: {report:?}");
}

/// A terminal whose other end is the test.
#[test]
fn terminals_are_out_of_reach() {
    for identity in Identity::all() {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("a terminal");
        unlockpt(&terminal).expect("a terminal");
        let name = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("a name");
        chown(&name, Some(identity.uid()), None).expect("another owner");
        let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        let report = arena.attack("on", &format!("type-into {name}")).unwrap();
        assert!(!report.is_done && report.errno.as_deref() == Some("EACCES"), "{identity:?}: {report:?}");
        let report = arena.attack("off", &format!("type-into {name}")).unwrap();
        // It has to be the terminal of the process, unless root asks.
        assert_eq!(report.is_done, identity.is_root(), "{identity:?}: {report:?}");
    }
}
