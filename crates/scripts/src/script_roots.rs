//! The folders that scripts may work in, as scripts are told of them.

use mcp_bash_project::roots::{self, Root};

pub struct ScriptRoots {
    /// A JSON array.
    pub json: String,
    /// A path on each line. One that holds a line break is left out, since a part of it could be taken for another root.
    pub paths: String,
    pub count: String,
}

impl ScriptRoots {
    pub fn new(roots: &[Root]) -> Self {
        let paths = roots.iter().map(|root| root.path.to_string_lossy());
        let paths: Vec<_> = paths.filter(|path| !path.contains('\n')).collect();
        Self { json: roots::to_json(roots), paths: paths.join("\n"), count: roots.len().to_string() }
    }
}
