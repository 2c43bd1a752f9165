//! What a project holds: an immutable value.

use crate::{Diagnostic, Identity, Tool, tools};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Catalog {
    pub root: PathBuf,
    pub identity: Identity,
    /// What the model is told about the server as a whole.
    pub instructions: Option<String>,
    pub tools: Vec<Tool>,
    /// What was skipped, and why.
    pub diagnostics: Vec<Diagnostic>,
}

impl Catalog {
    /// Reads the project in `root`.
    pub fn read(root: &Path) -> Self {
        let mut diagnostics = Vec::new();
        let identity = Identity::read(root, &mut diagnostics);
        let instructions = std::fs::read_to_string(root.join("server.d/server.instructions.md"))
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let tools = tools::discover(root, &mut diagnostics);
        Self { root: root.to_owned(), identity, instructions, tools, diagnostics }
    }

    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
