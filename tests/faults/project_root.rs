//! The folder of the project itself: a link that leads elsewhere later, or a folder that is gone for a while.

use super::{Subject, write_version};
use crate::harness::http::HttpServer;
use crate::harness::{Project, wait_until};
use std::fs;
use std::os::unix::fs::symlink;

/// Lets a link lead elsewhere, in one step, as deployments do.
fn point(outer: &Project, to: &Project) {
    let fresh = outer.path("fresh");
    symlink(to.root(), &fresh).expect("a link");
    fs::rename(fresh, outer.path("current")).expect("a link in its place");
}

#[test]
fn a_link_that_leads_to_another_project_later_is_reported() {
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
fn a_project_that_was_gone_for_a_while_is_served_as_it_is_when_it_is_back() {
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
