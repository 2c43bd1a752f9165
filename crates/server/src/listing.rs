//! The lists of a catalog, kept as text: one for each revision that was asked for.

use crate::shape;
use mcp_bash_project::Catalog;
use mcp_bash_wire::Revision;
use std::sync::OnceLock;

#[derive(Default)]
pub(crate) struct Listing {
    tools: [OnceLock<String>; Revision::ALL.len()],
}

impl Listing {
    /// The JSON array of all tools.
    pub(crate) fn tools(&self, catalog: &Catalog, revision: Revision) -> &str {
        self.tools[revision as usize].get_or_init(|| {
            let definitions: Vec<String> =
                catalog.tools.iter().map(|tool| shape::tool(tool, revision)).collect();
            format!("[{}]", definitions.join(","))
        })
    }
}
