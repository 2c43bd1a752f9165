//! Printed texts: what commands and the metrics print about servers that hold the planted secret is searched for it.

use crate::callers;
use crate::http::Connection;
use crate::planted;
use crate::run::Run;
use crate::violations::{Kind, excerpt};
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// Searches what the commands print about the projects and the audit logs, after all servers have exited. Returns the number
/// of texts.
pub(crate) fn hunt(run: &Run, folder: &Path, logs: &[impl AsRef<Path>]) -> usize {
    let mut commands = Commands { run, folder, count: 0 };
    let root = run.projects[0].root();
    commands.look_at_project(root, "tells-secret");
    if logs.len() > 1 {
        let root = folder.join("callers");
        commands.look_at_project(&root, "asks_in_script");
        let explain = ["policy", "explain", "jobs", "word=x", "--as", callers::NAMES[0]];
        commands.search(&[&explain.map(OsStr::new)[..], &of_project(&root)].concat(), callers::RULE);
    }
    for log in logs {
        let show = ["audit", "show", "--since", "2m"].map(OsStr::new);
        let log = log.as_ref().as_os_str();
        commands.search(&[&show[..], &[log]].concat(), "mcp.tools.call");
        commands.search(&[&show[..], &[OsStr::new("--json"), log]].concat(), "mcp.tools.call");
    }
    commands.count
}

struct Commands<'a> {
    run: &'a Run,
    folder: &'a Path,
    count: usize,
}

fn of_project(root: &Path) -> [&OsStr; 2] {
    [OsStr::new("--project-root"), root.as_os_str()]
}

impl Commands<'_> {
    /// `tool` is one of the project's.
    fn look_at_project(&mut self, root: &Path, tool: &str) {
        for (command, expected) in [("health", "\"status\""), ("doctor", "mcp-bash"), ("list", tool)] {
            self.search(&[&[OsStr::new(command)][..], &of_project(root)].concat(), expected);
        }
    }

    /// Searches all that a command prints. A text that is part of it shows that it has looked where it should.
    fn search(&mut self, arguments: &[&OsStr], expected: &str) {
        self.count += 1;
        let output = Command::new(&self.run.binary)
            .args(arguments)
            .current_dir(self.folder)
            .env("TMPDIR", &self.run.temporary)
            .env("MCPBASH_SECRETS_FILE", &self.run.secrets)
            .env("MCPBASH_AUDIT", &self.run.audit_log)
            .output();
        let what = format!("{arguments:?}");
        match output {
            Ok(output) => look_at(self.run, &what, &[output.stdout, output.stderr].concat(), expected),
            Err(error) => self.run.violations.add(Kind::Unprinted, &what, &error.to_string()),
        }
    }
}

/// Searches what a server over HTTP tells at the address of its metrics.
pub(crate) fn look_at_metrics(run: &Run, address: SocketAddr) {
    for (path, expected) in [("/metrics", "mcp_server_"), ("/readyz", "")] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        let text = Connection::open(address).and_then(|mut connection| {
            connection.send(request.as_bytes())?;
            connection.head()?;
            connection.text()
        });
        match text {
            Ok(text) => look_at(run, path, &text, expected),
            Err(broken) => run.violations.add(Kind::Unprinted, path, &String::from(broken)),
        }
    }
}

fn look_at(run: &Run, what: &str, printed: &[u8], expected: &str) {
    let text = String::from_utf8_lossy(printed);
    if planted::is_in(printed) {
        run.violations.add(Kind::Secret, what, &excerpt(&text));
    }
    if !text.contains(expected) {
        run.violations.add(Kind::Unprinted, what, &excerpt(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_text_with_the_secret_and_one_that_says_nothing_are_violations() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(1, folder.path(), Vec::new(), Duration::ZERO);
        look_at(&run, "list", b"a tool", "tool");
        assert!(run.violations.counts().is_empty());
        look_at(&run, "list", planted::text().as_bytes(), "");
        assert_eq!(run.violations.counts().get(&Kind::Secret), Some(&1));
        look_at(&run, "list", b"", "tool");
        assert_eq!(run.violations.counts().get(&Kind::Unprinted), Some(&1));
    }
}
