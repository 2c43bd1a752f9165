//! Escapees: whatever a script leaves behind when it exits is gone when its outcome is returned.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod stage;

use mcp_bash_runner::ProcessEnding;
use stage::{SHEDDING, Stage, assert_said_hi, wait_for};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs a script that leaves something behind, and checks that it is gone and was not waited for.
async fn leaves_nothing(body: &str) {
    let stage = Stage::new();
    let start = Instant::now();
    assert_said_hi(&stage.call("leaver", body).await);
    stage.assert_empty();
    assert!(start.elapsed() < Duration::from_secs(30), "what was left was waited for");
}

#[tokio::test]
async fn a_background_process() {
    leaves_nothing("$LINGER 1000 &\necho hi").await;
}

#[tokio::test]
async fn a_background_process_that_ignores_all_it_can() {
    leaves_nothing("nohup sh -c 'trap \"\" TERM HUP INT QUIT; while :; do $LINGER 1000; done' &\necho hi")
        .await;
}

#[tokio::test]
async fn a_process_in_its_own_session() {
    leaves_nothing("setsid $LINGER 1000 &\necho hi").await;
}

#[tokio::test]
async fn a_process_in_a_session_of_its_own_that_nobody_can_hear() {
    leaves_nothing("nohup setsid $LINGER 1000 </dev/null >/dev/null 2>&1 &\necho hi").await;
}

#[tokio::test]
async fn a_daemon_after_two_forks() {
    leaves_nothing(
        "setsid sh -c '$LINGER 1000 & echo $! >daemon' &
         while [ ! -s daemon ]; do :; done
         echo hi",
    )
    .await;
}

#[cfg_attr(
    any(not(target_os = "linux"), mcp_bash_portable),
    ignore = "without its environment nothing shows to which call it belongs"
)]
#[tokio::test]
async fn a_daemon_without_environment_and_descriptors() {
    leaves_nothing(
        "(setsid env -i sh -c 'echo $$ >daemon; exec \"$0\" 1000 <&- >&- 2>&-' $LINGER &)
         while [ ! -s daemon ]; do :; done
         echo hi",
    )
    .await;
}

#[tokio::test]
async fn a_tree_of_sessions() {
    leaves_nothing(
        "setsid sh -c 'setsid sh -c \"setsid \\$LINGER 1000 & \\$LINGER 1000 & echo >grown; wait\" & $LINGER 1000' &
         while [ ! -e grown ]; do :; done
         echo hi",
    )
    .await;
}

#[tokio::test]
async fn a_stopped_process() {
    leaves_nothing("setsid sh -c 'echo >ready; kill -STOP $$; $LINGER 1000' &\nwhile [ ! -e ready ]; do :; done; echo hi").await;
}

/// The escaped loop makes processes that escape as well, as fast as it can.
#[tokio::test]
async fn a_loop_that_forks() {
    leaves_nothing(
        "setsid sh -c 'while :; do setsid $LINGER 1000 & echo >>made; done' &
         while [ ! -s made ] || [ $(wc -l <made) -lt 50 ]; do :; done
         echo hi",
    )
    .await;
}

/// Each process of the chain starts the next and exits.
#[cfg_attr(
    any(not(target_os = "linux"), mcp_bash_portable),
    ignore = "without its environment nothing shows to which call it belongs"
)]
#[tokio::test]
async fn a_chain_that_never_stands_still() {
    let stage = Stage::new();
    stage.script("chain", "echo >>links\nsetsid env -i PATH=\"$PATH\" sh \"$0\" &");
    let body = "sh $PWD/chain\nwhile [ $(wc -l <links) -lt 10 ]; do :; done\necho hi";
    assert_said_hi(&stage.call("leaver", body).await);
    stage.assert_empty();
    let links = std::fs::read(stage.path("links")).unwrap().len();
    stage.call("wait", "sleep 0.1").await;
    assert_eq!(std::fs::read(stage.path("links")).unwrap().len(), links, "the chain has come to its end");
}

