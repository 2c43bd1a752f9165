//! Listening for tasks: changes are sent, also those of another server.

use super::{Stores, ask, call, declaring, waiting};
use crate::harness::Server;
use serde_json::{Value, json};

/// Listens for these tasks, and returns the acknowledgement.
fn listen(server: &mut Server, ids: &[&str]) -> Value {
    let params = json!({ "notifications": { "taskIds": ids }, "_meta": declaring(&json!({})) });
    server.request("listen", "subscriptions/listen", &params);
    let acknowledged = server.receive();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    acknowledged["params"]["notifications"].clone()
}

/// The first notification of the task with this status.
fn notified(server: &mut Server, id: &str, status: &str) -> Value {
    loop {
        let message = server.receive();
        assert_eq!(message["method"], "notifications/tasks", "{message}");
        let params = &message["params"];
        assert_eq!(
            (&params["taskId"], &params["_meta"]["io.modelcontextprotocol/subscriptionId"]),
            (&json!(id), &json!("listen"))
        );
        if params["status"] == status {
            return params.clone();
        }
    }
}

// Shows: tasks-notifications
#[test]
fn a_listener_receives_the_whole_task_at_each_change() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut runs = stores.start(&project);
    let id = call(&mut runs, "waits");
    project.wait_for_started(1);
    let mut other = stores.start(&project);
    let unknown = "0".repeat(32);
    for server in [&mut runs, &mut other] {
        assert_eq!(listen(server, &[&id, &unknown, "x"]), json!({ "taskIds": [id] }));
    }
    project.open_gate();
    for server in [&mut runs, &mut other] {
        let task = notified(server, &id, "completed");
        assert_eq!(task["result"]["content"][0]["text"], "went", "{task}");
    }
}

#[test]
fn one_that_has_ended_is_sent_at_once_and_wrong_filters_are_refused() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    ask(&mut server, "tasks/cancel", json!({ "taskId": id }));
    super::wait_for(&mut server, &id, "cancelled");
    for wrong in [json!("x"), json!([1]), json!(vec!["x"; 257])] {
        let params = json!({ "notifications": { "taskIds": wrong } });
        let answer = ask(&mut server, "subscriptions/listen", params);
        assert_eq!(crate::harness::code(&answer), -32602, "{answer}");
    }
    assert_eq!(listen(&mut server, &[&id]), json!({ "taskIds": [id] }));
    notified(&mut server, &id, "cancelled");
}
