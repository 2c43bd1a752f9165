//! Annotations that no client knows, which say nothing about a tool.

use super::source::Sources;
use crate::{Catalog, Diagnostic};
use mcp_bash_spelling::nearest_or_longer;
use serde_json::{Map, Value};
use std::path::PathBuf;

const KNOWN: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// Checks the annotations of all tools. `metadata` are the metadata files that are read.
pub(super) fn check(catalog: &Catalog, metadata: &[PathBuf], found: &mut Vec<Diagnostic>) {
    let sources = Sources::new(catalog, metadata);
    for tool in catalog.tools.items() {
        let Some(written) = &tool.annotations else { continue };
        let members: Map<String, Value> = serde_json::from_str(written.get()).unwrap_or_default();
        let source = sources.of(tool);
        for name in members.keys().filter(|name| !KNOWN.contains(&&***name)) {
            let problem =
                format!("gives its tool `{}` the annotation `{name}`, which clients ignore", tool.name);
            let remedy = match nearest_or_longer(name, &KNOWN) {
                Some(meant) => format!("write `{meant}` if that is what you mean"),
                None => format!("clients know `{}`; put other notes into `_meta`", KNOWN.join("`, `")),
            };
            let warning = Diagnostic::warning(source.file, problem, &remedy);
            found.push(source.mark(warning, "annotations", &format!("/{name}")));
        }
    }
}