/// The same as fast as possible, without loading a program in between.
#[cfg_attr(
    any(not(target_os = "linux"), mcp_bash_portable),
    ignore = "they move on while the process table is read, and would fill it"
)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chains_as_fast_as_they_can_be() {
    let stage = Arc::new(Stage::new());
    stage.script(
        "chain",
        "use POSIX; open(F, '>>', shift); while (1) { exit if fork; setsid; syswrite(F, 'x'); }",
    );
    let calls: Vec<_> = (0..3)
        .map(|number| {
            let stage = Arc::clone(&stage);
            tokio::spawn(async move {
                for _ in 0..5 {
                    let body = format!(
                        "perl $PWD/chain links{number}\nwhile [ ! -s links{number} ]; do :; done\necho hi"
                    );
                    assert_said_hi(&stage.call(&format!("leaver{number}"), &body).await);
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    stage.assert_empty();
}

/// A chain of many links, of which the last stays.
#[cfg_attr(
    any(not(target_os = "linux"), mcp_bash_portable),
    ignore = "it moves on while the process table is read"
)]
#[tokio::test]
async fn a_chain_that_ends_in_a_daemon() {
    for _ in 0..5 {
        let stage = Stage::new();
        stage.script(
            "chain",
            "use POSIX; for (1..300) { exit if fork; setsid; } open(F, '>done'); sleep 1000",
        );
        assert_said_hi(&stage.call("leaver", "perl $PWD/chain\necho hi").await);
        stage.assert_empty();
    }
}

/// Neither the environment nor the limits nor group or session show which call it belongs to. It is killed at once,
/// whatever other calls are running.
#[cfg_attr(
    any(not(target_os = "linux"), mcp_bash_portable),
    ignore = "without its environment nothing shows to which call it belongs"
)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_has_taken_off_its_mark() {
    const SHEDDING: &str = "for limit in unlimited 0 5; do
            (bash -c \"echo >>shedding; ulimit -S -x $limit; ulimit -x $limit; setsid env -i $LINGER 3000\" &)
        done
        while [ ! -e shedding ] || [ $(wc -l <shedding) -lt 3 ]; do :; done
        echo hi";
    let stage = Arc::new(Stage::new());
    let waiting = tokio::spawn({
        let stage = Arc::clone(&stage);
        async move {
            stage
                .call(
                    "waiter",
                    "$LINGER 1001 &\necho >waiting\nwhile [ ! -e go ]; do sleep 0.01; done\necho hi",
                )
                .await
        }
    });
    stage.wait_for_file("waiting").await;
    assert_said_hi(&stage.call("leaver", SHEDDING).await);
    assert_eq!(stage.processes_with("linger 3000"), 0);
    assert_eq!(stage.processes_with("linger 1001"), 1, "the other call goes on");
    std::fs::write(stage.path("go"), "").unwrap();
    assert_said_hi(&waiting.await.unwrap());
    stage.assert_empty();
}

/// A process that joins our own group does not become ours.
#[tokio::test]
async fn a_daemon_in_the_group_of_the_server() {
    let stage = Stage::new();
    let group = rustix::process::getpgrp().as_raw_nonzero();
    stage.script(
        "joiner",
        "use POSIX; exit if fork; setpgid(0, shift); open(F, '>joined'); exec($ENV{LINGER}, 1000)",
    );
    let body = format!("perl $PWD/joiner {group}\nwhile [ ! -e joined ]; do :; done\necho hi");
    assert_said_hi(&stage.call("leaver", &body).await);
    stage.assert_empty();
}

#[test]
fn all_of_this_without_control_groups() {
    stage::again_without_groups();
}

#[tokio::test]
async fn leftovers_of_a_failing_script() {
    let stage = Stage::new();
    let outcome = stage.call("leaver", "setsid $LINGER 1000 &\nexit 3").await;
    assert_eq!(outcome.ending, ProcessEnding::Exited(3));
    stage.assert_empty();
    let outcome = stage.call("crasher", "setsid $LINGER 1000 &\nkill -SEGV $$").await;
    assert_eq!(outcome.ending, ProcessEnding::Signalled(11));
    stage.assert_empty();
}

/// The output includes what an escapee writes before the script exits, and not what it would have written later.
#[tokio::test]
async fn written_output_is_not_lost() {
    let stage = Stage::new();
    let body = "setsid sh -c 'echo early; echo >written; $LINGER 1000; echo late' &
                while [ ! -e written ]; do :; done
                printf '%0100000d' 7";
    let outcome = stage.call("leaver", body).await;
    assert_eq!(outcome.ending, ProcessEnding::Exited(0));
    assert_eq!(outcome.stdout.len(), 6 + 100_000);
    assert!(outcome.stdout.starts_with(b"early\n0") && outcome.stdout.ends_with(b"7"));
    stage.assert_empty();
}

/// While a call runs, its background processes are left alone, escaped or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_calls_keep_their_processes() {
    let stage = Arc::new(Stage::new());
    let body = format!(
        "$LINGER 1001 &
         setsid $LINGER 1002 &
         (setsid {SHEDDING}$LINGER 1003 <&- >&- 2>&- &)
         echo >ready
         while [ ! -e go ]; do sleep 0.01; done
         echo hi"
    );
    let long = tokio::spawn({
        let stage = Arc::clone(&stage);
        async move { stage.call("long", &body).await }
    });
    stage.wait_for_file("ready").await;
    let all_there = || ["1001", "1002", "1003"].iter().all(|word| stage.processes_with(word) == 1);
    wait_for("the background of the long call", all_there).await;
    for _ in 0..5 {
        let body =
            format!("setsid $LINGER 2001 &\n(setsid {SHEDDING}$LINGER 2002 &)\n$LINGER 2003 &\necho hi");
        assert_said_hi(&stage.call("short", &body).await);
        assert_eq!(stage.processes_with("linger 200"), 0);
        assert!(all_there());
    }
    std::fs::write(stage.path("go"), "").unwrap();
    assert_said_hi(&long.await.unwrap());
    stage.assert_empty();
}
