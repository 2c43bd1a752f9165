//! A worker can harm only its own call: each call is answered exactly once, no call sees data of another, a
//! new process serves the next one, and no process is left running.

mod frames;
mod processes;

use crate::harness::{Server, wait_until_gone};
use crate::tools::workers::{pid, project, ready, text, work};
use serde_json::json;

/// Runs bad code in a call, which must be answered with an error result that contains `problem`. Another
/// process serves the next call, and the first one is gone.
fn expect_fault(deed: &str, problem: &str) {
    let project = project(&json!({ "processes": 1 }));
    let mut server = ready(&project);
    let first = pid(&mut server);
    let answer = work(&mut server, deed);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text(&answer).contains(problem), "{deed}: {answer}");
    assert_next_is_served(&mut server, first);
}

fn assert_next_is_served(server: &mut Server, first: u32) {
    assert_ne!(pid(server), first);
    wait_until_gone(first);
    server.expect_silence();
}
