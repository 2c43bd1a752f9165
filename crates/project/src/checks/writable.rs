//! Writable paths: all group- or world-writable paths of a project, with the one command that fixes them. Such files are
//! not run.

use super::walk::Folder;
use crate::{Catalog, Diagnostic, Repair};
use mcp_bash_harmless::shell_path;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// With more paths than this, they are not named one by one.
const FEW: usize = 20;

/// One finding for all of them, or none.
pub(super) fn check(catalog: &Catalog, folders: &[Folder]) -> Option<Diagnostic> {
    let paths = &catalog.paths;
    let own =
        [&paths.root, &paths.tools, &paths.server, &paths.providers, &paths.prompts, &paths.completions];
    let mut writable: Vec<PathBuf> = own.into_iter().filter(|path| is_writable(path)).cloned().collect();
    for folder in folders {
        let inside = folder.files.iter().map(|name| folder.path.join(name)).chain([folder.path.clone()]);
        writable.extend(inside.filter(|path| is_writable(path)));
    }
    writable.sort_unstable();
    writable.dedup();
    let (first, count) = (writable.first()?, writable.len());
    let words: Vec<String> = writable.iter().map(|path| shell_path(path)).collect();
    let (problem, command) = if count == 1 {
        let problem = "is writable by its group or by everyone, so that what it holds is not run or believed";
        let remedy = format!("run `chmod go-w {}`", words[0]);
        return Some(
            Diagnostic::error(first, problem, &remedy).repaired_by(Repair::not_writable(writable.clone())),
        );
    } else if count <= FEW {
        (
            format!("{count} paths are writable by their group or by everyone"),
            format!("chmod go-w {}", words.join(" ")),
        )
    } else {
        let tops = [&paths.tools, &paths.server, &paths.providers, &paths.prompts, &paths.completions];
        let tops: Vec<String> =
            tops.into_iter().filter(|path| path.is_dir()).map(|path| shell_path(path)).collect();
        let root = shell_path(&paths.root);
        (
            format!("{count} paths are writable by their group or by everyone, {} among them", words[0]),
            format!("chmod go-w {root} && chmod -R go-w {}", tops.join(" ")),
        )
    };
    let problem = format!("{problem}, so that scripts in them are not run");
    let remedy = format!("run `{command}`");
    Some(Diagnostic::error(&paths.root, problem, &remedy).repaired_by(Repair::not_writable(writable)))
}

fn is_writable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.mode() & 0o022 != 0)
}
