//! Unknown tools: explains why a tool does not exist: no file defines it, several do, or the file that may define it is
//! skipped.

use mcp_bash_project::{Catalog, Diagnostic, excerpt};
use mcp_bash_scripts::FileInProgress;
use mcp_bash_wire::RpcError;
use std::ffi::OsStr;
use std::path::Path;

/// The longest name that is quoted together with a reason, in characters.
const LONGEST_NAME: usize = 200;

/// Refuses the call of a tool that does not exist.
pub(super) fn refusal(catalog: &Catalog, name: &str, in_progress: &[FileInProgress]) -> RpcError {
    if let Some(duplicate) = catalog.duplicates.iter().find(|duplicate| duplicate.name == name) {
        return RpcError::internal(format!("Tool name '{name}' duplicated ({duplicate})"));
    }
    let root = &catalog.paths.root;
    RpcError::invalid_params(match (suspect(catalog, name), in_progress.first()) {
        (Some(skipped), _) => format!("Unknown tool: {name} ({})", reason(skipped, root)),
        (None, Some(FileInProgress { file, .. })) => {
            let file = file.strip_prefix(root).unwrap_or(file).display();
            format!("Unknown tool: {name} ({file} is still being loaded)")
        }
        (None, None) => format!("Unknown tool: {name}"),
    })
}

/// The problem of a skipped file that could hold the tool: one with its name, else one that had it before or mentions
/// it.
fn suspect<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a Diagnostic> {
    if name.chars().nth(LONGEST_NAME).is_some() {
        return None;
    }
    let tools = &catalog.paths.tools;
    let skipped = || {
        let told = catalog.diagnostics.iter().filter(|told| told.problem.starts_with("is skipped"));
        told.filter(|told| told.path.starts_with(tools))
    };
    skipped()
        .find(|told| is_called(&told.path, name, tools))
        .or_else(|| skipped().find(|told| catalog.may_be_in_skipped(&told.path, name)))
}

/// Whether a file, or its folder, has the name of a tool.
fn is_called(file: &Path, name: &str, tools: &Path) -> bool {
    let own = file.file_name().and_then(OsStr::to_str).and_then(|file| file.split('.').next());
    let folder = file.parent().filter(|folder| *folder != tools).and_then(Path::file_name);
    own == Some(name) || folder.is_some_and(|folder| folder == name)
}

fn reason(skipped: &Diagnostic, root: &Path) -> String {
    let file = skipped.path.strip_prefix(root).unwrap_or(&skipped.path).display();
    let line = skipped.line.map(|line| format!(":{line}")).unwrap_or_default();
    excerpt(&format!("{file}{line} {}", skipped.problem))
}
