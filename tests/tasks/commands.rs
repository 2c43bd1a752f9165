//! `mcp-bash task`: an operator sees, cancels and retries the tasks of a project.

use super::{Stores, call, get, text, wait_for, waiting};
use crate::harness::{Project, Server, wait_until, wait_until_gone};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The exit code of the command, and what it prints.
fn task(stores: &Stores, project: &Project, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Server::command();
    command.arg("task").args(arguments).arg("--project-root").arg(project.root());
    let said = command.env("MCPBASH_STORE", stores.path()).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (said.status.code().expect("a code"), text(said.stdout), text(said.stderr))
}

fn json_of(stores: &Stores, project: &Project, arguments: &[&str]) -> Value {
    let (code, out, err) = task(stores, project, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn tasks_are_listed_shown_and_cancelled_while_a_server_runs_them() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    assert_eq!(task(&stores, &project, &["list"]), (0, "There are no tasks\n".to_owned(), String::new()));
    assert!(!stores.path().exists(), "looking makes nothing");
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    let [process] = project.wait_for_started(1)[..] else { panic!("one process") };
    let (code, out, _) = task(&stores, &project, &["list"]);
    assert!(code == 0 && out.contains(&id) && out.contains("working") && out.contains("waits"), "{out}");
    let listed = json_of(&stores, &project, &["list", "--status", "working"]);
    assert_eq!((&listed[0]["taskId"], &listed[0]["tool"]), (&json!(id), &json!("waits")), "{listed}");
    assert_eq!(json_of(&stores, &project, &["list", "--caller", "nobody-else"]), json!([]));
    assert_eq!(json_of(&stores, &project, &["list", "--status", "failed"]), json!([]));
    let shown = json_of(&stores, &project, &["show", &id]);
    assert_eq!((&shown["status"], shown.get("result")), (&json!("working"), None), "{shown}");
    let (code, _, err) = task(&stores, &project, &["retry", &id]);
    assert!(code == 3 && err.contains("running"), "{err}");
    assert_eq!(task(&stores, &project, &["cancel", &id]).0, 0);
    wait_for(&mut server, &id, "cancelled");
    wait_until_gone(process);
    let (code, _, err) = task(&stores, &project, &["cancel", &id]);
    assert!(code == 1 && err.contains("cancelled"), "{err}");
    let (code, _, err) = task(&stores, &project, &["retry", &id]);
    assert!(code == 3 && err.contains("replay"), "{err}");
}

#[test]
fn a_task_that_may_run_again_is_retried_with_its_id() {
    let (project, stores) = (waiting(&json!({ "replay": true })), Stores::new());
    let mut server = stores.start(&project);
    let id = call(&mut server, "waits");
    project.wait_for_started(1).into_iter().for_each(|process| {
        assert_eq!(task(&stores, &project, &["cancel", &id]).0, 0);
        wait_for(&mut server, &id, "cancelled");
        wait_until_gone(process);
    });
    let waits = wait_until("it to be free", || {
        let (code, out, _) = task(&stores, &project, &["retry", &id, "--json"]);
        (code == 0).then(|| serde_json::from_str::<Value>(&out).unwrap())
    });
    assert_eq!(waits["task"]["status"], "working", "{waits}");
    assert_eq!(get(&mut server, &id)["status"], "working", "this request begins it again");
    project.wait_for_started(2);
    project.open_gate();
    assert_eq!(text(&wait_for(&mut server, &id, "completed")), "went");
    let shown = json_of(&stores, &project, &["show", &id]);
    assert_eq!(shown["result"]["content"][0]["text"], "went", "{shown}");
    let (_, out, _) = task(&stores, &project, &["show", &id]);
    assert!(out.contains("completed") && out.contains("went"), "{out}");
}

#[test]
fn what_is_wrong_is_refused_by_name() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    for id in ["x", "../../etc/passwd", &"0".repeat(32)] {
        for command in ["show", "cancel", "retry"] {
            let (code, _, err) = task(&stores, &project, &[command, id]);
            assert!(code == 4 && err.contains(id) && err.contains("task list"), "{err}");
        }
    }
    assert_eq!(task(&stores, &project, &["list", "--status", "busy"]).0, 2);
    fs::create_dir(stores.path()).unwrap();
    fs::set_permissions(stores.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (code, _, err) = task(&stores, &project, &["list"]);
    assert!(code == 1 && err.contains("0700"), "{err}");
}

#[test]
fn health_and_doctor_warn_of_a_store_that_cannot_be_used() {
    let (project, stores) = (waiting(&json!({})), Stores::new());
    let look = |arguments: &[&str]| {
        let mut command = Server::command();
        command.args(arguments).arg("--project-root").arg(project.root()).env("MCPBASH_STORE", stores.path());
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    let said = look(&["health", "--json"]);
    assert!(!said.contains("task folder") && !stores.path().exists(), "{said}");
    fs::write(stores.path(), "").unwrap();
    for command in [&["health", "--json"][..], &["doctor", "--json"]] {
        let said = look(command);
        assert!(said.contains("task folder") && said.contains("MCPBASH_STORE"), "{said}");
    }
    project.write("tools/waits/tool.meta.json", r#"{"name":"waits","description":"waits"}"#);
    let said = look(&["health", "--json"]);
    assert!(!said.contains("task folder"), "without such tools nothing is looked at: {said}");
}
