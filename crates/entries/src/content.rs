//! File content: read without being changed, and written completely or not at all.
//!
//! Clients write their files at any time, and most of them truncate a file before they write it. So a file that was
//! changed a moment ago is read again until it stays the same (`settled.rs`), and a change is made in steps that lose
//! nothing of what a client writes:
//!
//! 1. The new text is written to a draft.
//! 2. The file gets a second name, that of its backup: a process that has it open goes on writing to the backup.
//! 3. The file is compared with what was read. If anything differs, nothing is replaced.
//! 4. The draft and the file exchange names. If the exchanged file is not the one that was read, because a client has
//!    replaced it after 3, both are exchanged back, and the change is refused.
//! 5. The backup is compared again: a client that opened the file between 3 and 4 has truncated it by then. If it has,
//!    the file is restored, and the change is refused.
//!
//! A client that writes, without truncating, to a file that it opened before step 4 is not noticed, and its text is in
//! the backup. On file systems without hard links the backup is a copy, and there is no step 5. If two names cannot be
//! exchanged, a file that a client puts in its place between 3 and 4 is lost.

use crate::settled;
use mcp_bash_files::{exchange, rename_to_nothing};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// More than any client keeps in such a file.
const LONGEST: u64 = 64 * 1024 * 1024;

/// What is wrong with a file, apart from its text.
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
    #[error("another program keeps changing {}; nothing was written, try it again later", .0.display())]
    Busy(PathBuf),
    #[error(
        "{} is empty, and was not when {} was made: its client may be writing it; nothing was changed. Try it again, \
         restore the file from there, or remove it",
        path.display(),
        backup.display()
    )]
    Emptied { path: PathBuf, backup: PathBuf },
    #[error("failed to write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// A file as it was when it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// The file itself, if the path is a link to it.
    path: PathBuf,
    /// `None` if there is no file.
    pub(crate) text: Option<String>,
    stamp: Option<Stamp>,
}

/// The identity of a file's content: it differs after a write or a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(file: &Metadata) -> Self {
        Self {
            file: (file.dev(), file.ino()),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
        }
    }
}

/// The steps of a change, between which another program may do anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Drafted,
    BackedUp,
    Compared,
    Replaced,
}

impl Content {
    pub(crate) fn read(path: &Path) -> Result<Self, FileError> {
        let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let failed = |source| FileError::Read { path: path.to_owned(), source };
        let nothing = || Self { path: path.to_owned(), text: None, stamp: None };
        match path.symlink_metadata() {
            Err(error) if is_missing(&error) => return Ok(nothing()),
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let real = path.canonicalize().map_err(|error| {
            if is_missing(&error) { FileError::DanglingLink(path.to_owned()) } else { failed(error) }
        })?;
        let file = match mcp_bash_files::open(&real) {
            // A client that removes its file before it writes another.
            Err(error) if is_missing(&error) => return Ok(nothing()),
            opened => opened.map_err(failed)?,
        };
        // Taken before the read, so that a write during the read shows as a difference.
        let stamp = Stamp::of(&file.metadata().map_err(failed)?);
        let text = mcp_bash_files::read_all_text(&file, LONGEST).map_err(failed)?;
        Ok(Self { path: real, text: Some(text), stamp: Some(stamp) })
    }

    /// Reads a file that is to be changed: if its client is just writing it, it is read again until it stays the same.
    /// `is_whole` says whether a text can be a complete file.
    pub(crate) fn read_settled(
        path: &Path,
        is_whole: &dyn Fn(&str) -> settled::Whole,
    ) -> Result<Self, FileError> {
        settled::read(path, is_whole, &mut || std::thread::sleep(settled::PAUSE))
    }

    /// The file itself, if a link leads to it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file exists and is blank.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.as_deref().is_some_and(|text| text.trim().is_empty())
    }

    /// Replaces the text, or removes the file. Keeps the previous file as a backup, and returns its path.
    pub(crate) fn replace(&self, text: Option<&str>, new_mode: u32) -> Result<Option<PathBuf>, FileError> {
        self.replace_in_steps(text, new_mode, &mut |_| ())
    }

