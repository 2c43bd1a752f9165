//! File metadata: reads what is at a path. A shortage of the system is recorded, so that it is not mistaken for a
//! missing file.

use crate::shortage::noted;
use rustix::fs::{AtFlags, Stat};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The metadata of a path, following links.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    path.metadata().map_err(noted)
}

/// The same for a link itself.
pub fn link_metadata(path: &Path) -> io::Result<Metadata> {
    path.symlink_metadata().map_err(noted)
}

/// The `stat` of a path, as the system reports it.
pub fn stat(path: &Path) -> io::Result<Stat> {
    rustix::fs::stat(path).map_err(|error| noted(error.into()))
}

/// The same for a name in an open folder.
pub fn stat_in(folder: impl AsFd, name: &OsStr) -> io::Result<Stat> {
    rustix::fs::statat(folder, name, AtFlags::empty()).map_err(|error| noted(error.into()))
}

pub fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|found| found.is_file())
}

pub fn is_folder(path: &Path) -> bool {
    metadata(path).is_ok_and(|found| found.is_dir())
}

/// The canonical path, with links resolved.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map_err(noted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shortage::during;

    #[test]
    fn a_missing_file_is_not_a_shortage() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let found = during(|| {
            [&*file, folder.path(), &file.join("none")].map(|path| (is_file(path), is_folder(path)))
        });
        assert_eq!(found, ([(true, false), (false, true), (false, false)], None));
        assert!(canonical(&file).is_ok() && link_metadata(&folder.path().join("none")).is_err());
    }
}
