//! Script roots: the folders that scripts may work in, as scripts receive them.

use mcp_bash_project::roots::{self, Root};
use std::path::PathBuf;

pub struct ScriptRoots {
    /// A JSON array.
    pub json: String,
    /// One path per line. A path that holds a line break is left out, because part of it could be taken for another root.
    pub paths: String,
    pub count: String,
    pub folders: Vec<PathBuf>,
    /// Why no path is allowed. Without it, having no roots would mean no restriction.
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

    /// No roots, and no path is allowed: the configured roots are wrong.
    pub fn refused(why: String) -> Self {
        Self { refusal: Some(why), ..Self::new(&[]) }
    }
}