    fn replace_in_steps(
        &self,
        text: Option<&str>,
        new_mode: u32,
        after: &mut dyn FnMut(Step),
    ) -> Result<Option<PathBuf>, FileError> {
        let failed = |source| FileError::Write { path: self.path.clone(), source };
        let changed = || FileError::Changed(self.path.clone());
        let known = match self.path.metadata() {
            Ok(known) => Some(known),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        if known.is_some() != self.text.is_some() {
            return Err(changed());
        }
        if known.as_ref().is_some_and(|known| known.permissions().mode() & 0o222 == 0) {
            return Err(FileError::ReadOnly(self.path.clone()));
        }
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut draft = match text {
            Some(text) => Some(self.draft(text, known.as_ref(), new_mode).map_err(failed)?),
            None => None,
        };
        after(Step::Drafted);
        let (Some(before), Some(known)) = (&self.text, &known) else {
            return match draft {
                Some(mut draft) => draft.publish(&self.path).map(|()| None).map_err(|error| {
                    if error.kind() == ErrorKind::AlreadyExists { changed() } else { failed(error) }
                }),
                None => Ok(None),
            };
        };
        let mut backup = self
            .back_up(before, known)
            .map_err(|error| if error.kind() == ErrorKind::NotFound { changed() } else { failed(error) })?;
        after(Step::BackedUp);
        if Self::read(&self.path)? != *self {
            return Err(changed());
        }
        after(Step::Compared);
        let file = self.stamp.map(|stamp| stamp.file);
        let is_replaced = match &mut draft {
            Some(draft) => draft.take_place_of(&self.path, file).map_err(failed)?,
            None => remove(&self.path, file).map_err(failed)?,
        };
        if !is_replaced {
            return Err(changed());
        }
        after(Step::Replaced);
        if backup.is_the_file && !self.is_unchanged_at(&backup.path) {
            // The client's text wins, unless the client has replaced the file already.
            match &draft {
                Some(draft) if draft.is_at(&self.path) => backup.replace(&self.path).map_err(failed)?,
                Some(_) => backup.is_kept = true,
                None => backup.publish(&self.path).or_else(|error| backup.keep(error)).map_err(failed)?,
            }
            return Err(changed());
        }
        // A removed file held nothing but what we can write again.
        backup.is_kept = draft.is_some();
        if !backup.is_kept {
            return Ok(None);
        }
        backup.make_private(known).map_err(failed)?;
        Ok(Some(backup.path.clone()))
    }

    /// Whether the file that was read is as it was, under the name of its backup.
    fn is_unchanged_at(&self, path: &Path) -> bool {
        Self::read(path).is_ok_and(|now| now.stamp == self.stamp && now.text == self.text)
    }

    /// Writes the new text to a file beside the old one, with its mode and owner.
    fn draft(&self, text: &str, known: Option<&Metadata>, new_mode: u32) -> io::Result<OwnFile> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = self.path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let mode = known.map_or(new_mode, |known| known.permissions().mode());
        let mut file = mcp_bash_files::create_new(&path, mode & 0o7777)?;
        let mut draft = OwnFile { path, inode: None, is_kept: false, is_the_file: false };
        file.write_all(text.as_bytes())?;
        if let Some(known) = known {
            give(&file, known)?;
        }
        // Before it replaces the only file there is.
        file.sync_all()?;
        draft.inode = Some(Stamp::of(&file.metadata()?).file);
        Ok(draft)
    }

