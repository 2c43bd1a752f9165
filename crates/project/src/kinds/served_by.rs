//! Function worker: what runs a function.

use crate::Worker;
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use std::path::{Path, PathBuf};

/// What runs a function: its file, and the process that stays alive for it.
#[derive(Debug, Clone)]
pub struct ServedBy {
    pub file: PathBuf,
    pub worker: Worker,
    /// What the process may do.
    pub sandbox: Option<Declaration>,
    /// The secrets that it receives.
    pub secrets: Needs,
}

impl ServedBy {
    /// The same for one function, which may have declarations of its own.
    pub(crate) fn for_function(&self, sandbox: Option<&Declaration>, secrets: &Needs) -> Self {
        Self { sandbox: self.sandbox_of(sandbox), secrets: secrets.over(&self.secrets), ..self.clone() }
    }

    /// What the process of one function may do, which may have a declaration of its own.
    pub(crate) fn sandbox_of(&self, function: Option<&Declaration>) -> Option<Declaration> {
        match function {
            Some(own) => Some(own.over(self.sandbox.as_ref())),
            None => self.sandbox.clone(),
        }
    }
}

/// The path of an entry from a function: the whole path of its file, which is in another folder.
pub(crate) fn path_of_functions(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}
