//! A project whose tools are the program of attacks, each with a sandbox of its own, and a server for it.

use super::identity::Identity;
use crate::harness::{Project, Server, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The argument by which the process of another call is found.
const SLEEP: &str = "599.75";

/// Programs that all users may run.
pub(super) const PATH_OF_NOBODY: &str = "/usr/local/bin:/usr/bin:/bin";

pub(super) struct Arena {
    pub(super) project: Project,
    identity: Identity,
    /// The home and the temporary folder of the server.
    surroundings: TempDir,
    server: Option<Server>,
    asked: u64,
    other_call: Option<u32>,
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
        let arena = Self::with_project(identity, Project::new());
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
            arena.project.write(&format!("tools/{name}.meta.json"), &metadata.to_string());
        }
        let sleeper = json!({ "description": "Sleeps", "command": ["sleep", SLEEP], "sandbox": "on" });
        arena.project.write("tools/sleeper.meta.json", &sleeper.to_string());
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
        Self { project, identity, surroundings, server: None, asked: 0, other_call: None }
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

    /// The temporary folder of the server, with those of all calls in it.
    pub(super) fn temporary_folder(&self) -> PathBuf {
        self.surroundings.path().join("tmp")
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

    /// The process of another call in the same sandbox `on`, which goes on as long as the server.
    pub(super) fn other_call(&mut self) -> u32 {
        if let Some(pid) = self.other_call {
            return pid;
        }
        let server = self.server_pid();
        self.server().request("other", "tools/call", &json!({ "name": "sleeper", "arguments": {} }));
        let pid = wait_until("the other call", || descendant_with(server, SLEEP));
        self.other_call = Some(pid);
        pid
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

/// A descendant of a process with this word on its command line.
fn descendant_with(ancestor: u32, word: &str) -> Option<u32> {
    let text = |pid: u32, name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let parent = |pid: u32| -> Option<u32> {
        let status = text(pid, "status")?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
    };
    let entries = fs::read_dir("/proc").expect("the process table").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let is_named = text(*pid, "cmdline").is_some_and(|line| line.split('\0').any(|part| part == word));
        let mut line = std::iter::successors(Some(*pid), |pid| parent(*pid).filter(|pid| *pid > 1));
        is_named && line.any(|pid| pid == ancestor)
    })
}
