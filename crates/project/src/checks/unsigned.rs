//! Undescribed programs: compiled programs directly in `tools/` without metadata. Each is served as one tool, though it may
//! have been meant to provide several.

use super::walk::Folder;
use crate::walk::listing::metadata_stem;
use crate::walk::sign::is_compiled_program;
use crate::{Catalog, Diagnostic, Execution, Tool};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) fn check(catalog: &Catalog, folders: &[Folder], found: &mut Vec<Diagnostic>) {
    let Some(top) = folders.iter().find(|folder| folder.path == catalog.paths.tools) else { return };
    let tools = catalog.tools.items().iter();
    let undescribed = tools.filter(|tool| {
        let is_at_the_top = tool.script.parent() == Some(&*top.path);
        is_at_the_top && says_nothing(tool) && !has_metadata(&tool.script, top)
    });
    let programs = undescribed.filter(|tool| is_compiled_program(&tool.script));
    found.extend(programs.map(|tool| {
        let remedy = "describe it in a metadata file beside it; if it provides tools, let it hold the text \
                      `mcp: {\"provider\": true}`";
        Diagnostic::warning(&tool.script, "is a compiled program that is served as one plain tool", remedy)
    }));
}

fn says_nothing(tool: &Tool) -> bool {
    let is_described = tool.description.as_deref().is_some_and(|text| !text.is_empty());
    tool.execution == Execution::Script && !tool.declares_arguments() && !is_described
}

fn has_metadata(program: &Path, folder: &Folder) -> bool {
    let names = [program.file_name(), program.file_stem()].map(|name| name.map(OsStrExt::as_bytes));
    folder.files.iter().filter_map(|file| metadata_stem(file)).any(|stem| names.contains(&Some(stem)))
}
