//! Tasks: called at one server, followed, answered and cancelled at others, and taken over when a server is gone.

use super::Fleet;
use crate::harness::http::stateless_with;
use crate::harness::{Project, exists, wait_until, wait_until_gone};
use crate::tasks::{metadata, waiting};
use rustix::process::Signal;
use serde_json::{Value, json};

fn call(fleet: &Fleet, server: usize, tool: &str) -> String {
    let answer = fleet.ask(server, "tools/call", &json!({ "name": tool, "arguments": {} }));
    answer["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn get(fleet: &Fleet, server: usize, id: &str) -> Value {
    let answer = fleet.ask(server, "tasks/get", &json!({ "taskId": id }));
    assert_eq!(answer["result"]["taskId"], id, "{answer}");
    answer["result"].clone()
}

fn wait_for(fleet: &Fleet, server: usize, id: &str, status: &str) -> Value {
    wait_until(&format!("the task to be {status}"), || {
        let task = get(fleet, server, id);
        (task["status"] == status).then_some(task)
    })
}

#[test]
fn a_task_is_found_at_every_server_at_once_and_its_result_too() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start(&project, 3);
    let id = call(&fleet, 0, "waits");
    for server in [1, 2, 0] {
        assert_eq!(get(&fleet, server, &id)["status"], "working");
    }
    project.wait_for_started(1);
    project.open_gate();
    let task = wait_for(&fleet, 2, &id, "completed");
    assert_eq!(task["result"]["content"][0]["text"], "went", "{task}");
    assert_eq!(project.wait_for_started(1).len(), 1, "one server ran it");
}

#[test]
fn a_task_is_cancelled_at_another_server_to_its_last_process() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start(&project, 2);
    let id = call(&fleet, 0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    assert!(exists(process));
    fleet.ask(1, "tasks/cancel", &json!({ "taskId": id }));
    wait_until_gone(process);
    wait_for(&fleet, 1, &id, "cancelled");
}

#[test]
fn a_question_of_a_task_is_answered_at_another_server() {
    let script = "#!/usr/bin/env bash\n. \"${MCP_SDK:?}/tool-sdk.sh\"\n\
                  name=$(mcp_elicit_string 'Who?' name | jq -r .content.name)\necho \"Hello $name\"\n";
    let project = Project::new().tool("asks", script);
    project.write("tools/asks/tool.meta.json", &metadata("asks", "optional", &json!({})));
    let fleet = Fleet::start(&project, 3);
    let id = call(&fleet, 0, "asks");
    let asked = wait_for(&fleet, 1, &id, "input_required");
    let key = asked["inputRequests"].as_object().and_then(|asked| asked.keys().next()).expect("a question");
    let answer = json!({ key: { "action": "accept", "content": { "name": "Ada" } } });
    fleet.ask(2, "tasks/update", &json!({ "taskId": id, "inputResponses": answer }));
    let task = wait_for(&fleet, 1, &id, "completed");
    assert_eq!(task["result"]["content"][0]["text"], "Hello Ada", "{task}");
}

#[test]
fn the_task_of_a_killed_server_fails_with_the_reason_and_runs_no_second_time() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start(&project, 2);
    let id = call(&fleet, 0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    fleet.servers[0].signal(Signal::KILL);
    wait_until_gone(process);
    assert_eq!(get(&fleet, 1, &id)["status"], "working", "its server may only be slow");
    fleet.end_leases();
    let task = wait_for(&fleet, 1, &id, "failed");
    assert!(task["error"]["message"].as_str().is_some_and(|words| words.contains("server")), "{task}");
    assert_eq!(project.wait_for_started(1).len(), 1);
}

