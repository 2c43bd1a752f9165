//! A server that can open no more files, because of its descriptor limit.

use super::{Subject, tools_of, write_version};
use crate::harness::Project;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// Lowers the limit of a running process. Returns the previous one.
fn limit_descriptors(pid: u32, limit: Rlimit) -> Rlimit {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a pid");
    prlimit(Some(pid), Resource::Nofile, limit).expect("a limit")
}

#[test]
fn a_save_while_no_file_can_be_opened_is_loaded_afterwards() {
    let project = Project::new();
    write_version(&project, 0);
    // Lists do not wait for files that cannot be read.
    let mut subject = Subject::start(&project, &[("MCPBASH_LIST_WAIT_SECS", "0")]);
    subject.expect_version(0);
    let pid = subject.server.pid();
    // First nothing can be opened; then, each time, one more file before the first failure.
    let lowest = lowest_free(pid);
    for version in 1..=6 {
        // (The standard streams: with fewer descriptors the kernel cannot even poll them.)
        let most = if version == 1 { 3 } else { lowest + version - 2 };
        let limit = keeping_maximum(pid, Rlimit { current: Some(most as u64), maximum: None });
        let before = limit_descriptors(pid, limit);
        write_version(&project, version);
        if version == 1 {
            subject.expect_log("the project cannot be read now: Too many open files", 1);
            assert_eq!(subject.names("tools"), tools_of(0), "what was good stays");
            let (status, why) = subject.readiness();
            assert_eq!(status, 503, "{why}");
            assert!(why.contains("Too many open files"), "{why}");
        }
        // Files that could be read may be served by now, and nothing is lost.
        let kinds: Vec<String> = subject.names("tools").iter().map(|name| kind_of(name)).collect();
        assert_eq!(kinds, tools_of(0).iter().map(|name| kind_of(name)).collect::<Vec<_>>());
        limit_descriptors(pid, before);
        subject.expect_version(version);
    }
    let log = subject.server.finish();
    let count = |words: &str| log.matches(words).count();
    assert_eq!(count("the project cannot be read now"), count("the project could be read again"), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

/// `shell` of `shell_3`.
fn kind_of(name: &str) -> String {
    name.split('_').next().unwrap_or_default().to_owned()
}

/// The lowest number that the next descriptor of a process can have.
fn lowest_free(pid: u32) -> usize {
    let is_open = |number: &usize| std::fs::symlink_metadata(format!("/proc/{pid}/fd/{number}")).is_ok();
    (0..65536).find(|number| !is_open(number)).expect("a number")
}

/// Only the soft limit changes: an ordinary user could not raise the hard limit again.
fn keeping_maximum(pid: u32, limit: Rlimit) -> Rlimit {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit of files");
    let maximum = line.split_whitespace().nth(4).and_then(|maximum| maximum.parse().ok());
    Rlimit { maximum, ..limit }
}

#[test]
fn a_call_while_no_pipe_can_be_made_is_refused_with_the_reason_and_the_next_is_served() {
    let project = Project::new();
    write_version(&project, 0);
    let mut subject = Subject::start(&project, &[]);
    let pid = subject.server.pid();
    subject.expect_version(0);
    // A call that needs a process, and so pipes, is answered with the reason. The next one is served.
    let limit = Rlimit { current: Some(3), maximum: None };
    let before = limit_descriptors(pid, keeping_maximum(pid, limit));
    let refused = subject.call("shell_0");
    assert!(refused.contains("Too many open files"), "{refused}");
    limit_descriptors(pid, before);
    subject.expect_version(0);
    subject.server.finish();
}

#[test]
fn a_policy_that_cannot_run_is_not_a_refusal_and_decides_again_later() {
    let project = Project::new().file("server.d/policy.sh", "mcp_tools_policy_check() { return 0; }\n");
    write_version(&project, 0);
    let mut subject = Subject::start(&project, &[]);
    subject.expect_version(0);
    let pid = subject.server.pid();
    let lowest = lowest_free(pid);
    // Each time, one more file before the first failure: first the policy's files, then those of its process.
    for more in 0..12 {
        let limit = keeping_maximum(pid, Rlimit { current: Some((lowest + more) as u64), maximum: None });
        let before = limit_descriptors(pid, limit);
        let told = subject.call("shell_0");
        assert!(!told.contains("blocked by policy"), "{more}: {told}");
        limit_descriptors(pid, before);
    }
    subject.expect_version(0);
}
