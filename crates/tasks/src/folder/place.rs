//! Place of the tasks: a folder that must be private.

use crate::StoreError;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::fs::{self, DirBuilder, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// Creates the folder and its missing parents with mode 0700. An existing folder is only checked.
pub(super) fn make_private(folder: &Path) -> Result<(), StoreError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| unusable(folder, source))?;
    if is_private(folder)? { Ok(()) } else { Err(unusable(folder, ErrorKind::NotFound.into())) }
}

/// Whether the folder exists. One that other users can access is refused: they could plant tasks that we would run, and results
/// that clients would trust.
pub(super) fn is_private(folder: &Path) -> Result<bool, StoreError> {
    match fs::metadata(folder) {
        Ok(found) => match problem(&found) {
            None => Ok(true),
            Some(problem) => Err(StoreError::NotPrivate { path: folder.to_owned(), problem }),
        },
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(source) => Err(unusable(folder, source)),
    }
}

/// Whether tasks could be stored in the folder: it is private and writable, or it can be created.
pub(super) fn check(folder: &Path) -> Result<(), StoreError> {
    let existing = if is_private(folder)? { folder } else { nearest_above(folder) };
    let failed = |error: io::Error| {
        unusable(folder, io::Error::new(error.kind(), format!("{}: {error}", existing.display())))
    };
    if !existing.is_dir() {
        return Err(failed(ErrorKind::NotADirectory.into()));
    }
    let access = Access::WRITE_OK | Access::EXEC_OK;
    accessat(CWD, existing, access, AtFlags::EACCESS).map_err(|error| failed(error.into()))
}

/// The nearest ancestor that exists.
fn nearest_above(folder: &Path) -> &Path {
    let mut above = folder.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    above.find(|above| fs::symlink_metadata(above).is_ok()).unwrap_or(Path::new("."))
}

fn problem(found: &Metadata) -> Option<&'static str> {
    if !found.is_dir() {
        return Some("it is not a folder");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (found.mode() & 0o077 != 0).then_some("other users can use it")
}

fn unusable(folder: &Path, source: io::Error) -> StoreError {
    StoreError::Folder { path: folder.to_owned(), source }
}
