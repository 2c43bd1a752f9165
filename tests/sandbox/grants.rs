//! Declarations that allow something: that, and nothing else.

use super::arena::Arena;
use super::identity::Identity;
use super::outside::Outside;
use serde_json::{Value, json};

/// An arena with a tool `granted`, and a function that checks what it can do.
fn check(declaration: impl Fn(&Outside) -> Value, rows: &[(&str, bool)]) {
    for identity in Identity::all() {
        let outside = Outside::new(identity);
        let declaration = declaration(&outside);
        let mut arena = Arena::new(identity, &[("granted", declaration.clone())]);
        let other = super::servers::Servers::start(tempfile::tempdir().expect("a temporary folder").path());
        for (words, is_done) in rows {
            let filled = words
                .replace("{home}", &outside.path("home").display().to_string())
                .replace("{project}", &arena.project.root().display().to_string())
                .replace("{tcp}", &outside.servers.tcp.to_string())
                .replace("{udp}", &outside.servers.udp.to_string())
                .replace("{other-tcp}", &other.tcp.to_string());
            let report =
                arena.attack("granted", &filled).unwrap_or_else(|why| panic!("{declaration}: {why}"));
            assert_eq!(report.is_done, *is_done, "{words}, {declaration}, {identity:?}: {report:?}");
        }
    }
}

#[test]
fn a_folder_of_the_project_can_be_written() {
    check(
        |_| json!({ "write": ["project/out"] }),
        &[
            ("create {project}/out/new", true),
            ("write {project}/out/notes", true),
            ("create-folder {project}/out/folder", true),
            ("rename-away {project}/out/folder {project}/out/new", true),
            ("remove {project}/out/notes", true),
            ("read {project}/notes", true),
            ("create {project}/new", false),
            ("write {project}/notes", false),
            ("rename-over {project}/out {project}/notes", false),
            ("write-through-link {project}/out {project}/notes", false),
            ("write-through-link {project}/out/folder {home}/notes", false),
            ("follow-link {project}/out {home}/notes", false),
            ("hard-link {project}/out {project}/notes", false),
            ("climb {project}/out {home}/notes", false),
        ],
    );
}

#[test]
fn a_folder_elsewhere_can_be_read() {
    check(
        |outside| json!({ "read": ["project", outside.path("home")] }),
        &[
            ("read {home}/.ssh/id_ed25519", true),
            ("list {home}", true),
            ("write {home}/notes", false),
            ("create {home}/new", false),
            ("remove {home}/notes", false),
            ("truncate {home}/notes", false),
        ],
    );
}

#[test]
fn the_whole_network_can_be_allowed() {
    check(
        |_| json!({ "network": "all" }),
        &[
            ("tcp {tcp}", true),
            ("udp {udp}", true),
            ("tcp {other-tcp}", true),
            ("read {home}/notes", false),
            ("vsock", false),
            ("netlink-devices", false),
        ],
    );
}

#[test]
fn a_listed_port_of_this_machine_can_be_reached() {
    check(
        |outside| json!({ "network": [format!("localhost:{}", outside.servers.tcp.port())] }),
        &[
            ("tcp {tcp}", true),
            ("tcp {tcp}", true),
            ("by-daemon tcp {tcp}", true),
            ("tcp {other-tcp}", false),
            ("mptcp {other-tcp}", false),
            ("fast-open {other-tcp}", false),
            ("udp {udp}", false),
            ("dns {udp}", false),
            ("read {home}/notes", false),
        ],
    );
}
