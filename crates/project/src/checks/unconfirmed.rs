//! Tools that may destroy something and do not ask, in a project that decides about consent tool by tool: it says
//! `"confirm": "declared"` in `server.meta.json`.

use super::source::Sources;
use crate::ground::json::LONGEST;
use crate::{Catalog, Diagnostic};
use serde_json::Value;
use std::path::PathBuf;

/// Checks the tools that call themselves destructive. `metadata` are the metadata files that are read.
pub(super) fn check(catalog: &Catalog, metadata: &[PathBuf], found: &mut Vec<Diagnostic>) {
    if !decides_by_tool(catalog) {
        return;
    }
    let sources = Sources::new(catalog, metadata);
    for tool in catalog.tools.items().iter().filter(|tool| tool.options.confirm.is_none()) {
        let annotations = tool.annotations.as_ref().map_or("{}", |written| written.get());
        let annotations: Value = serde_json::from_str(annotations).unwrap_or_default();
        if annotations["destructiveHint"] != true {
            continue;
        }
        let source = sources.of(tool);
        let problem = format!(
            "says that its tool `{}` may destroy something, and nothing about `confirm`: it runs without asking",
            tool.name
        );
        let remedy = "add `\"confirm\": true` or a question, or `\"confirm\": false` if it needs no consent";
        let warning = Diagnostic::warning(source.file, problem, remedy);
        found.push(source.mark(warning, "annotations", "/destructiveHint"));
    }
}

/// Whether the project says that tools decide. Without the key they decide too, but nobody has asked for this check.
fn decides_by_tool(catalog: &Catalog) -> bool {
    let text = mcp_bash_files::read_text(&catalog.paths.server.join("server.meta.json"), LONGEST);
    let written: Value = text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    written["confirm"] == "declared"
}
