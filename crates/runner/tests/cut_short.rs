//! Terminated calls leave as little behind as those that end by themselves.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

mod stage;

use mcp_bash_runner::{Invocation, Overrun, ProcessEnding, Talk, TimeLimits};
use stage::{SHEDDING, Stage, assert_said_hi, wait_for};
use std::sync::Arc;
use std::time::Duration;

/// Leaves one process of each kind behind, says that it is done, and never ends.
const ENDLESS: &str = "$LINGER 1001 &
    setsid $LINGER 1002 &
    setsid sh -c 'trap \"\" TERM HUP INT; while :; do $LINGER 1003; done' &
    (setsid env -i sh -c 'exec \"$0\" 1004 <&- >&- 2>&-' $LINGER &)
    echo >ready
    ";

fn endless() -> String {
    ENDLESS.replace("env -i ", SHEDDING)
}

/// Waits until the script has started everything.
async fn wait_for_all(stage: &Stage) {
    stage.wait_for_file("ready").await;
    let all_there =
        || ["1001", "1002", "linger 1003", "1004"].iter().all(|word| stage.processes_with(word) > 0);
    wait_for("all that the script leaves behind", all_there).await;
}

#[tokio::test]
async fn at_its_deadline() {
    let stage = Stage::new();
    let endless = stage.shell("endless", &format!("{} $LINGER 1000", endless()));
    let outcome =
        stage.run(Invocation { patience: TimeLimits::fixed(Duration::from_millis(500)), ..endless }).await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    stage.assert_empty();
}

#[tokio::test]
async fn at_its_deadline_though_it_ignores_every_signal() {
    let stage = Stage::new();
    let endless =
        stage.shell("endless", &format!("trap '' TERM HUP INT\n{} while :; do $LINGER 1; done", endless()));
    let outcome =
        stage.run(Invocation { patience: TimeLimits::fixed(Duration::from_millis(500)), ..endless }).await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    stage.assert_empty();
}

#[tokio::test]
async fn at_its_deadline_in_the_middle_of_forking() {
    let stage = Stage::new();
    let endless = stage.shell("endless", "while :; do setsid $LINGER 1000 & done");
    let outcome =
        stage.run(Invocation { patience: TimeLimits::fixed(Duration::from_millis(300)), ..endless }).await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    stage.assert_empty();
}

#[tokio::test]
async fn when_it_is_cancelled() {
    let stage = Stage::new();
    let endless = stage.shell("endless", &format!("{} $LINGER 1000", endless()));
    let outcome = stage.runner.run(endless, wait_for_all(&stage), |_| (), drop).await.unwrap();
    assert_eq!(outcome.ending, ProcessEnding::Cancelled);
    stage.assert_empty();
}

#[tokio::test]
async fn when_it_says_too_much() {
    let stage = Stage::new();
    let endless = stage.shell("endless", &format!("{} cat /dev/zero", endless()));
    let outcome = stage.run(Invocation { output_limit: 100_000, ..endless }).await;
    assert_eq!(outcome.ending, ProcessEnding::OutputTooLarge);
    assert_eq!(outcome.stdout.len(), 100_000);
    stage.assert_empty();
}

/// A script that writes to its side channel all the time does not escape its deadline.
#[tokio::test]
async fn at_its_deadline_though_it_floods_its_side_channel() {
    let stage = Stage::new();
    let endless = stage.shell("endless", "yes >\"$CHANNEL\"");
    let folder = stage.runner.folder().unwrap();
    let talk = Some(Talk { folder: &folder, side_channel: &["CHANNEL"], questions: None });
    let endless = Invocation { patience: TimeLimits::fixed(Duration::from_millis(300)), talk, ..endless };
    let mut lines = 0_u64;
    let outcome = stage.runner.run(endless, std::future::pending(), |_| lines += 1, drop).await.unwrap();
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    assert!(lines > 0);
    stage.assert_empty();
}

