//! The project folder itself: a symlink that later points elsewhere, or a folder that is missing for a while.

use super::{Subject, write_version};
use crate::harness::http::HttpServer;
use crate::harness::{Project, Server, wait_until};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

/// Points a symlink elsewhere atomically, as deployments do.
fn point(outer: &Project, to: &Project) {
    let fresh = outer.path("fresh");
    symlink(to.root(), &fresh).expect("a link");
    fs::rename(fresh, outer.path("current")).expect("a link in its place");
}

#[test]
fn a_link_that_changes_its_target_is_reported() {
    let (outer, one, other) = (Project::new(), Project::new(), Project::new());
    write_version(&one, 1);
    write_version(&other, 2);
    point(&outer, &one);
    let server = HttpServer::start_with(&outer.path("current"), &["--metrics", "127.0.0.1:0"], &[]);
    let metrics = wait_until("the address of the metrics", || {
        let log = server.log();
        let address = log.lines().find_map(|line| line.strip_prefix("Metrics at http://"))?;
        address.strip_suffix("/metrics")?.parse().ok()
    });
    let mut subject = Subject::of(server, metrics);
    subject.expect_version(1);
    point(&outer, &other);
    let (status, why) = subject.readiness();
    assert_eq!(status, 503, "{why}");
    assert!(why.contains(&*other.root().to_string_lossy()) && why.contains("restart"), "{why}");
    point(&outer, &one);
    subject.expect_version(1);
    subject.server.finish();
}

#[test]
fn a_project_that_is_removed_and_recreated_is_watched_again() {
    let project = Project::new();
    write_version(&project, 1);
    let mut subject = Subject::start(&project, &[]);
    subject.expect_version(1);
    fs::remove_dir_all(project.root()).expect("a folder");
    wait_until("the tools to be gone", || subject.names("tools").is_empty().then_some(()));
    fs::create_dir(project.root()).expect("a folder");
    write_version(&project, 2);
    subject.expect_version(2);
    write_version(&project, 3);
    subject.expect_version(3);
    subject.server.finish();
}

#[test]
fn the_built_in_project_is_restored_when_it_is_removed() {
    let outer = Project::new().file("here/.keep", "").file("tmp/.keep", "");
    let mut command = Server::command();
    command
        .current_dir(outer.path("here"))
        .env("TMPDIR", outer.path("tmp"))
        .env_remove("MCPBASH_PROJECT_ROOT");
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let call = |server: &mut Server| {
        let params = json!({ "name": "getting_started", "arguments": {} });
        server.ask_past_news("call", "tools/call", &params)["result"]["isError"] == json!(false)
    };
    assert!(call(&mut server));
    let private = || {
        let folders = fs::read_dir(outer.path("tmp")).expect("a folder").flatten();
        let staged = folders.map(|folder| folder.path().join("getting-started"));
        staged.filter(|folder| folder.is_dir()).collect::<Vec<_>>()
    };
    let [staged] = &private()[..] else { panic!("{:?}", private()) };
    // First a part of it, then all of it, then its private folder.
    fs::remove_dir_all(staged.join("tools/getting-started")).expect("a folder");
    wait_until("the part", || call(&mut server).then_some(()));
    fs::remove_dir_all(staged).expect("a folder");
    wait_until("the project", || call(&mut server).then_some(()));
    fs::remove_dir_all(staged.parent().expect("a folder")).expect("a folder");
    wait_until("the private folder", || call(&mut server).then_some(()));
    assert_eq!(private(), std::slice::from_ref(staged));
    server.finish();
}

#[test]
fn a_project_that_was_missing_is_served_as_it_returns() {
    let (outer, project) = (Project::new(), Project::new());
    write_version(&project, 1);
    let mut subject = Subject::start(&project, &[]);
    subject.expect_version(1);
    fs::rename(project.root(), outer.path("aside")).expect("a folder");
    let (status, why) = subject.readiness();
    assert_eq!(status, 503, "{why}");
    assert!(why.contains("is not there"), "{why}");
    fs::rename(outer.path("aside"), project.root()).expect("a folder");
    write_version(&project, 2);
    subject.expect_version(2);
    subject.server.finish();
}
