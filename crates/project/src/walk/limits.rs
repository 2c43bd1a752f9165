//! Limits of a walk: how deep it goes, how many folders it visits, which folders it skips.

use crate::languages::languages;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How deep below its folder an entry may be. Each level takes an open descriptor.
pub(crate) const DEPTH: usize = 16;

/// How many folders are walked for one kind. Symlinks can turn a few folders into any number.
pub(crate) const MOST_FOLDERS: usize = 100_000;

/// Whether a folder is skipped: hidden ones, and those in which other programs keep libraries and caches.
pub(crate) fn is_left_out(folder: &OsStr) -> bool {
    let mut of_languages = languages().flat_map(|language| language.left_out_folders);
    folder.as_bytes().starts_with(b".") || of_languages.any(|left_out| folder == *left_out)
}

/// Whether a symlink leads to one of the folders it is in, so that following it would never end.
pub(crate) fn leads_back(link: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|folder| (folder.dev(), folder.ino()));
    let target = identity(link);
    target.is_some() && link.ancestors().skip(1).any(|above| identity(above) == target)
}
