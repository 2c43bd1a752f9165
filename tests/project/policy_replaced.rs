//! `server.d/policy.yaml` that is replaced or removed while it is served, or could have been removed by others.

use crate::harness::{Project, Server, make_pipe, wait_until};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const FILE: &str = "server.d/policy.yaml";
const GOOD: &str = "version: 1\ndefault: allow\nrules: []\n";

fn project() -> Project {
    Project::with_hi().file("resources/note.txt", "note").file("prompts/greet.txt", "Hello").file(FILE, GOOD)
}

/// A call, a read and a prompt: whether they are served. Either all of them are or none.
fn is_served(server: &mut Server, project: &Project) -> bool {
    let uri = format!("file://{}", project.path("resources/note.txt").canonicalize().unwrap().display());
    let requests = [
        ("tools/call", json!({ "name": "hi" })),
        ("resources/read", json!({ "uri": uri })),
        ("prompts/get", json!({ "name": "greet" })),
    ];
    let outcomes = requests.map(|(method, params)| {
        let answer = server.ask_past_news(method, method, &params);
        let is_served = answer["error"].is_null() && answer["result"]["isError"] != true;
        assert!(is_served || words(&answer).contains("olicy"), "{method}: {answer}");
        is_served
    });
    outcomes == [true; 3]
}

fn words(answer: &Value) -> String {
    let error = answer["error"]["message"].as_str();
    error.or(answer["result"]["content"][0]["text"].as_str()).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn set_mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), Permissions::from_mode(mode)).unwrap();
}

/// Puts a good file back.
fn restore(project: &Project) {
    set_mode(project, "server.d", 0o755);
    let path = project.path(FILE);
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir(&path).unwrap();
    } else {
        let _ = fs::remove_file(&path);
    }
    project.write(FILE, GOOD);
}

#[test]
fn a_file_that_is_replaced_by_something_else_lets_nothing_run() {
    type Spoil = (&'static str, fn(&Project));
    let spoils: [Spoil; 6] = [
        ("empty", |project| project.write(FILE, "")),
        ("a link", |project| {
            project.write("elsewhere.yaml", GOOD);
            project.remove(FILE);
            symlink("../elsewhere.yaml", project.path(FILE)).unwrap();
        }),
        ("a named pipe", |project| {
            project.remove(FILE);
            make_pipe(&project.path(FILE), 0o600);
        }),
        ("a folder", |project| {
            project.remove(FILE);
            fs::create_dir(project.path(FILE)).unwrap();
        }),
        ("writable by others", |project| set_mode(project, FILE, 0o666)),
        // An older file of the owner, which others have put in its place.
        ("in a folder that others can write", |project| {
            project.write("server.d/old.yaml", GOOD);
            set_mode(project, "server.d", 0o777);
            fs::rename(project.path("server.d/old.yaml"), project.path(FILE)).unwrap();
        }),
    ];
    let project = project();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    assert!(is_served(&mut server, &project));
    for (how, spoil) in spoils {
        spoil(&project);
        wait_until(how, || (!is_served(&mut server, &project)).then_some(()));
        restore(&project);
        wait_until("the policy is back", || is_served(&mut server, &project).then_some(()));
    }
    server.finish();
}

#[test]
fn a_file_that_others_could_have_removed_lets_nothing_run() {
    let project = project();
    let mut server = Server::ready_with(project.root(), &[("MCPBASH_LOG_LEVEL", "emergency")], "2025-11-25");
    // Its owner may remove it.
    project.write(FILE, &GOOD.replace("allow", "deny"));
    wait_until("the other policy", || (!is_served(&mut server, &project)).then_some(()));
    project.remove(FILE);
    wait_until("no policy", || is_served(&mut server, &project).then_some(()));
    restore(&project);
    set_mode(&project, "server.d", 0o777);
    project.remove(FILE);
    wait_until("the removed policy counts", || (!is_served(&mut server, &project)).then_some(()));
    server.finish();

    let mut server = Server::ready(project.root());
    let uri = format!("file://{}", project.path("resources/note.txt").canonicalize().unwrap().display());
    let refused = words(&server.ask_past_news(1, "resources/read", &json!({ "uri": uri })));
    assert!(refused.contains("others could have removed server.d/policy.yaml"), "{refused}");
    assert!(refused.contains("chmod go-w"), "{refused}");
    set_mode(&project, "server.d", 0o755);
    server.finish();
}

#[test]
fn a_required_policy_that_is_removed_lets_nothing_run() {
    let project = project();
    let required = [("MCPBASH_POLICY", "required"), ("MCPBASH_LOG_LEVEL", "emergency")];
    let mut server = Server::ready_with(project.root(), &required, "2025-11-25");
    assert!(is_served(&mut server, &project));
    project.remove(FILE);
    wait_until("the removed policy counts", || (!is_served(&mut server, &project)).then_some(()));
    restore(&project);
    wait_until("the policy is back", || is_served(&mut server, &project).then_some(()));
    server.finish();
}
