//! A daemon that has wiped off every mark cannot be told from another call's. It goes when the last call has ended
//! that it may be of.
//!
//! One test alone in its process, where no other test's calls are going on.

mod stage;

use stage::{Stage, assert_said_hi};
use std::sync::Arc;

/// Neither the environment nor the limit on file locks nor group or session say whose it is.
const UNMARKED: &str =
    "(bash -c 'ulimit -S -x unlimited; setsid env -i sh -c \"echo >daemon; exec \\$0 1000\" $LINGER' &)
    while [ ! -s daemon ]; do :; done
    rm daemon
    echo hi";

const WAITING: &str = "echo >waiting\nwhile [ ! -e go ]; do sleep 0.01; done\necho hi";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unmarked_daemon_goes_with_the_last_call_it_may_be_of() {
    let stage = Stage::new();
    assert_said_hi(&stage.call("leaver", UNMARKED).await);
    stage.assert_empty();

    let (other, later) = (Arc::new(Stage::new()), Arc::new(Stage::new()));
    let waiting = start(&other).await;
    assert_said_hi(&stage.call("leaver", UNMARKED).await);
    assert_eq!(stage.processes_with("linger 1000"), 1, "it may be the other's");
    let later_one = start(&later).await;
    finish(&other, waiting).await;
    stage.assert_empty();
    assert!(later.processes_with("waiter") > 0, "a later call goes on");
    finish(&later, later_one).await;
}

type Call = tokio::task::JoinHandle<mcp_bash_runner::Outcome>;

async fn start(stage: &Arc<Stage>) -> Call {
    let call = tokio::spawn({
        let stage = Arc::clone(stage);
        async move { stage.call("waiter", WAITING).await }
    });
    stage.wait_for_file("waiting").await;
    call
}

async fn finish(stage: &Stage, call: Call) {
    std::fs::write(stage.path("go"), "").unwrap();
    assert_said_hi(&call.await.unwrap());
    stage.assert_empty();
}
