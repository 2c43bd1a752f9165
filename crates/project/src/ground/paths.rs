//! Paths: where the parts of a project are.

use std::path::{Path, PathBuf};

/// The folders of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub root: PathBuf,
    pub tools: PathBuf,
    pub resources: PathBuf,
    pub prompts: PathBuf,
    /// Scripts that complete what the user types.
    pub completions: PathBuf,
    /// Scripts that read resources.
    pub providers: PathBuf,
    /// Modules that function files share.
    pub lib: PathBuf,
    pub server: PathBuf,
    pub registry: PathBuf,
}

impl Paths {
    /// The usual places below `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            tools: root.join("tools"),
            resources: root.join("resources"),
            prompts: root.join("prompts"),
            completions: root.join("completions"),
            providers: root.join("providers"),
            lib: root.join("lib"),
            server: root.join("server.d"),
            registry: root.join(".registry"),
            root: root.to_owned(),
        }
    }

    /// Which callers may use what, for servers over HTTP.
    pub fn roles(&self) -> PathBuf {
        self.server.join("roles.yaml")
    }

    /// The project's own rules about which tools may run.
    pub fn policy(&self) -> PathBuf {
        self.server.join("policy.sh")
    }
}
