//! The home folder of a user who has clients, and a project in it.

use super::Server;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub(crate) struct Home {
    folder: TempDir,
}

/// The output and exit code of a command. The home is written as `HOME`, the program as `PROGRAM`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    /// A home with the project `tools-box`, and no client.
    pub(crate) fn new() -> Self {
        let home = Self { folder: TempDir::new().expect("a temporary folder") };
        home.write("tools-box/server.d/server.meta.json", r#"{"name": "tools-box"}"#);
        home
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// The contents of a file, with the placeholders of [`Said`]. None if it does not exist.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok().map(|text| self.shown(&text))
    }

    /// All files below a folder, by their paths from the home.
    pub(crate) fn files(&self, below: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path(below)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(self.root()).expect("below").to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    /// The program in the project folder, with only the home in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Server::command();
        command.env_clear().env("HOME", self.root()).env("PATH", "/nowhere");
        command.current_dir(self.path("tools-box")).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.said(&mut self.command(arguments))
    }

    pub(crate) fn said(&self, command: &mut Command) -> Said {
        let output = command.output().expect("the binary runs");
        let shown = |bytes: &[u8]| self.shown(&String::from_utf8_lossy(bytes));
        Said {
            code: output.status.code().unwrap_or(-1),
            out: shown(&output.stdout),
            err: shown(&output.stderr),
        }
    }

    /// A text with placeholders for the parts that differ from run to run.
    pub(crate) fn shown(&self, text: &str) -> String {
        let text = text.replace(env!("CARGO_BIN_EXE_mcp-bash"), "PROGRAM");
        text.replace(self.root().to_str().expect("a path"), "HOME")
    }
}
