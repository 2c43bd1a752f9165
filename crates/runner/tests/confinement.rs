//! Confinement: what a confined process, and all it starts, cannot do; and that it does not run if it cannot be
//! confined.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod stage;

use mcp_bash_runner::{Invocation, ProcessEnding};
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use mcp_bash_sandbox::{Confinement, Filter, FilterChoices, ProcessLimit, Sockets};
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use mcp_bash_sandbox::{Confinement, ProcessLimit};
use stage::Stage;

/// Runs a script under a confinement, and returns what it printed.
async fn printed_by(body: &str, confinement: Confinement) -> String {
    let stage = Stage::new();
    let outcome = stage.run(Invocation { confinement, ..stage.shell("script", body) }).await;
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.ending, ProcessEnding::Exited(0), "{stderr}");
    String::from_utf8(outcome.stdout).unwrap()
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
#[tokio::test]
async fn no_process_of_the_call_gains_privileges() {
    const BODY: &str = "grep NoNewPrivs /proc/self/status";
    let confined = Confinement::default().without_new_privileges();
    assert_eq!(printed_by(BODY, confined).await, "NoNewPrivs:\t1\n");
    let ours = std::fs::read_to_string("/proc/self/status").unwrap();
    let ours = ours.lines().find(|line| line.starts_with("NoNewPrivs")).unwrap();
    assert_eq!(printed_by(BODY, Confinement::default()).await, format!("{ours}\n"));
}

/// The first process installs the filter, later ones inherit a part of it from the thread that starts them. All are under the
/// whole filter.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
#[tokio::test]
async fn a_filter_holds_whether_it_is_inherited_or_not() {
    // Each call of the list is denied: namespaces by either part, keyrings by the inherited one.
    const BODY: &str = "grep -c '^Seccomp:.2$' /proc/self/status
        sed -n 's/^Seccomp_filters:.//p' /proc/self/status
        nsenter --net=/proc/self/ns/net true 2>/dev/null || echo no setns
        unshare --user true 2>/dev/null || echo no unshare";
    let filter = Filter::new(FilterChoices { sockets: Sockets::None, unix_sockets: true }).unwrap();
    let confined = || Confinement::default().without_new_privileges().filtered_by(filter.clone());
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("Seccomp_filters:")).unwrap();
    let own: usize = own.trim().parse().unwrap();
    for parts in [1, 2, 2, 2] {
        let expected = format!("1\n{}\nno setns\nno unshare\n", own + parts);
        assert_eq!(printed_by(BODY, confined()).await, expected);
    }
    // A step that fails is reported from there too.
    let stage = Stage::new();
    let confinement = Confinement::default()
        .with_limit(ProcessLimit::OpenFiles(1 << 62))
        .without_new_privileges()
        .filtered_by(filter);
    let invocation = Invocation { confinement, ..stage.shell("script", "echo >ran") };
    let refused = stage.runner.run(invocation, std::future::pending(), |_| (), drop).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("failed to limit open files to"), "{refused}");
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn limits_are_those_of_the_process_and_cannot_be_raised() {
    let confined = Confinement::default()
        .with_limit(ProcessLimit::OpenFiles(37))
        .with_limit(ProcessLimit::CpuSeconds(41));
    let body = "ulimit -Sn; ulimit -Hn; ulimit -St; ulimit -Ht";
    assert_eq!(printed_by(body, confined).await, "37\n37\n41\n42\n");
}

#[tokio::test]
async fn a_limit_ends_what_exceeds_it() {
    let stage = Stage::new();
    let confinement = Confinement::default().with_limit(ProcessLimit::FileBytes(1024));
    let body = "exec head -c 4096 /dev/zero >file";
    let outcome = stage.run(Invocation { confinement, ..stage.shell("script", body) }).await;
    let by_signal = matches!(outcome.ending, ProcessEnding::Signalled(_));
    assert!(by_signal, "{:?}", outcome.ending);
    assert_eq!(std::fs::metadata(stage.path("file")).unwrap().len(), 1024);
}

/// More open files than the kernel allows.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
#[tokio::test]
async fn a_process_that_cannot_be_confined_does_not_run() {
    let stage = Stage::new();
    let confinement =
        Confinement::default().without_new_privileges().with_limit(ProcessLimit::OpenFiles(1 << 62));
    let invocation = Invocation { confinement, ..stage.shell("script", "echo >ran") };
    let program = invocation.program.display().to_string();
    let refused = stage.runner.run(invocation, std::future::pending(), |_| (), drop).await;
    let expected = format!(
        "failed to start {program}: failed to limit open files to {}: Operation not permitted (os error 1)",
        1_u64 << 62
    );
    assert_eq!(refused.unwrap_err().to_string(), expected);
    assert!(!stage.path("ran").exists());
    stage.assert_empty();
}

/// The steps apply to the child alone: neither to this process nor to the next call.
#[tokio::test]
async fn the_server_itself_is_not_confined() {
    let stage = Stage::new();
    let before = stage.call("before", "ulimit -Hn; ulimit -Ht").await.stdout;
    let confinement = Confinement::default()
        .with_limit(ProcessLimit::OpenFiles(37))
        .with_limit(ProcessLimit::CpuSeconds(41));
    stage.run(Invocation { confinement, ..stage.shell("confined", "true") }).await;
    assert_eq!(stage.call("after", "ulimit -Hn; ulimit -Ht").await.stdout, before);
}
