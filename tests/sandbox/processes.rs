//! Attacks on processes: one of the same user, the server, and another call.

use super::arena::Arena;
use super::attacks::{Row, allowed, expect, refused};
use super::identity::Identity;
use crate::harness::{exists, wait_until};
use serde_json::json;

/// Attacks on the process `{process}`, and what makes them again on another.
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

#[test]
fn other_processes_are_out_of_reach() {
    expect(ROWS);
}

#[test]
fn the_server_is_out_of_reach() {
    const ROWS: &[Row] = &[
        allowed("read {project}/notes", "a tool reads its project"),
        refused("proc {server} environ"),
        refused("proc {server} mem"),
        refused("proc {server} maps"),
        refused("proc {server} fd"),
        refused("proc {server} root"),
        refused("proc {server} cwd"),
        refused("signal {server} 0"),
        refused("signal-group {server}"),
        refused("signal-all"),
        refused("ptrace {server}"),
        refused("read-memory {server}"),
        refused("take-descriptor {server}"),
        refused("limits {server}"),
        refused("priority {server}"),
        refused("affinity {server}"),
        refused("descriptors").on_some_kernels(),
    ];
    expect(ROWS);
}

/// A real signal: the process lives on.
#[test]
fn a_process_survives_a_signal_from_the_sandbox() {
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        let outside = super::outside::Outside::new(identity);
        let words = format!("signal {} 15", outside.process());
        let report = arena.attack("on", &words).unwrap();
        assert!(!report.is_done && exists(outside.process()), "{identity:?}: {report:?}");
        let report = arena.attack("off", &words).unwrap();
        assert!(report.is_done, "{identity:?}: {report:?}");
        wait_until("the process to die", || (!exists(outside.process())).then_some(()));
    }
}

/// Two calls of the same tool, with the same declaration, are strangers.
#[test]
fn another_call_is_out_of_reach() {
    const SLEEP: &str = "599.75";
    let sleeper = json!({ "description": "Sleeps", "command": ["sleep", SLEEP], "sandbox": "on" });
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("off", json!("off")), ("on", json!("on"))]);
        arena.project.write("tools/sleeper.meta.json", &sleeper.to_string());
        arena.begin("sleeper", &json!({}));
        let server = arena.server_pid();
        let other = wait_until("the other call", || process_with(server, SLEEP));
        for name in ["environ", "mem", "maps", "fd", "root", "cwd"] {
            let words = format!("proc {other} {name}");
            let report = arena.attack("on", &words).unwrap();
            assert!(!report.is_done, "{words}, {identity:?}: {report:?}");
        }
        for attack in ["signal-thread", "ptrace", "read-memory", "take-descriptor", "limits"] {
            let words = format!("{attack} {other}");
            let report = arena.attack("on", &words).unwrap();
            assert!(!report.is_done, "{words}, {identity:?}: {report:?}");
            let report = arena.attack("off", &words).unwrap();
            assert!(report.is_done, "{words}, {identity:?}, without a sandbox: {report:?}");
        }
        assert!(exists(other), "{identity:?}");
    }
}

/// A descendant of the server with this word on its command line.
fn process_with(server: u32, word: &str) -> Option<u32> {
    let text = |pid: u32, name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let parent = |pid: u32| -> Option<u32> {
        let status = text(pid, "status")?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    let entries = std::fs::read_dir("/proc").expect("the process table").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let is_named = text(*pid, "cmdline").is_some_and(|line| line.split('\0').any(|part| part == word));
        let mut ancestors = std::iter::successors(Some(*pid), |pid| parent(*pid).filter(|pid| *pid > 1));
        is_named && ancestors.any(|ancestor| ancestor == server)
    })
}
