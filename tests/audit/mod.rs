//! The audit log: what is in it, whatever happens to the server and to its disk.

mod commands;
mod continued;
mod durability;
mod fields;
mod floods;
mod listening;
mod other_requests;
mod records;
mod refusals;
mod shutdown;
mod sinks;
mod survival;

use crate::harness::{Project, Server};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A project, and the audit log of its server.
struct Audited {
    project: Project,
    folder: tempfile::TempDir,
}

impl Audited {
    fn new(project: Project) -> Self {
        Self { project, folder: tempfile::tempdir().expect("a folder") }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl")
    }

    /// A server over standard input and output, with these settings besides.
    fn start(&self, settings: &[(&str, &str)]) -> Server {
        let log = self.log();
        let audit = [("MCPBASH_AUDIT", log.to_str().expect("text"))];
        Server::ready_with(self.project.root(), &[&audit, settings].concat(), "2025-11-25")
    }

    /// All records of requests, without those of the server and of the log itself.
    fn requests(&self) -> Vec<Value> {
        let is_request = |record: &Value| {
            let name = record["event.name"].as_str().unwrap_or_default();
            name.starts_with("mcp.") && !name.starts_with("mcp.server.") && name != "mcp.begun"
        };
        records(&self.log()).into_iter().filter(is_request).collect()
    }

    fn verify(&self) -> Said {
        audit(&["verify", self.log().to_str().expect("text")])
    }
}

fn records(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

/// Runs `mcp-bash audit`.
fn audit(arguments: &[&str]) -> Said {
    let Output { status, stdout, stderr } =
        Server::command().arg("audit").args(arguments).output().expect("it runs");
    let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    Said { code: status.code().expect("a code"), out, err }
}
