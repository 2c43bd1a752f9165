//! Script roots: the roots of the client, as scripts receive them.

use crate::running::spill::Spill;
use mcp_bash_project::roots::{self, Root};
use mcp_bash_runner::Variables;
use std::io;
use std::path::PathBuf;

pub struct ScriptRoots {
    /// A JSON array.
    pub json: String,
    /// One path per line. A path that contains a line break is left out, because part of it could be taken for another root.
    pub paths: String,
    pub count: String,
    pub folders: Vec<PathBuf>,
    /// Why every path is refused. Without it, an empty list would mean no restriction.
    pub refusal: Option<String>,
}

impl ScriptRoots {
    pub fn new(roots: &[Root]) -> Self {
        let paths = roots.iter().map(|root| root.path.to_string_lossy());
        let paths: Vec<_> = paths.filter(|path| !path.contains('\n')).collect();
        Self {
            json: roots::to_json(roots),
            paths: paths.join("\n"),
            count: roots.len().to_string(),
            folders: roots.iter().map(|root| root.path.clone()).collect(),
            refusal: None,
        }
    }

    /// Sets the variables of a script.
    pub(crate) fn add_to(&self, variables: &mut Variables, spill: &mut Spill<'_>) -> io::Result<()> {
        spill.json(variables, ["MCP_ROOTS_JSON", "MCP_ROOTS_FILE"], &self.json)?;
        spill.json(variables, ["MCP_ROOTS_PATHS", "MCP_ROOTS_PATHS_FILE"], &self.paths)?;
        variables.set("MCP_ROOTS_COUNT", &self.count);
        if let Some(why) = &self.refusal {
            variables.set("MCP_ROOTS_REFUSED", why);
        }
        Ok(())
    }

    /// No roots, and every path is refused, because the configured roots are wrong.
    pub fn refused(why: String) -> Self {
        Self { refusal: Some(why), ..Self::new(&[]) }
    }
}