#[test]
fn a_repeatable_task_of_a_killed_server_is_run_again_by_exactly_one_other() {
    let project = waiting(&json!({ "replay": true }));
    let fleet = Fleet::start(&project, 3);
    let id = call(&fleet, 0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    fleet.servers[0].signal(Signal::KILL);
    wait_until_gone(process);
    fleet.end_leases();
    std::thread::scope(|scope| {
        for server in [1, 2, 1, 2] {
            let (fleet, id) = (&fleet, &id);
            scope.spawn(move || get(fleet, server, id));
        }
    });
    project.wait_for_started(2);
    project.open_gate();
    for server in [1, 2] {
        wait_for(&fleet, server, &id, "completed");
    }
    assert_eq!(project.wait_for_started(2).len(), 2, "it ran twice in all");
}

#[test]
fn a_server_that_lost_its_lease_while_it_was_frozen_stops_its_task() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start(&project, 2);
    let id = call(&fleet, 0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    fleet.servers[0].signal(Signal::STOP);
    fleet.end_leases();
    wait_for(&fleet, 1, &id, "failed");
    fleet.servers[0].signal(Signal::CONT);
    // It learns from the store that the task is another's now.
    wait_until_gone(process);
    assert_eq!(get(&fleet, 0, &id)["status"], "failed", "its end is not overwritten");
}

#[test]
fn a_client_that_only_listens_sees_the_task_of_a_killed_server_go_on() {
    let project = waiting(&json!({ "replay": true }));
    let fleet = Fleet::start(&project, 2);
    let id = call(&fleet, 0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let mut params = json!({ "notifications": { "taskIds": [id] } });
    params["_meta"] = crate::tasks::declaring(&json!({}));
    let headers = [("Authorization", fleet.token())];
    let mut connection = fleet.servers[1].connect();
    connection.send(&stateless_with(&headers, 1, "subscriptions/listen", &params));
    let mut events = connection.events();
    assert_eq!(
        events.next_message().expect("a notice").message()["method"],
        "notifications/subscriptions/acknowledged"
    );
    fleet.servers[0].signal(Signal::KILL);
    wait_until_gone(process);
    fleet.end_leases();
    project.wait_for_started(2);
    project.open_gate();
    let ended = std::iter::from_fn(|| events.next_message())
        .map(|event| event.message())
        .find(|message| message["params"]["status"] == "completed");
    assert!(ended.is_some(), "the stream ended without the end of the task");
}

#[test]
fn the_tasks_of_a_caller_are_counted_at_all_servers() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start_with(&project, 2, &[("MCPBASH_MAX_TASKS_PER_CALLER", "2")]);
    call(&fleet, 0, "waits");
    call(&fleet, 1, "waits");
    for server in [0, 1] {
        let refused = fleet.ask(server, "tools/call", &json!({ "name": "waits", "arguments": {} }));
        let words = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert!(words.contains("MCPBASH_MAX_TASKS_PER_CALLER"), "{words}");
    }
}

#[test]
fn the_tasks_of_a_caller_take_turns_at_all_servers() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start_with(&project, 2, &[("MCPBASH_MAX_RUNNING_TASKS_PER_CALLER", "1")]);
    let first = call(&fleet, 0, "waits");
    project.wait_for_started(1);
    let second = call(&fleet, 1, "waits");
    assert_eq!(get(&fleet, 0, &second)["statusMessage"], "It waits for its turn");
    assert_eq!(project.wait_for_started(1).len(), 1);
    fleet.ask(1, "tasks/cancel", &json!({ "taskId": first }));
    project.wait_for_started(2);
    project.open_gate();
    wait_for(&fleet, 0, &second, "completed");
}

#[test]
fn a_task_that_waits_at_a_killed_server_begins_at_another() {
    let project = waiting(&json!({}));
    let fleet = Fleet::start_with(&project, 2, &[("MCPBASH_MAX_RUNNING_TASKS", "1")]);
    let first = call(&fleet, 0, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let second = call(&fleet, 0, "waits");
    fleet.servers[0].signal(Signal::KILL);
    wait_until_gone(process);
    fleet.end_leases();
    wait_for(&fleet, 1, &first, "failed");
    assert_eq!(get(&fleet, 1, &second)["status"], "working", "nothing of it has run");
    project.wait_for_started(2);
    project.open_gate();
    wait_for(&fleet, 1, &second, "completed");
    assert_eq!(project.wait_for_started(2).len(), 2);
}

#[test]
fn a_server_that_is_stopped_lets_its_tasks_end() {
    let project = waiting(&json!({}));
    let mut fleet = Fleet::start(&project, 2);
    let id = call(&fleet, 0, "waits");
    project.wait_for_started(1);
    fleet.servers[0].signal(Signal::TERM);
    // It has stopped to listen, so it is ending.
    wait_until("the server to end its listeners", || {
        std::net::TcpStream::connect(fleet.servers[0].address()).is_err().then_some(())
    });
    assert_eq!(get(&fleet, 1, &id)["status"], "working");
    project.open_gate();
    let task = wait_for(&fleet, 1, &id, "completed");
    assert_eq!(task["result"]["content"][0]["text"], "went", "{task}");
    assert!(fleet.servers[0].wait().success());
}
