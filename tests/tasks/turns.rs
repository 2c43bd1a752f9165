//! Tasks of which only a few may run at a time: the others wait for their turn.

use super::{Stores, ask, call, get, metadata, text, wait_for, waiting};
use crate::harness::{Project, wait_until, wait_until_gone};
use rustix::process::Signal;
use serde_json::{Value, json};

const WAITS: &str = "It waits for its turn";
const BEHIND_ONE: &str = "It waits for its turn, behind 1 other task";

/// A project with a tool `waits` of which one task may run.
fn limited(more: &Value) -> Project {
    let mut metadata = json!({ "execution": { "taskSupport": "optional", "maxConcurrent": 1 } });
    metadata.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    waiting(&metadata)
}

#[test]
fn of_a_tool_only_as_many_run_as_it_allows() {
    let (project, stores) = (limited(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let first = call(&mut server, "waits");
    project.wait_for_started(1);
    let [second, third] = [(); 2].map(|()| call(&mut server, "waits"));
    assert_eq!(get(&mut server, &second)["statusMessage"], WAITS);
    assert_eq!(get(&mut server, &third)["statusMessage"], BEHIND_ONE);
    assert_eq!(get(&mut server, &first).get("statusMessage"), None);
    assert_eq!(project.wait_for_started(1).len(), 1);
    project.open_gate();
    for id in [first, second, third] {
        assert_eq!(text(&wait_for(&mut server, &id, "completed")), "went");
    }
    assert_eq!(project.wait_for_started(3).len(), 3);
}

#[test]
fn one_that_waits_can_be_cancelled_and_the_next_moves_up() {
    let (project, stores) = (limited(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let first = call(&mut server, "waits");
    project.wait_for_started(1);
    let [second, third] = [(); 2].map(|()| call(&mut server, "waits"));
    ask(&mut server, "tasks/cancel", json!({ "taskId": second }));
    wait_for(&mut server, &second, "cancelled");
    assert_eq!(get(&mut server, &third)["statusMessage"], WAITS);
    ask(&mut server, "tasks/cancel", json!({ "taskId": first }));
    wait_for(&mut server, &first, "cancelled");
    project.wait_for_started(2);
    assert_eq!(get(&mut server, &third).get("statusMessage"), None);
    project.open_gate();
    wait_for(&mut server, &third, "completed");
    assert_eq!(project.wait_for_started(2).len(), 2, "the second never ran");
}

#[test]
fn a_higher_priority_goes_first() {
    let project = waiting(&json!({}));
    let script = std::fs::read_to_string(project.root().join("tools/waits/tool.sh")).expect("a script");
    let project = project.tool("urgent", &script);
    let urgent = json!({ "execution": { "taskSupport": "optional", "priority": 5 } });
    project.write("tools/urgent/tool.meta.json", &metadata("urgent", "optional", &urgent));
    let stores = Stores::new();
    let mut server = stores.start_with(&project, &[("MCPBASH_MAX_RUNNING_TASKS", "1")]);
    let runs = call(&mut server, "waits");
    project.wait_for_started(1);
    let old = call(&mut server, "waits");
    assert_eq!(get(&mut server, &old)["statusMessage"], WAITS);
    let urgent = call(&mut server, "urgent");
    assert_eq!(get(&mut server, &urgent)["statusMessage"], WAITS);
    assert_eq!(get(&mut server, &old)["statusMessage"], BEHIND_ONE);
    ask(&mut server, "tasks/cancel", json!({ "taskId": runs }));
    project.wait_for_started(2);
    assert_eq!(get(&mut server, &urgent).get("statusMessage"), None);
    assert_eq!(get(&mut server, &old)["statusMessage"], WAITS);
}

#[test]
fn one_that_waits_outlives_its_server_though_it_may_not_run_twice() {
    let (project, stores) = (limited(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let first = call(&mut server, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let second = call(&mut server, "waits");
    server.signal(Signal::KILL);
    server.wait();
    wait_until_gone(process);
    let mut next = stores.start(&project);
    assert_eq!(get(&mut next, &first)["status"], "failed");
    assert_eq!(get(&mut next, &second)["status"], "working");
    project.wait_for_started(2);
    // It has begun, so that it fails with its server like any other.
    next.signal(Signal::KILL);
    next.wait();
    let mut last = stores.start(&project);
    assert_eq!(get(&mut last, &second)["status"], "failed");
    assert_eq!(project.wait_for_started(2).len(), 2);
}

#[test]
fn one_that_waits_when_its_client_leaves_is_begun_by_the_next_server() {
    let (project, stores) = (limited(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    call(&mut server, "waits");
    project.wait_for_started(1);
    let second = call(&mut server, "waits");
    server.finish();
    project.open_gate();
    let mut next = stores.start(&project);
    assert_eq!(text(&wait_for(&mut next, &second, "completed")), "went");
}

#[test]
fn servers_of_one_machine_take_turns_with_each_other() {
    let (project, stores) = (limited(&json!({})), Stores::new());
    let mut servers = [stores.start(&project), stores.start(&project)];
    let first = call(&mut servers[0], "waits");
    project.wait_for_started(1);
    let second = call(&mut servers[1], "waits");
    assert_eq!(get(&mut servers[0], &second)["statusMessage"], WAITS);
    ask(&mut servers[1], "tasks/cancel", json!({ "taskId": first }));
    project.wait_for_started(2);
    project.open_gate();
    wait_for(&mut servers[0], &second, "completed");
}

#[test]
fn what_is_in_the_way_of_the_queue_is_named_and_no_task_runs_twice() {
    let (project, stores) = (limited(&json!({})), Stores::new());
    std::fs::create_dir_all(stores.path()).expect("a folder");
    std::fs::set_permissions(stores.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("a mode");
    std::fs::write(stores.path().join("queue"), "not a folder").expect("a file");
    let mut server = stores.start(&project);
    let refused = ask(&mut server, "tools/call", json!({ "name": "waits", "arguments": {} }));
    let words = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    assert!(words.contains("The call was not made") && words.contains("MCPBASH_STORE"), "{words}");
    std::fs::remove_file(stores.path().join("queue")).expect("a file");
    let id = call(&mut server, "waits");
    project.wait_for_started(1);
    // Marks of tasks that are none, and of one that was: they hold nobody up.
    for name in ["f".repeat(32), "x".to_owned(), "..".repeat(9)] {
        std::fs::write(stores.path().join("queue").join(name), "").expect("a file");
    }
    let next = call(&mut server, "waits");
    project.open_gate();
    for id in [id, next] {
        wait_until("its end", || (get(&mut server, &id)["status"] == "completed").then_some(()));
    }
    assert_eq!(project.wait_for_started(2).len(), 2);
}
