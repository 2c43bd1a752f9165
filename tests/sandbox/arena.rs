//! A project whose tools are the program of attacks, each with a sandbox of its own, and a server for it.

use super::identity::Identity;
use crate::harness::{Project, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Programs that all users may run.
pub(super) const PATH_OF_NOBODY: &str = "/usr/local/bin:/usr/bin:/bin";

pub(super) struct Arena {
    pub(super) project: Project,
    identity: Identity,
    /// The home and the temporary folder of the server.
    surroundings: TempDir,
    server: Option<Server>,
    asked: u64,
}

/// What the program of attacks reports.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) is_done: bool,
    pub(super) errno: Option<String>,
    pub(super) note: String,
}

impl Arena {
    /// A project with a tool for each name and declaration of a sandbox.
    pub(super) fn new(identity: Identity, tools: &[(&str, Value)]) -> Self {
        let mut arena = Self::with_project(identity, Project::new());
        for (name, declaration) in tools {
            let metadata = json!({
                "description": "An attack",
                "inputSchema": {
                    "type": "object",
                    "properties": { "words": { "type": "array", "items": { "type": "string" } } },
                },
                "command": ["bin/hostile", "{words...}"],
                "sandbox": declaration,
            });
            arena.project = arena.project.file(&format!("tools/{name}.meta.json"), &metadata.to_string());
        }
        arena
    }

    /// A project with the program of attacks in `bin` and a folder `out`.
    pub(super) fn with_project(identity: Identity, project: Project) -> Self {
        let project = project.file("notes", "notes of the project\n").file("out/notes", "notes\n");
        fs::create_dir(project.path("bin")).expect("a folder");
        fs::copy(hostile(), project.path("bin/hostile")).expect("the program of attacks");
        let surroundings = TempDir::new().expect("a temporary folder");
        for folder in ["home", "tmp"] {
            fs::create_dir(surroundings.path().join(folder)).expect("a folder");
        }
        identity.owns(surroundings.path());
        Self { project, identity, surroundings, server: None, asked: 0 }
    }

    /// The program `mcp-bash` as the user of this arena.
    pub(super) fn command(&self) -> Command {
        self.identity.owns(self.project.root());
        let mut command = Server::command();
        let of = |name: &str| self.surroundings.path().join(name);
        command.env("HOME", of("home")).env("TMPDIR", of("tmp")).env("SECRET", "of the server");
        command.env_remove("XDG_CACHE_HOME").env_remove("XDG_RUNTIME_DIR").current_dir(self.project.root());
        if self.identity == Identity::Nobody {
            command.env("PATH", PATH_OF_NOBODY);
        }
        self.identity.runs(&mut command);
        command
    }

    pub(super) fn start(&mut self) {
        self.start_with(&[]);
    }

    pub(super) fn start_with(&mut self, environment: &[(&str, &str)]) {
        let mut command = self.command();
        command.arg("--project-root").arg(self.project.root()).envs(environment.iter().copied());
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        self.server = Some(server);
    }

    fn server(&mut self) -> &mut Server {
        if self.server.is_none() {
            self.start();
        }
        self.server.as_mut().expect("just started")
    }

    pub(super) fn server_pid(&mut self) -> u32 {
        self.server().child.id()
    }

    /// Calls a tool and returns the text of its result, which may be an error.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        self.asked += 1;
        let id = self.asked;
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.server().ask_past_news(id, "tools/call", &params);
        answer["result"]["content"][0]["text"].as_str().map_or_else(|| answer.to_string(), str::to_owned)
    }

    /// Starts a call that is not waited for.
    pub(super) fn begin(&mut self, tool: &str, arguments: &Value) {
        self.server().request("begun", "tools/call", &json!({ "name": tool, "arguments": arguments }));
    }

    /// Makes an attack, in words separated by blanks.
    pub(super) fn attack(&mut self, tool: &str, words: &str) -> Result<Report, String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        Report::read(&self.call(tool, &json!({ "words": words })))
    }
}

impl Report {
    /// Anything but a report is an error: the attack was not made.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let report: Value =
            serde_json::from_str(text.trim()).map_err(|_| format!("no report of an attack: {text}"))?;
        let is_done = report["done"].as_bool().ok_or_else(|| format!("no report of an attack: {text}"))?;
        let word = |name: &str| report[name].as_str().map(str::to_owned);
        Ok(Self { is_done, errno: word("errno"), note: word("note").unwrap_or_default() })
    }
}

/// The program of attacks, which is built with the tests of the workspace.
pub(super) fn hostile() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-bash")).with_file_name("hostile");
    assert!(program.exists(), "{} is not built: run `cargo test --workspace`", program.display());
    program
}
