//! The folders of a project, as the checks walk them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many levels of folders are walked. Links may lead in circles.
const DEPTH: usize = 8;

/// How many files are looked at in all.
const MOST: usize = 200_000;

/// One folder and the names of its files, in order and hidden ones left out.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) files: Vec<OsString>,
}

/// A folder and those in it.
pub(super) fn walk(root: &Path) -> Vec<Folder> {
    let (mut left, mut walked) = (MOST, Vec::new());
    descend(root, DEPTH, &mut left, &mut walked);
    walked
}

fn descend(path: &Path, depth: usize, left: &mut usize, walked: &mut Vec<Folder>) {
    let Ok(entries) = path.read_dir() else { return };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in entries.filter_map(Result::ok) {
        let Some(rest) = left.checked_sub(1) else { break };
        *left = rest;
        let name = entry.file_name();
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type();
        let is_folder = match &kind {
            Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
            Ok(kind) => kind.is_dir(),
            Err(_) => false,
        };
        if is_folder { folders.push(name) } else { files.push(name) }
    }
    files.sort_unstable();
    folders.sort_unstable();
    walked.push(Folder { path: path.to_owned(), files });
    if depth > 1 {
        for name in folders {
            descend(&path.join(name), depth - 1, left, walked);
        }
    }
}
