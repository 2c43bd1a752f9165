//! Where the parts of a project are.

use crate::scan::DEPTH;
use std::path::{Path, PathBuf};

/// The folders of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub root: PathBuf,
    pub tools: PathBuf,
    pub resources: PathBuf,
    pub prompts: PathBuf,
    /// Scripts that complete what a person types.
    pub completions: PathBuf,
    /// Scripts that read resources.
    pub providers: PathBuf,
    pub server: PathBuf,
    pub registry: PathBuf,
}

impl Paths {
    /// The usual places below `root`.
    pub fn of(root: &Path) -> Self {
        Self::with_overrides(root, |_| None)
    }

    /// The places below `root`, except where `setting` names another: absolute, or relative to `root`.
    pub fn with_overrides(root: &Path, setting: impl Fn(&str) -> Option<String>) -> Self {
        let place = |name: &str, usual: &str| {
            let given = setting(name).filter(|path| !path.is_empty());
            // Joining with an absolute path gives that path.
            root.join(given.as_deref().unwrap_or(usual))
        };
        Self {
            tools: place("MCPBASH_TOOLS_DIR", "tools"),
            resources: place("MCPBASH_RESOURCES_DIR", "resources"),
            prompts: place("MCPBASH_PROMPTS_DIR", "prompts"),
            completions: place("MCPBASH_COMPLETIONS_DIR", "completions"),
            providers: place("MCPBASH_PROVIDERS_DIR", "providers"),
            server: place("MCPBASH_SERVER_DIR", "server.d"),
            registry: place("MCPBASH_REGISTRY_DIR", ".registry"),
            root: root.to_owned(),
        }
    }

    /// The folders whose changes matter, and how many levels of folders below them.
    pub(crate) fn watched(&self) -> impl Iterator<Item = (&Path, usize)> {
        let entries = [&*self.tools, &*self.resources, &*self.prompts];
        let scripts = [&*self.server, &*self.completions, &*self.providers];
        let all = entries.map(|folder| (folder, DEPTH - 1)).into_iter();
        all.chain(scripts.map(|folder| (folder, 1))).chain([(&*self.root, 0)])
    }
}
