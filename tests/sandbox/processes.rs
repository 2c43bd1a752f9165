//! Attacks on processes: one of the same user, the server, and another call.

use super::arena::Arena;
use super::attacks::{Row, allowed, expect, refused};
use super::identity::Identity;
use super::outside::Outside;
use crate::harness::{exists, wait_until};
use serde_json::json;
use std::process::Command;

#[test]
fn other_processes_are_out_of_reach() {
    const ROWS: &[Row] = &[
        refused("proc {process} environ"),
        refused("proc {process} mem"),
        refused("proc {process} maps"),
        refused("proc {process} fd"),
        refused("proc {process} root"),
        refused("proc {process} cwd"),
        refused("signal {process} 0"),
        refused("signal-group {process}"),
        refused("signal-thread {process}"),
        refused("signal-by-pidfd {process}"),
        refused("ptrace {process}"),
        refused("read-memory {process}"),
        refused("write-memory {process}"),
        refused("take-descriptor {process}"),
        refused("compare {process}"),
        refused("limits {process}"),
        refused("priority {process}"),
        refused("affinity {process}"),
        refused("by-daemon signal {process} 0"),
        refused("by-daemon proc {process} environ"),
    ];
    expect(ROWS);
}

/// Two calls of tools with the same declaration are strangers.
#[test]
fn another_call_is_out_of_reach() {
    const ROWS: &[Row] = &[
        refused("proc {call} environ"),
        refused("proc {call} mem"),
        refused("proc {call} maps"),
        refused("proc {call} fd"),
        refused("proc {call} root"),
        refused("proc {call} cwd"),
        refused("signal {call} 0"),
        refused("signal-group {call}"),
        refused("ptrace {call}"),
        refused("read-memory {call}"),
        refused("take-descriptor {call}"),
        refused("limits {call}"),
    ];
    expect(ROWS);
}

#[test]
fn the_server_is_out_of_reach() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", "a tool reads its project"),
        refused("proc {server} environ").by_root(),
        refused("proc {server} mem").by_root(),
        refused("proc {server} maps").by_root(),
        refused("proc {server} fd").by_root(),
        refused("proc {server} root").by_root(),
        refused("proc {server} cwd").by_root(),
        refused("signal {server} 0"),
        refused("signal-group {server}"),
        refused("ptrace {server}").by_root(),
        refused("read-memory {server}").by_root(),
        refused("take-descriptor {server}").by_root(),
        refused("limits {server}"),
        refused("priority {server}"),
        refused("affinity {server}"),
        refused("descriptors").on_some_kernels(),
    ];
    expect(ROWS);
}

/// Shared memory by its number, which belongs to no folder.
#[test]
fn shared_memory_is_out_of_reach() {
    for identity in Identity::all() {
        let Some(segment) = Segment::make(identity) else {
            return eprintln!("skipped: ipcmk is not installed");
        };
        let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        let words = format!("segment {}", segment.0);
        let report = arena.attack("on", &words).unwrap();
        assert!(!report.is_done, "{identity:?}: {report:?}");
        let report = arena.attack("off", &words).unwrap();
        assert!(report.is_done, "{identity:?}, without a sandbox: {report:?}");
    }
}

/// A segment of shared memory of this machine, by its number.
struct Segment(String);

impl Segment {
    fn make(identity: Identity) -> Option<Self> {
        let mut command = Command::new("ipcmk");
        command.args(["-M", "4096", "-p", "0600"]);
        identity.runs(&mut command);
        let output = command.output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_whitespace().last().map(|number| Self(number.to_owned()))
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args(["-m", &self.0]).status();
    }
}

/// A real signal: the process lives on.
#[test]
fn a_process_survives_a_signal_from_the_sandbox() {
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        let outside = Outside::new(identity);
        let words = format!("signal {} 15", outside.process());
        let report = arena.attack("on", &words).unwrap();
        assert!(!report.is_done && exists(outside.process()), "{identity:?}: {report:?}");
        let report = arena.attack("off", &words).unwrap();
        assert!(report.is_done, "{identity:?}: {report:?}");
        wait_until("the process to die", || (!exists(outside.process())).then_some(()));
    }
}
