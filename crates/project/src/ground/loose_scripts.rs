//! Loose scripts: a folder that is no project, but holds scripts from which `mcp-bash import` makes tools.

use mcp_bash_harmless::shell_path;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How many files are looked at.
const MOST: usize = 200;

/// The folder itself, or one inside it where scripts usually are, if a file in it is a script that can be run.
pub fn loose_scripts(folder: &Path) -> Option<PathBuf> {
    let usual = ["bin", "scripts", "script"].map(|name| folder.join(name));
    [folder.to_owned()].into_iter().chain(usual).find(|folder| holds_script(folder))
}

fn holds_script(folder: &Path) -> bool {
    let Ok(entries) = folder.read_dir() else { return false };
    let mut files =
        entries.take(MOST).flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.any(|entry| {
        let can_run = entry.metadata().is_ok_and(|about| about.permissions().mode() & 0o111 != 0);
        can_run && begins_like_script(&entry.path())
    })
}

fn begins_like_script(file: &Path) -> bool {
    let mut start = [0; 2];
    mcp_bash_files::open(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok() && start == *b"#!")
}

/// The commands that make a project of a folder with such scripts.
pub fn import_hint(folder: &Path) -> Option<String> {
    let scripts = shell_path(&loose_scripts(folder)?);
    let is_here = std::env::current_dir().is_ok_and(|here| here == folder);
    Some(if is_here {
        format!("`mcp-bash init` and then `mcp-bash import {scripts}` make tools of its scripts")
    } else {
        let folder = shell_path(folder);
        format!(
            "`mcp-bash init {folder}` and then `mcp-bash import {scripts} --project-root {folder}` make tools of its \
             scripts"
        )
    })
}
