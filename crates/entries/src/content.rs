//! The content of a configuration file, read without being changed, and written as a whole or not at all.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// More than any client keeps in such a file.
const LONGEST: u64 = 64 * 1024 * 1024;

/// What is wrong with a file, apart from what stands in it.
#[derive(Debug, Error)]
pub enum FileError {
    #[error("failed to read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is a link to something that is not there", .0.display())]
    DanglingLink(PathBuf),
    #[error("{} is read-only; nothing was changed", .0.display())]
    ReadOnly(PathBuf),
    #[error("{} was changed by another program meanwhile; nothing was written, try it again", .0.display())]
    Changed(PathBuf),
    #[error("failed to write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// A file as it was when it was read.
#[derive(Debug)]
pub(crate) struct Content {
    /// The file itself, where the path is a link to it.
    path: PathBuf,
    /// Nothing where there is no file.
    pub(crate) text: Option<String>,
}

impl Content {
    pub(crate) fn read(path: &Path) -> Result<Self, FileError> {
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let failed = |source| FileError::Read { path: path.to_owned(), source };
        match path.symlink_metadata() {
            Err(error) if is_missing(&error) => return Ok(Self { path: path.to_owned(), text: None }),
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let real = path.canonicalize().map_err(|error| {
            if is_missing(&error) { FileError::DanglingLink(path.to_owned()) } else { failed(error) }
        })?;
        let text = mcp_bash_files::read_text(&real, LONGEST).map_err(failed)?;
        Ok(Self { path: real, text: Some(text) })
    }

    /// Puts another text in its place, or nothing. What was there is kept beside it, and where is returned.
    pub(crate) fn replace(&self, text: Option<&str>, new_mode: u32) -> Result<Option<PathBuf>, FileError> {
        let failed = |source| FileError::Write { path: self.path.clone(), source };
        let known = self.text.is_some().then(|| self.path.metadata()).transpose().map_err(failed)?;
        if known.as_ref().is_some_and(|known| known.permissions().mode() & 0o222 == 0) {
            return Err(FileError::ReadOnly(self.path.clone()));
        }
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let draft = match text {
            Some(text) => Some(self.draft(text, known.as_ref(), new_mode).map_err(failed)?),
            None => None,
        };
        let backup = match (&self.text, &known) {
            // A file that goes held nothing but what we can write again.
            (Some(before), Some(known)) if draft.is_some() => {
                Some(self.back_up(before, known).map_err(failed)?)
            }
            _ => None,
        };
        // As late as possible: clients write their files whenever they like.
        if Self::read(&self.path)?.text != self.text {
            if let Some(backup) = backup {
                let _ = std::fs::remove_file(backup);
            }
            return Err(FileError::Changed(self.path.clone()));
        }
        match draft {
            Some(mut draft) => draft.rename(&self.path).map_err(failed)?,
            None => std::fs::remove_file(&self.path).map_err(failed)?,
        }
        Ok(backup)
    }

    /// The new text in a file beside the old one, with its mode and owner.
    fn draft(&self, text: &str, known: Option<&Metadata>, new_mode: u32) -> io::Result<Draft> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = self.path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let mode = known.map_or(new_mode, |known| known.permissions().mode());
        let mut file = create_new(&path, mode)?;
        let draft = Draft { path, is_there: true };
        file.write_all(text.as_bytes())?;
        if let Some(known) = known {
            give(&file, known)?;
        }
        Ok(draft)
    }

