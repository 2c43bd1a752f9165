//! Systems on which it cannot be found out at once whether a path has links in it.

use std::fs::File;
use std::path::Path;

pub(super) fn open_without_links(_path: &Path) -> Option<File> {
    None
}
