//! Many calls, one after another and at the same time: nothing accumulates, and no call gets what belongs to another.
//!
//! A single test, alone in its process, so that it can count all zombies there are.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod stage;

use mcp_bash_runner::ProcessEnding;
use stage::{SHEDDING, Stage, assert_said_hi, wait_for, zombies};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_adds_up() {
    one_after_the_other().await;
    side_by_side().await;
    a_long_one().await;
    a_chain_without_end().await;
}

/// Plain calls, calls with orphans that end before the script, and calls with orphans that do not.
async fn one_after_the_other() {
    let stage = Stage::new();
    let descriptors = open_descriptors();
    for round in 0..200 {
        let body = match round % 4 {
            0 | 1 => "echo hi",
            2 => "(true &)\n(true &)\n(setsid true &)\necho hi",
            _ => "(setsid $LINGER 1000 &)\n(true &)\necho hi",
        };
        assert_said_hi(&stage.call(&format!("script{}", round % 4), body).await);
        assert_eq!(zombies(), [0_u32; 0], "after call {round}");
    }
    stage.assert_empty();
    assert!(open_descriptors() <= descriptors + 5, "descriptors add up");
}

async fn side_by_side() {
    let stage = Arc::new(Stage::new());
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let stage = Arc::clone(&stage);
            tokio::spawn(async move {
                for round in 0..5 {
                    let body = format!(
                        "setsid $LINGER 9{number:02}1 &
                         (setsid {SHEDDING}$LINGER 9{number:02}2 <&- >&- 2>&- &)
                         (true &)
                         $LINGER 9{number:02}3 &
                         echo {number}.{round}
                         exit {number}"
                    );
                    let outcome = stage.call(&format!("script{number}"), &body).await;
                    assert_eq!(outcome.ending, ProcessEnding::Exited(number));
                    assert_eq!(outcome.stdout, format!("{number}.{round}\n").as_bytes());
                    assert_eq!(stage.processes_with(&format!("linger 9{number:02}")), 0);
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    stage.assert_empty();
    assert_eq!(zombies(), [0_u32; 0]);
}

/// A call that makes orphans all the time does not fill the process table while it lasts.
async fn a_long_one() {
    let stage = Arc::new(Stage::new());
    let call = tokio::spawn({
        let stage = Arc::clone(&stage);
        let body = "for i in 1 2 3 4 5 6 7 8 9; do (true &); done
                    echo >ready
                    while [ ! -e go ]; do sleep 0.01; done
                    echo hi";
        async move { stage.call("long", body).await }
    });
    stage.wait_for_file("ready").await;
    wait_for("the dead to be reaped", || zombies().is_empty()).await;
    std::fs::write(stage.path("go"), "").unwrap();
    assert_said_hi(&call.await.unwrap());
    assert_eq!(zombies(), [0_u32; 0]);
}

/// A chain of processes, each of which starts the next and exits, has thousands of links when its call is cancelled.
/// Most of them were reaped while it ran.
async fn a_chain_without_end() {
    let stage = Stage::new();
    stage.script("chain", "use POSIX; open(F, '>>', 'links'); while (1) { exit if fork; syswrite(F, 'x'); }");
    let links = || std::fs::metadata(stage.path("links")).map_or(0, |file| file.len());
    let body = "perl $PWD/chain\nwhile :; do $LINGER 1000; done";
    let cancelled = wait_for("so many links", || links() > 3000);
    let outcome = stage.runner.run(stage.shell("chained", body), cancelled, |_| (), drop).await.unwrap();
    assert_eq!(outcome.ending, ProcessEnding::Cancelled);
    stage.assert_empty();
    assert_eq!(zombies(), [0_u32; 0]);
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/dev/fd").unwrap().count()
}
