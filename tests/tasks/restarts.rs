//! Tasks whose server is killed, stopped or left.

use super::{Stores, ask, call, get, text, wait_for, waiting};
use crate::harness::{exists, wait_until, wait_until_gone};
use rustix::process::Signal;
use serde_json::json;

// Shows: tasks-restart
#[test]
fn a_task_whose_server_is_killed_fails_with_the_reason() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    project.wait_for_started(1);
    server.signal(Signal::KILL);
    server.wait();
    let mut next = stores.start(&project);
    let task = get(&mut next, &id);
    assert_eq!((&task["status"], &task["error"]["code"]), (&json!("failed"), &json!(-32603)), "{task}");
    assert!(task["error"]["message"].as_str().unwrap().contains("server"), "{task}");
    assert_eq!(project.wait_for_started(1).len(), 1, "it is not run again");
}

#[test]
fn a_server_that_starts_takes_care_of_abandoned_tasks_by_itself() {
    let (project, stores) = (waiting(&json!({ "replay": true })), Stores::new());
    let mut server = stores.start(&project);
    call(&mut server, "waits");
    let first = project.wait_for_started(1);
    server.signal(Signal::KILL);
    server.wait();
    first.into_iter().for_each(wait_until_gone);
    let mut next = stores.start(&project);
    next.ask(1, "server/discover", &json!({ "_meta": super::declaring(&json!({})) }));
    let started = project.wait_for_started(2);
    assert_eq!(started.len(), 2);
}

// Shows: tasks-run-again
#[test]
fn a_task_that_may_run_again_is_run_again_by_one_server() {
    let (project, stores) = (waiting(&json!({ "replay": true })), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    let first = project.wait_for_started(1);
    server.signal(Signal::KILL);
    server.wait();
    first.into_iter().for_each(wait_until_gone);
    let mut others = [stores.start(&project), stores.start(&project)];
    for other in &mut others {
        assert_eq!(get(other, &id)["status"], "working");
    }
    let started = project.wait_for_started(2);
    for other in &mut others {
        assert_eq!(get(other, &id)["status"], "working");
    }
    project.open_gate();
    for other in &mut others {
        assert_eq!(text(&wait_for(other, &id, "completed")), "went");
    }
    assert_eq!(project.wait_for_started(2), started, "once");
}

#[test]
fn a_result_outlives_its_server() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    project.open_gate();
    let task = wait_for(&mut server, &id, "completed");
    server.finish();
    assert_eq!(get(&mut stores.start(&project), &id), task);
}

#[test]
fn when_the_client_leaves_tasks_fail_or_are_left_to_the_next_server() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    server.finish();
    assert!(!exists(process));
    let task = get(&mut stores.start(&project), &id);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(task["error"]["message"].as_str().unwrap().contains("stopped"), "{task}");

    let (project, stores) = (waiting(&json!({ "replay": true })), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    project.wait_for_started(1);
    server.finish();
    let mut next = stores.start(&project);
    assert_eq!(get(&mut next, &id)["status"], "working");
    project.wait_for_started(2);
    project.open_gate();
    assert_eq!(text(&wait_for(&mut next, &id, "completed")), "went");
}

#[test]
fn another_server_sees_cancels_and_answers_a_task() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut runs = stores.start(&project);
    let id = call(&mut runs, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let mut other = stores.start(&project);
    assert_eq!(get(&mut other, &id)["status"], "working");
    ask(&mut other, "tasks/cancel", json!({ "taskId": id }));
    wait_for(&mut other, &id, "cancelled");
    wait_until_gone(process);
    wait_for(&mut runs, &id, "cancelled");
}

#[test]
fn a_task_that_was_cancelled_before_its_server_died_is_not_run_again() {
    let (project, stores) = (waiting(&json!({ "replay": true })), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    project.wait_for_started(1);
    server.signal(Signal::STOP);
    let mut other = stores.start(&project);
    ask(&mut other, "tasks/cancel", json!({ "taskId": id }));
    server.signal(Signal::KILL);
    server.wait();
    let task = wait_until("it to be cancelled", || {
        let task = get(&mut other, &id);
        (task["status"] != "working").then_some(task)
    });
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(project.wait_for_started(1).len(), 1);
}
