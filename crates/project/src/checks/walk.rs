//! Folder walk of the checks.

use crate::walk::limits::{DEPTH, is_left_out, leads_back};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many files are walked in all.
const MOST: usize = 200_000;

/// The names of folders that hold tests.
const TESTS: [&str; 4] = ["test", "tests", "spec", "fixtures"];

/// One folder and the names of its files, sorted and without hidden ones.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) files: Vec<OsString>,
    /// Whether it holds tests, which are never meant to be served.
    pub(super) is_of_tests: bool,
}

/// A folder and all folders inside it.
pub(super) fn walk(root: &Path) -> Vec<Folder> {
    let (mut left, mut walked) = (MOST, Vec::new());
    descend(root, DEPTH, false, &mut left, &mut walked);
    walked
}

fn descend(path: &Path, depth: usize, is_of_tests: bool, left: &mut usize, walked: &mut Vec<Folder>) {
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
            // The search reports links that lead back.
            Ok(kind) if kind.is_symlink() => entry.path().is_dir() && !leads_back(&entry.path()),
            Ok(kind) => kind.is_dir(),
            Err(_) => false,
        };
        match is_folder {
            true if is_left_out(&name) => {}
            true => folders.push(name),
            false => files.push(name),
        }
    }
    // The programs and libraries of a Python environment are never entries.
    if files.iter().any(|name| name == "pyvenv.cfg") {
        return;
    }
    files.sort_unstable();
    folders.sort_unstable();
    walked.push(Folder { path: path.to_owned(), files, is_of_tests });
    if depth > 1 {
        for name in folders {
            let is_of_tests = is_of_tests || TESTS.iter().any(|known| name == *known);
            descend(&path.join(name), depth - 1, is_of_tests, left, walked);
        }
    }
}