    /// A second name of the file, or a copy if hard links are not possible.
    fn back_up(&self, text: &str, known: &Metadata) -> io::Result<OwnFile> {
        for path in backup_names(&self.path) {
            let made = match std::fs::hard_link(&self.path, &path) {
                Ok(()) => Ok(true),
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                    Err(error)
                }
                Err(_) => copy(text, &path, known).map(|()| false),
            };
            match made {
                Ok(is_the_file) => return Ok(OwnFile { path, inode: None, is_kept: false, is_the_file }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many copies of it already"))
    }

    /// The backups with their texts, newest first.
    pub(crate) fn backups(&self) -> Vec<(PathBuf, String)> {
        let there = backup_names(&self.path).take_while(|path| path.symlink_metadata().is_ok());
        let text = |path: PathBuf| Some((mcp_bash_files::read_text(&path, LONGEST).ok()?, path));
        let mut texts: Vec<_> = there.filter_map(text).map(|(text, path)| (path, text)).collect();
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

/// A copy that only its owner can read.
fn copy(text: &str, path: &Path, known: &Metadata) -> io::Result<()> {
    let mut file = mcp_bash_files::create_new(path, 0o600)?;
    file.write_all(text.as_bytes())?;
    give_owner(&file, known)
}

/// Gives a file the mode and the owner of another.
fn give(file: &File, known: &Metadata) -> io::Result<()> {
    give_owner(file, known)?;
    file.set_permissions(Permissions::from_mode(known.permissions().mode() & 0o7777))
}

/// Only root can give files away, and other users need not.
fn give_owner(file: &File, known: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (known.uid(), known.gid()) {
        let _ = std::os::unix::fs::fchown(file, Some(known.uid()), Some(known.gid()));
    }
    Ok(())
}

/// Removes one specific file. False if another file has its name; that one stays.
fn remove(path: &Path, file: Option<(u64, u64)>) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = path.with_file_name(format!(".{name}.{}.gone", std::process::id()));
    rename_to_nothing(path, &aside)?;
    if inode_at(&aside) == file {
        std::fs::remove_file(&aside)?;
        return Ok(true);
    }
    rename_to_nothing(&aside, path)?;
    Ok(false)
}

/// Device and inode of the file with that name.
fn inode_at(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|file| Stamp::of(&file).file)
}

/// A file of ours, which is removed unless it is kept.
struct OwnFile {
    path: PathBuf,
    /// Device and inode, if it is a draft.
    inode: Option<(u64, u64)>,
    is_kept: bool,
    /// Whether it is another name of the previous file.
    is_the_file: bool,
}

impl OwnFile {
    /// Replaces a file.
    fn replace(&mut self, other: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, other)?;
        self.is_kept = true;
        Ok(())
    }

    /// Replaces one specific file. False if another file has its name; that one stays.
    fn take_place_of(&mut self, name: &Path, file: Option<(u64, u64)>) -> io::Result<bool> {
        match exchange(&self.path, name) {
            Err(error) if error.kind() == ErrorKind::Unsupported => return self.replace(name).map(|()| true),
            exchanged => exchanged?,
        }
        if inode_at(&self.path) == file {
            std::fs::remove_file(&self.path)?;
            self.is_kept = true;
            return Ok(true);
        }
        exchange(&self.path, name)?;
        // If yet another file has taken its place meanwhile, that one is not ours to remove.
        self.is_kept = inode_at(&self.path) != self.inode;
        Ok(false)
    }

    /// Takes an unused name.
    fn publish(&mut self, name: &Path) -> io::Result<()> {
        rename_to_nothing(&self.path, name)?;
        self.is_kept = true;
        Ok(())
    }

    /// Another file has the name: both are kept.
    fn keep(&mut self, error: io::Error) -> io::Result<()> {
        self.is_kept = true;
        if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
    }

    fn is_at(&self, path: &Path) -> bool {
        self.inode.is_some() && inode_at(path) == self.inode
    }

    /// Only its owner may read a backup, which may hold secrets.
    fn make_private(&self, known: &Metadata) -> io::Result<()> {
        let mode = known.permissions().mode() & 0o700;
        std::fs::set_permissions(&self.path, Permissions::from_mode(mode))
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if !self.is_kept {
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
        let backups = Content::read(&path).unwrap().backups();
        assert_eq!(backups.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["2", "1"]);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&backups[0].0), mode(&backups[1].0)), (0o600, 0o600));
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
        // The same for a file that did not exist.
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
    fn non_files_large_files_and_read_only_files_are_refused() {
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

    type NameAndText = (String, String);

    /// A file with one text, and another program that changes it after a step.
    fn changed_after(
        step: Step,
        change: impl Fn(&Path),
    ) -> (Result<Option<PathBuf>, FileError>, Vec<NameAndText>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.json");
        std::fs::write(&path, "five servers").unwrap();
        let content = Content::read(&path).unwrap();
        let made = content.replace_in_steps(Some("ours"), 0o600, &mut |done| {
            if done == step {
                change(&path);
            }
        });
        let text = |entry: std::fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
        };
        let mut files: Vec<_> = folder.path().read_dir().unwrap().map(|entry| text(entry.unwrap())).collect();
        files.sort();
        (made, files)
    }

