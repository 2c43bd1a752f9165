//! Limits that a tool declares for itself, and programs that take all they get.

use super::arena::Arena;
use super::identity::Identity;
use serde_json::{Value, json};

/// What a tool does within its limit, and what it does beyond it.
struct Row {
    declaration: (&'static str, Value),
    within: &'static str,
    beyond: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |name, value, within, beyond| Row { declaration: (name, value), within, beyond };
    vec![
        row("processes", json!(64), "processes 30", "processes 2000"),
        row("processes", json!(64), "threads 30", "threads 2000"),
        row("memory", json!("128M"), "memory 32", "memory 1024"),
        row("cpuSecs", json!(2), "cpu 1", "cpu 30"),
        row("cpuSecs", json!(2), "stubborn-cpu 1", "stubborn-cpu 30"),
        row("openFiles", json!(128), "open-files 50", "open-files 2000"),
        row("fileSize", json!("2M"), "disk %TMP/large 1", "disk %TMP/large 20"),
    ]
}

#[test]
fn a_tool_gets_no_more_than_it_declared() {
    for identity in Identity::all() {
        for Row { declaration: (name, value), within, beyond } in rows() {
            let limited = json!({ name: value });
            let mut arena = Arena::new(identity, &[("limited", limited.clone())]);
            let report = arena.attack("limited", within).unwrap_or_else(|why| panic!("{limited}: {why}"));
            assert!(report.is_done, "{within}, {limited}, {identity:?}: {report:?}");
            if name == "processes" && identity.is_root() {
                eprintln!("skipped: the kernel does not count the processes of root");
                continue;
            }
            let report = arena.attack("limited", beyond).unwrap_or_else(|why| panic!("{limited}: {why}"));
            assert!(!report.is_done, "{beyond}, {limited}, {identity:?}: {report:?}");
        }
    }
}

/// The limit of memory counts private memory only. This shows that it does, so that the pages for users say so.
#[test]
fn shared_memory_is_not_limited() {
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("limited", json!({ "memory": "128M" }))]);
        let report = arena.attack("limited", "shared-memory 256").unwrap();
        assert!(report.is_done, "{identity:?}: {report:?}");
    }
}

#[test]
fn the_bombs_explode_without_limits() {
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("off", json!("off"))]);
        for beyond in
            ["processes 200", "threads 200", "memory 256", "cpu 3", "open-files 900", "disk %TMP/large 20"]
        {
            let report = arena.attack("off", beyond).unwrap();
            assert!(report.is_done, "{beyond}, {identity:?}: {report:?}");
        }
    }
}

#[test]
fn a_limit_cannot_be_raised() {
    let limits = json!({ "cpuSecs": 30, "openFiles": 128, "fileSize": "2M" });
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("limited", limits.clone())]);
        // Between the signal and the kill is a little time.
        for words in ["raise-limit cpuSecs 35", "raise-limit openFiles 128", "raise-limit fileSize 2097152"] {
            let report = arena.attack("limited", words).unwrap();
            let is_refused = !report.is_done && report.errno.as_deref() == Some("EPERM");
            assert!(is_refused, "{words}, {identity:?}: {report:?}");
        }
    }
}

/// A call that runs into its limits costs only itself.
#[test]
fn other_calls_do_not_suffer() {
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &[("on", json!("on")), ("limited", json!({ "openFiles": 64 }))]);
        for _ in 0..3 {
            let report = arena.attack("limited", "open-files 2000").unwrap();
            assert!(!report.is_done, "{identity:?}: {report:?}");
            let report = arena.attack("on", "open-files 900").unwrap();
            assert!(report.is_done, "{identity:?}: {report:?}");
        }
    }
}