    /// A copy under a name that nothing has.
    fn back_up(&self, text: &str, known: &Metadata) -> io::Result<PathBuf> {
        for path in backup_names(&self.path) {
            match create_new(&path, known.permissions().mode()) {
                Ok(mut file) => {
                    file.write_all(text.as_bytes())?;
                    give(&file, known)?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many copies of it already"))
    }

    /// The texts of the copies that were kept, the newest first.
    pub(crate) fn backups(&self) -> Vec<String> {
        let there = backup_names(&self.path).take_while(|path| path.symlink_metadata().is_ok());
        let mut texts: Vec<String> =
            there.filter_map(|path| mcp_bash_files::read_text(&path, LONGEST).ok()).collect();
        texts.reverse();
        texts
    }
}

/// `mcp.json.bak`, `mcp.json.bak2`, and so on.
fn backup_names(path: &Path) -> impl Iterator<Item = PathBuf> {
    const MOST: u32 = 1000;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    (1..MOST).map(move |number| match number {
        1 => path.with_file_name(format!("{name}.bak")),
        _ => path.with_file_name(format!("{name}.bak{number}")),
    })
}

fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode & 0o7777).open(path)
}

/// The mode and the owner that another file has. Only root can give files away, and nobody else has to.
fn give(file: &File, known: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (known.uid(), known.gid()) {
        let _ = std::os::unix::fs::fchown(file, Some(known.uid()), Some(known.gid()));
    }
    file.set_permissions(Permissions::from_mode(known.permissions().mode() & 0o7777))
}

/// A file that is removed unless it came to its place.
struct Draft {
    path: PathBuf,
    is_there: bool,
}

impl Draft {
    fn rename(&mut self, to: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, to)?;
        self.is_there = false;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.is_there {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_replaced_with_its_mode_and_each_copy_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "1").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let replace = |text: &str| Content::read(&path).unwrap().replace(Some(text), 0o600).unwrap().unwrap();
        assert_eq!(replace("2"), path.canonicalize().unwrap().with_file_name("a.json.bak"));
        assert_eq!(replace("3").file_name().unwrap(), "a.json.bak2");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "3");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(Content::read(&path).unwrap().backups(), ["2", "1"]);
        assert_eq!(folder.path().read_dir().unwrap().count(), 3);
        assert_eq!(Content::read(&path).unwrap().replace(None, 0).unwrap(), None);
        assert!(!path.exists());
    }

    #[test]
    fn a_change_in_between_is_noticed_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "1").unwrap();
        let content = Content::read(&path).unwrap();
        std::fs::write(&path, "other").unwrap();
        assert!(matches!(content.replace(Some("2"), 0o600), Err(FileError::Changed(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "other");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        // The same for a file that was not there.
        let new = folder.path().join("deep/b.json");
        let content = Content::read(&new).unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        std::fs::write(&new, "").unwrap();
        assert!(matches!(content.replace(Some("2"), 0o600), Err(FileError::Changed(_))));
    }

    #[test]
    fn links_are_followed_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (link, real) = (folder.path().join("link.json"), folder.path().join("dotfiles/real.json"));
        std::fs::create_dir(folder.path().join("dotfiles")).unwrap();
        symlink("dotfiles/real.json", &link).unwrap();
        assert!(matches!(Content::read(&link), Err(FileError::DanglingLink(_))));
        std::fs::write(&real, "1").unwrap();
        Content::read(&link).unwrap().replace(Some("2"), 0o600).unwrap();
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "2");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(folder.path().join("dotfiles/real.json.bak").exists());
    }

    #[test]
    fn what_is_no_file_or_too_large_or_read_only_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let told = |path: &Path| Content::read(path).unwrap_err().to_string();
        assert!(told(folder.path()).ends_with("it is a directory, not a file"));
        let large = folder.path().join("large");
        File::create(&large).unwrap().set_len(LONGEST + 1).unwrap();
        assert!(told(&large).ends_with("it has more than 67108864 bytes"));
        let binary = folder.path().join("binary");
        std::fs::write(&binary, b"\xff\xfe").unwrap();
        assert!(told(&binary).ends_with("it is not UTF-8 text"));
        let fixed = folder.path().join("fixed");
        std::fs::write(&fixed, "1").unwrap();
        std::fs::set_permissions(&fixed, Permissions::from_mode(0o444)).unwrap();
        let refused = Content::read(&fixed).unwrap().replace(Some("2"), 0o600);
        assert!(matches!(refused, Err(FileError::ReadOnly(_))));
    }
}