    fn file(name: &str, text: &str) -> NameAndText {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn a_client_that_truncates_its_file_after_any_step_keeps_it() {
        for step in [Step::Drafted, Step::BackedUp, Step::Compared] {
            let (made, files) = changed_after(step, |path| drop(File::create(path).unwrap()));
            assert!(matches!(made, Err(FileError::Changed(_))), "{step:?}");
            assert_eq!(files, [file("a.json", "")], "{step:?}: it is the client's to write");
        }
    }

    #[test]
    fn a_client_with_its_file_open_loses_nothing_it_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "five servers").unwrap();
        let content = Content::read(&path).unwrap();
        let mut client = None;
        let made = content.replace_in_steps(Some("ours"), 0o600, &mut |step| {
            if step == Step::Compared {
                client = Some(File::create(&path).unwrap());
            }
        });
        assert!(matches!(made, Err(FileError::Changed(_))));
        client.unwrap().write_all(b"six servers").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "six servers");
        // A program that does not truncate writes to the backup.
        let content = Content::read(&path).unwrap();
        let mut client = File::options().append(true).open(&path).unwrap();
        let backup = content.replace(Some("ours"), 0o600).unwrap().unwrap();
        client.write_all(b" and one").unwrap();
        assert_eq!(std::fs::read_to_string(backup).unwrap(), "six servers and one");
    }

    #[test]
    fn a_client_that_puts_another_file_in_its_place_keeps_both() {
        let put = |path: &Path| {
            std::fs::write(path.with_extension("new"), "six servers").unwrap();
            std::fs::rename(path.with_extension("new"), path).unwrap();
        };
        for step in [Step::Drafted, Step::BackedUp, Step::Compared] {
            let (made, files) = changed_after(step, put);
            assert!(matches!(made, Err(FileError::Changed(_))), "{step:?}");
            assert_eq!(files, [file("a.json", "six servers")], "{step:?}");
        }
        let (made, files) = changed_after(Step::Replaced, put);
        assert!(made.is_ok());
        assert_eq!(files, [file("a.json", "six servers"), file("a.json.bak", "five servers")]);
    }

    #[test]
    fn a_file_that_is_removed_or_made_is_not_taken_from_its_client() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "ours").unwrap();
        let content = Content::read(&path).unwrap();
        let removed = content.replace_in_steps(None, 0o600, &mut |step| {
            if step == Step::Compared {
                std::fs::write(&path, "six servers").unwrap();
            }
        });
        assert!(matches!(removed, Err(FileError::Changed(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "six servers");
        // Not even if it is another file by then.
        let content = Content::read(&path).unwrap();
        let removed = content.replace_in_steps(None, 0o600, &mut |step| {
            if step == Step::Compared {
                std::fs::write(path.with_extension("new"), "seven servers").unwrap();
                std::fs::rename(path.with_extension("new"), &path).unwrap();
            }
        });
        assert!(matches!(removed, Err(FileError::Changed(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "seven servers");
        std::fs::remove_file(&path).unwrap();
        let made = Content::read(&path).unwrap().replace_in_steps(Some("ours"), 0o600, &mut |step| {
            if step == Step::Drafted {
                std::fs::write(&path, "six servers").unwrap();
            }
        });
        assert!(matches!(made, Err(FileError::Changed(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "six servers");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
