//! A roles file that is gone, broken, or could be somebody else's: nobody may do anything.

use crate::harness::http::{HttpServer, stateless_with};
use crate::harness::{Project, Server, make_pipe, wait_until};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

pub(super) const FILE: &str = "server.d/roles.yaml";

/// A server with one caller, the token `one`.
pub(super) struct Stage {
    pub(super) project: Project,
    pub(super) server: HttpServer,
    pub(super) bearer: String,
    outside: TempDir,
}

fn tokens(outside: &TempDir) -> (PathBuf, String) {
    let (line, token) = TokenLine::generate("one", Grant::default()).unwrap();
    let file = outside.path().join("tokens");
    fs::write(&file, line.to_string()).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    (file, format!("Bearer {token}"))
}

impl Stage {
    pub(super) fn of(project: Project, roles: &str) -> Self {
        let project = project.file(FILE, roles);
        let outside = tempfile::tempdir().unwrap();
        let (file, bearer) = tokens(&outside);
        let arguments = ["--tokens", file.to_str().unwrap()];
        let server = HttpServer::start_with(project.root(), &arguments, &[]);
        Self { project, server, bearer, outside }
    }

    /// Whether a tool is shown and can be called, or neither. `None` if the file has changed in between.
    fn is_served(&self) -> Option<bool> {
        let bearer = [("Authorization", &*self.bearer)];
        let ask = |method: &str, params: &Value| {
            self.server.send(&stateless_with(&bearer, 1, method, params)).json()
        };
        let called = ask("tools/call", &json!({ "name": "hi" }));
        let listed = ask("tools/list", &json!({}));
        let is_shown = listed["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        (is_shown == called["error"].is_null()).then_some(is_shown)
    }

    fn wait_until_served(&self, is_served: bool, what: &str) {
        wait_until(what, || (self.is_served() == Some(is_served)).then_some(()));
    }
}

const GOOD: &str = "roles: {all: {given: {tokens: [one]}}}\n";

/// Ways to spoil the file of a project, and whether a server that starts then says this.
type Spoil = (&'static str, fn(&Project), &'static str);

const SPOILS: [Spoil; 8] = [
    ("empty", |project| project.write(FILE, ""), "roles.yaml"),
    (
        "a folder",
        |project| {
            project.remove(FILE);
            fs::create_dir(project.path(FILE)).unwrap();
        },
        "roles.yaml",
    ),
    (
        "a named pipe",
        |project| {
            project.remove(FILE);
            make_pipe(&project.path(FILE), 0o600);
        },
        "roles.yaml",
    ),
    (
        "a link to nothing",
        |project| {
            project.remove(FILE);
            symlink("missing", project.path(FILE)).unwrap();
        },
        "roles.yaml",
    ),
    (
        "a link to a device",
        |project| {
            project.remove(FILE);
            symlink("/dev/zero", project.path(FILE)).unwrap();
        },
        "roles.yaml",
    ),
    (
        "a link to a file that others can write",
        |project| {
            project.remove(FILE);
            project.write("wide.yaml", GOOD);
            set_mode(project, "wide.yaml", 0o666);
            symlink("../wide.yaml", project.path(FILE)).unwrap();
        },
        "can be written by others",
    ),
    (
        // An older file of the owner, which others have put in its place.
        "a file in a folder that others can write",
        |project| {
            project.write("server.d/old.yaml", GOOD);
            set_mode(project, "server.d", 0o777);
            fs::rename(project.path("server.d/old.yaml"), project.path(FILE)).unwrap();
        },
        "could be replaced by others",
    ),
    (
        "a link into a folder that others can write",
        |project| {
            project.remove(FILE);
            project.write("team/roles.yaml", GOOD);
            set_mode(project, "team", 0o777);
            symlink("../team/roles.yaml", project.path(FILE)).unwrap();
        },
        "could be replaced by others",
    ),
];

fn set_mode(project: &Project, path: &str, mode: u32) {
    fs::set_permissions(project.path(path), Permissions::from_mode(mode)).unwrap();
}

/// Puts a good file back.
fn restore(project: &Project) {
    let path = project.path(FILE);
    set_mode(project, "server.d", 0o755);
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir(&path).unwrap();
    } else {
        let _ = fs::remove_file(&path);
    }
    project.write(FILE, GOOD);
}

#[test]
fn nobody_may_do_anything_while_the_file_is_gone_or_not_trusted() {
    let stage = Stage::of(Project::with_hi(), GOOD);
    stage.wait_until_served(true, "the roles");
    let removed: Spoil = ("missing", |project| project.remove(FILE), "");
    for (how, spoil, _) in [removed].iter().chain(&SPOILS) {
        spoil(&stage.project);
        stage.wait_until_served(false, how);
        restore(&stage.project);
        stage.wait_until_served(true, "the roles are back");
    }
    let log = stage.server.finish();
    assert!(log.matches("no caller may do anything any more").count() >= SPOILS.len(), "{log}");
    drop(stage.outside);
}

#[test]
fn a_server_does_not_start_with_a_file_that_is_not_trusted() {
    let outside = tempfile::tempdir().unwrap();
    let (tokens, _) = tokens(&outside);
    let missing: Spoil = (
        "missing from a folder that others can write",
        |project| {
            project.remove(FILE);
            set_mode(project, "server.d", 0o777);
        },
        "others could have removed",
    );
    for (how, spoil, why) in [missing].iter().chain(&SPOILS) {
        let project = Project::with_hi().file(FILE, GOOD);
        spoil(&project);
        let root = project.root().to_str().unwrap();
        let words =
            ["serve", "--project-root", root, "--http", "127.0.0.1:0", "--tokens", tokens.to_str().unwrap()];
        let output = Server::command().args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{how}: {said}");
        set_mode(&project, "server.d", 0o755);
    }
}

#[test]
fn a_file_of_another_user_gives_no_rights() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a file away. The other ways to distrust a file are tested above.
        return;
    }
    let stage = Stage::of(Project::with_hi(), GOOD);
    for given in [FILE, "server.d"] {
        chown(stage.project.path(given), Some(65534), None).expect("another owner");
        // A look at the file notices the new owner of its folder only if the file itself changed.
        fs::rename(stage.project.path(FILE), stage.project.path("server.d/moved")).unwrap();
        fs::rename(stage.project.path("server.d/moved"), stage.project.path(FILE)).unwrap();
        stage.wait_until_served(false, "a file of another user counts for nothing");
        chown(stage.project.path(given), Some(0), None).expect("its owner");
        restore(&stage.project);
        stage.wait_until_served(true, "the roles are back");
    }
    stage.server.finish();
}
