//! Chaos project: scripts and a function that repeat the word of their call.

use serde_json::json;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The common start of the scripts: the word of their call, and a function for progress.
const PRELUDE: &str = r#"#!/bin/sh
args=$MCP_TOOL_ARGS_JSON
word=${args#*\"word\":\"}
word=${word%%\"*}
progress() {
    [ -z "${MCP_PROGRESS_STREAM-}" ] ||
        printf '{"method":"notifications/progress","params":{"progress":%s}}\n' "$1" >>"$MCP_PROGRESS_STREAM"
}
"#;

/// The number of steps that `steps` reports.
pub(super) const STEPS: u64 = 5;

const SCRIPTS: [(&str, &str); 4] = [
    ("quick", "echo \"$word\"\n"),
    ("steps", "for n in 1 2 3 4 5; do progress $n; sleep 0.02; done\necho \"$word\"\n"),
    ("slow", "sleep 0.4\necho \"$word\"\n"),
    ("large", "progress 1\nyes \"$word\" | head -c 300000\necho \"$word\"\n"),
];

/// Part of the command line of `slow`, and of no process that it starts.
pub(super) const SLOW: &str = "tools/slow/tool.sh";

/// A tool that is a function, served by a worker.
const FUNCTIONS: &str = "from mcp_bash import tool\n\n@tool\ndef echo(word: str) -> str:\n    \"\"\"A tool of the chaos.\"\"\"\n    return word\n";

/// All tools.
pub(super) const TOOLS: [&str; 5] = ["quick", "steps", "slow", "large", "echo"];

/// The files of a project, by their paths.
#[derive(Debug)]
pub(super) struct Project {
    root: PathBuf,
    pub(super) files: Vec<File>,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    text: String,
    mode: u32,
    /// The prefix of a comment line. None if the format has no comments.
    comment: Option<&'static str>,
}

impl Project {
    pub(super) fn write(root: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for (name, body) in SCRIPTS {
            let tool = root.join("tools").join(name);
            let metadata = json!({ "name": name, "description": "A tool of the chaos", "timeoutSecs": 60 });
            let text = format!("{PRELUDE}{body}");
            files.push(File { path: tool.join("tool.sh"), text, mode: 0o755, comment: Some("# edited") });
            let text = metadata.to_string();
            files.push(File { path: tool.join("tool.meta.json"), text, mode: 0o644, comment: None });
        }
        let path = root.join("tools/functions.py");
        files.push(File { path, text: FUNCTIONS.to_owned(), mode: 0o644, comment: Some("# edited") });
        let path = root.join("server.d/server.meta.json");
        files.push(File { path, text: json!({ "name": "chaos" }).to_string(), mode: 0o644, comment: None });
        let project = Self { root: root.to_owned(), files };
        project.restore()?;
        Ok(project)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Restores all files.
    pub(super) fn restore(&self) -> io::Result<()> {
        self.files.iter().try_for_each(|file| file.write(&file.text))
    }
}

impl File {
    /// Restores the file.
    pub(super) fn restore(&self) -> io::Result<()> {
        self.write(&self.text)
    }

    /// Changes the file without changing its behaviour. `number` makes it different each time.
    pub(super) fn edit(&self, number: u64) -> io::Result<()> {
        match self.comment {
            Some(comment) => self.write(&format!("{}{comment} {number}\n", self.text)),
            None => self.write(&format!(
                "{}\n{}",
                self.text,
                " ".repeat(usize::try_from(number % 100).unwrap_or(0))
            )),
        }
    }

    /// Writes garbage.
    pub(super) fn break_it(&self) -> io::Result<()> {
        self.write("{ (")
    }

    /// Writes the first half in place, like an editor that has not finished.
    pub(super) fn write_half(&self) -> io::Result<()> {
        fs::write(&self.path, &self.text[..self.text.len() / 2])
    }

    fn write(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Renamed into place, as editors do: a program that is open for writing cannot be executed.
        let draft = self.path.with_extension("draft");
        fs::write(&draft, text)?;
        fs::set_permissions(&draft, Permissions::from_mode(self.mode))?;
        fs::rename(&draft, &self.path)
    }
}
