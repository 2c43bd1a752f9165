//! Draft: files that are written all together or not at all, and never over existing ones.
//!
//! Each new file or folder is created under a hidden name beside its place, which discovery ignores, and then renamed in
//! one step. If one of the steps fails, the earlier ones are undone.

use super::ScaffoldError;
use mcp_bash_files::{Replacement, rename_to_nothing};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// New files and folders, and at most one file with a new text.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    files: Vec<(PathBuf, String)>,
    folders: Vec<PathBuf>,
    changed: Option<(PathBuf, String)>,
}

impl Draft {
    /// A new file. One that begins with `#!` is made executable.
    pub(crate) fn file(&mut self, path: PathBuf, text: impl Into<String>) {
        self.files.push((path, text.into()));
    }

    /// A new folder without files.
    pub(crate) fn folder(&mut self, path: PathBuf) {
        self.folders.push(path);
    }

    /// A new text for an existing file.
    pub(crate) fn change(&mut self, path: PathBuf, text: String) {
        self.changed = Some((path, text));
    }

    /// Puts everything in its place.
    pub(crate) fn write(self) -> Result<(), ScaffoldError> {
        for (path, _) in &self.files {
            if is_there(path) {
                return Err(ScaffoldError::Exists(path.clone()));
            }
        }
        let mut made = Made::default();
        // The units that are new as a whole: a file in an existing folder, otherwise the first missing folder.
        let mut units: BTreeMap<PathBuf, Vec<(PathBuf, Option<String>)>> = BTreeMap::new();
        let files = self.files.into_iter().map(|(path, text)| (path, Some(text)));
        for (path, text) in files.chain(self.folders.into_iter().map(|path| (path, None))) {
            units.entry(first_missing(&path)).or_default().push((path, text));
        }
        for (unit, parts) in &units {
            made.stage(unit, parts)?;
        }
        let changed = self.changed.map(|(path, text)| stage_change(path, &text)).transpose()?;
        made.publish()?;
        if let Some(changed) = changed {
            let path = changed.target().to_owned();
            changed.publish().map_err(|source| ScaffoldError::Write { path, source })?;
        }
        made.is_done = true;
        Ok(())
    }
}

/// What was created so far, which is removed again unless everything succeeds.
#[derive(Default)]
struct Made {
    /// The hidden name and the final one of each unit that is not in its place yet.
    staged: Vec<(PathBuf, PathBuf)>,
    published: Vec<PathBuf>,
    is_done: bool,
}

impl Made {
    /// Creates a file, or a folder with its content, under a hidden name.
    fn stage(&mut self, unit: &Path, parts: &[(PathBuf, Option<String>)]) -> Result<(), ScaffoldError> {
        let hidden = hidden_name(unit);
        // Before the first step, so that a half-made unit is removed too.
        self.staged.push((hidden.clone(), unit.to_owned()));
        for (path, text) in parts {
            let below = path.strip_prefix(unit).unwrap_or(Path::new(""));
            let place = if below.as_os_str().is_empty() { hidden.clone() } else { hidden.join(below) };
            let made = match text {
                Some(text) => make_folders(place.parent().filter(|_| place != hidden))
                    .and_then(|()| make_file(&place, text)),
                None => make_folders(Some(&place)),
            };
            made.map_err(|source| ScaffoldError::Write { path: path.clone(), source })?;
        }
        Ok(())
    }

    /// Gives all new units their names.
    fn publish(&mut self) -> Result<(), ScaffoldError> {
        for (hidden, unit) in &self.staged {
            rename_to_nothing(hidden, unit).map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => ScaffoldError::Exists(unit.clone()),
                _ => ScaffoldError::Write { path: unit.clone(), source },
            })?;
            self.published.push(unit.clone());
        }
        Ok(())
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let all = self.published.iter().chain(self.staged.iter().map(|(hidden, _)| hidden));
        for path in all {
            let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
            // The user already knows why nothing was written.
            let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Writes the new text of a file beside it, or beside the target of a symlink.
fn stage_change(path: PathBuf, text: &str) -> Result<Replacement, ScaffoldError> {
    let staged = path.canonicalize().and_then(|file| {
        let mode = file.metadata()?.permissions().mode() & 0o7777;
        let mut draft = Replacement::create(hidden_name(&file), file, 0o644)?;
        draft.write(text.as_bytes())?;
        draft.file.set_permissions(Permissions::from_mode(mode))?;
        Ok(draft)
    });
    staged.map_err(|source| ScaffoldError::Write { path, source })
}

/// Whether something has that name, even a broken symlink.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The new part of a path: the path itself, or the first missing folder on the way to it.
fn first_missing(path: &Path) -> PathBuf {
    let missing = path.ancestors().take_while(|part| !is_there(part) && !part.as_os_str().is_empty());
    missing.last().unwrap_or(path).to_owned()
}

/// A hidden name beside the path.
fn hidden_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.new-{}", std::process::id()))
}

/// Creates folders that no other user can write, whatever the umask.
fn make_folders(folder: Option<&Path>) -> io::Result<()> {
    let Some(folder) = folder.filter(|folder| !is_there(folder)) else { return Ok(()) };
    make_folders(folder.parent().filter(|parent| !parent.as_os_str().is_empty()))?;
    DirBuilder::new().mode(0o755).create(folder)?;
    own(folder, 0o700)
}

/// Creates a file that no other user can write. The umask may reduce its mode, but not for the owner.
fn make_file(path: &Path, text: &str) -> io::Result<()> {
    let is_script = text.starts_with("#!");
    let usual = if is_script { 0o755 } else { 0o644 };
    let mut file = mcp_bash_files::create_new(path, usual)?;
    file.write_all(text.as_bytes())?;
    own(path, if is_script { 0o700 } else { 0o600 })
}

/// Restores the owner's permissions of a mode that the umask removed.
fn own(path: &Path, mode: u32) -> io::Result<()> {
    let now = path.metadata()?.permissions().mode() & 0o7777;
    if now & mode == mode { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(now | mode)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn all_is_in_its_place_or_nothing_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("there")).unwrap();
        let mut draft = Draft::default();
        draft.file(root.join("new/deep/script"), "#!/bin/sh\n");
        draft.file(root.join("there/plain"), "text");
        draft.folder(root.join("empty"));
        draft.write().unwrap();
        assert_eq!(names(root), ["empty", "new", "there"]);
        assert_eq!(names(&root.join("there")), ["plain"]);
        let mode = |path: &str| root.join(path).metadata().unwrap().permissions().mode() & 0o722;
        assert_eq!((mode("new/deep/script"), mode("there/plain")), (0o700, 0o600));

        // A broken symlink counts too, and a refused draft leaves nothing behind.
        std::os::unix::fs::symlink("nowhere", root.join("there/link")).unwrap();
        let mut draft = Draft::default();
        draft.file(root.join("another/file"), "text");
        draft.file(root.join("there/link"), "text");
        assert!(matches!(draft.write(), Err(ScaffoldError::Exists(path)) if path == root.join("there/link")));
        assert_eq!(names(root), ["empty", "new", "there"]);
    }

    #[test]
    fn what_fails_late_takes_back_what_came_before() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut draft = Draft::default();
        draft.file(root.join("first/file"), "text");
        draft.change(root.join("missing"), "text".to_owned());
        assert!(matches!(draft.write(), Err(ScaffoldError::Write { .. })));
        assert_eq!(names(root), [""; 0]);
    }

    #[test]
    fn a_changed_file_keeps_its_mode_and_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        let mut draft = Draft::default();
        draft.change(link.clone(), "new".to_owned());
        draft.write().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["file", "link"]);
    }
}