/// More than a pipe holds, written after `TERM`: the script can only go on if its output is read.
#[tokio::test]
async fn output_during_shutdown_is_read() {
    let stage = Stage::new();
    let body = "trap 'printf %0200000d 7; echo >said; exit' TERM\necho >ready\nwhile :; do sleep 0.01; done";
    let endless = Invocation { grace: Duration::from_secs(30), ..stage.shell("endless", body) };
    let outcome = stage.runner.run(endless, stage.wait_for_file("ready"), |_| (), drop).await.unwrap();
    assert_eq!(outcome.ending, ProcessEnding::Cancelled);
    assert_eq!(outcome.stdout.len(), 200_000);
    assert!(stage.path("said").exists());
    stage.assert_empty();
}

/// Output beyond the limit counts at once, not when the script has closed its other pipes.
#[tokio::test]
async fn when_it_says_too_much_and_then_nothing() {
    let stage = Stage::new();
    let endless = stage.shell("endless", "printf '%0100d' 7\n$LINGER 1000");
    let outcome = stage.run(Invocation { output_limit: 50, ..endless }).await;
    assert_eq!(outcome.ending, ProcessEnding::OutputTooLarge);
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_no_caller_waits_for_it() {
    let stage = Arc::new(Stage::new());
    let endless = stage.shell("endless", &format!("{} $LINGER 1000", endless()));
    let call = tokio::spawn({
        let stage = Arc::clone(&stage);
        async move { stage.run(endless).await }
    });
    wait_for_all(&stage).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_all_calls_are_ended() {
    let stage = Arc::new(Stage::new());
    let other = Arc::new(Stage::new());
    let started = |stage: &Arc<Stage>| {
        let endless =
            stage.shell("endless", &format!("trap '' TERM\n{} while :; do $LINGER 1; done", endless()));
        let stage = Arc::clone(stage);
        tokio::spawn(async move { stage.run(endless).await })
    };
    let (ended, left_alone) = (started(&stage), started(&other));
    wait_for_all(&stage).await;
    wait_for_all(&other).await;

    let runner = Arc::clone(&stage.runner);
    tokio::task::spawn_blocking(move || runner.end_all(Duration::from_millis(100))).await.unwrap();
    stage.assert_empty();
    assert!(other.processes_with("1004") == 1, "another runner's calls go on");
    assert_eq!(ended.await.unwrap().ending, ProcessEnding::Shutdown);

    let late = stage.runner.run(stage.shell("late", "echo hi"), std::future::pending(), |_| (), drop).await;
    assert!(late.is_err(), "a runner that has ended starts nothing");
    left_alone.abort();
    assert!(left_alone.await.is_err());
    other.assert_empty();
}

/// The grace is for the whole group: programs that a script runs may clean up, even if the script itself exits at once.
#[tokio::test]
async fn with_time_to_clean_up() {
    let stage = Stage::new();
    stage.script(
        "careful",
        "trap 'sleep 0.2; echo >clean; exit' TERM\necho >ready\nwhile :; do sleep 0.01; done\n",
    );
    let endless =
        Invocation { grace: Duration::from_secs(30), ..stage.shell("endless", "sh careful; exit 1") };
    let outcome = stage.runner.run(endless, stage.wait_for_file("ready"), |_| (), drop).await.unwrap();
    assert_eq!(outcome.ending, ProcessEnding::Cancelled);
    assert!(stage.path("clean").exists());
    stage.assert_empty();
}

#[tokio::test]
async fn the_next_call_is_as_good_as_the_first() {
    let stage = Stage::new();
    for _ in 0..3 {
        let endless = stage.shell("endless", &format!("{} $LINGER 1000", endless()));
        stage.run(Invocation { patience: TimeLimits::fixed(Duration::from_millis(100)), ..endless }).await;
        assert_said_hi(&stage.call("hi", "echo hi").await);
        stage.assert_empty();
    }
}
