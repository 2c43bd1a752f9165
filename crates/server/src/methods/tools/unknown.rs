//! Unknown tools: explains why a tool does not exist: no file defines it, several files do, or the file that may define it was
//! skipped.

use mcp_bash_project::{Catalog, Diagnostic, excerpt};
use mcp_bash_scripts::FileInProgress;
use mcp_bash_wire::RpcError;
use std::path::Path;

/// The longest name that is quoted together with a reason, in characters.
const LONGEST_NAME: usize = 200;

/// The error for a call of a tool that does not exist.
pub(super) fn refusal(catalog: &Catalog, name: &str, in_progress: &[FileInProgress]) -> RpcError {
    if let Some(duplicate) = catalog.duplicates.iter().find(|duplicate| duplicate.name == name) {
        return RpcError::internal(format!("Tool name '{name}' duplicated ({duplicate})"));
    }
    let root = &catalog.paths.root;
    let is_long = name.chars().nth(LONGEST_NAME).is_some();
    let suspect = if is_long { None } else { catalog.skipped_tool(name) };
    RpcError::invalid_params(match (suspect, in_progress.first()) {
        (Some(skipped), _) => format!("Unknown tool: {name} ({})", reason(skipped, root)),
        (None, Some(FileInProgress { file, .. })) => {
            let file = file.strip_prefix(root).unwrap_or(file).display();
            format!("Unknown tool: {name} ({file} is still being loaded)")
        }
        (None, None) => format!("Unknown tool: {name}"),
    })
}

fn reason(skipped: &Diagnostic, root: &Path) -> String {
    let file = skipped.path.strip_prefix(root).unwrap_or(&skipped.path).display();
    let line = skipped.line.map(|line| format!(":{line}")).unwrap_or_default();
    excerpt(&format!("{file}{line} {}", skipped.problem))
}
