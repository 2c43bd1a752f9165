//! Replacements: the next version of a file, written beside it and renamed in one step, so that no reader sees half of it.

use crate::create_new;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A new file that takes the place of another one when it is published. Dropped before, it is removed.
#[derive(Debug)]
pub struct Replacement {
    pub file: File,
    path: PathBuf,
    target: PathBuf,
    is_published: bool,
}

impl Replacement {
    /// Creates the file at `path` for `target`, which is in the same file system. Anything that has the name `path`, even a
    /// link, is an error: a file of another process is not ours to write to.
    pub fn create(path: PathBuf, target: PathBuf, mode: u32) -> io::Result<Self> {
        let file = create_new(&path, mode)?;
        Ok(Self { file, path, target, is_published: false })
    }

    /// The same, in place of what another process has left at `path`.
    pub fn create_again(path: PathBuf, target: PathBuf, mode: u32) -> io::Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Self::create(path, target, mode)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// The path of the file that this one is for.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Takes the place of the file.
    pub fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_draft_is_published_or_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "old").unwrap();
        let mut dropped = Replacement::create(path("draft"), path("file"), 0o600).unwrap();
        dropped.write(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "old");
        let mut draft = Replacement::create(path("draft"), path("file"), 0o600).unwrap();
        draft.write(b"new").unwrap();
        draft.publish().unwrap();
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "new");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_written_through_a_link_that_has_the_name_of_the_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("other"), "other").unwrap();
        symlink(path("other"), path("draft")).unwrap();
        let refused = Replacement::create(path("draft"), path("file"), 0o600).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert!(path("draft").is_symlink(), "what is not ours stays");
        let mut draft = Replacement::create_again(path("draft"), path("file"), 0o600).unwrap();
        draft.write(b"new").unwrap();
        draft.publish().unwrap();
        assert_eq!(fs::read_to_string(path("other")).unwrap(), "other");
        assert!(!path("file").is_symlink());
        fs::create_dir(path("draft")).unwrap();
        assert!(Replacement::create_again(path("draft"), path("file"), 0o600).is_err(), "a folder");
    }
}
