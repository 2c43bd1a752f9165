//! Temporary folder of a test run, with a home and a folder for the cases of each worker.

use crate::cases::case::{Content, FileBefore};
use mcp_bash_runner::StateDir;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The largest file that is copied for a case, in bytes.
const LONGEST_COPY: u64 = 1024 * 1024 * 1024;

/// A folder that no other user can enter. It is removed with this value, or with this process if that is killed.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    path: PathBuf,
    /// Set if it is not inside another one.
    _outermost: Option<StateDir>,
}

impl TemporaryFolder {
    pub(crate) fn new() -> io::Result<Self> {
        // Scripts receive the path without symlinks, and so does the comparison of their output.
        let parent = std::env::temp_dir();
        let parent = parent.canonicalize().unwrap_or(parent);
        let outermost = StateDir::new(parent, false);
        Ok(Self { path: outermost.path()?, _outermost: Some(outermost) })
    }

    /// A folder inside another one.
    pub(crate) fn inside(other: &Self) -> io::Result<Self> {
        for number in 1.. {
            let path = other.path.join(format!("run.{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path, _outermost: None }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// The folders of a server and of its cases, one after another.
#[derive(Debug)]
pub(crate) struct ServerFolder {
    pub(crate) home: PathBuf,
    /// `${dir}` of a case.
    pub(crate) dir: PathBuf,
    /// The server's standard error.
    pub(crate) log: PathBuf,
}

impl ServerFolder {
    pub(crate) fn new(above: &Path, number: usize) -> io::Result<Self> {
        let own = above.join(number.to_string());
        fs::create_dir(&own)?;
        let folder = Self { home: own.join("home"), dir: own.join("dir"), log: own.join("log") };
        folder.empty()?;
        Ok(folder)
    }

    /// Creates both folders again, whatever the case before did to them.
    pub(crate) fn empty(&self) -> io::Result<()> {
        for folder in [&self.home, &self.dir] {
            remove(folder)?;
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        Ok(())
    }

    /// Removes all of it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.home.parent().map_or(Ok(()), remove)
    }

    /// Writes the files of a case.
    pub(crate) fn fill(
        &self,
        files: &[(String, FileBefore)],
        filled: impl Fn(&str) -> String,
    ) -> Result<(), String> {
        for (path, file) in files {
            let failed =
                |error: io::Error| format!("failed to write `{path}` into the folder of the case: {error}");
            let target = self.dir.join(path);
            if let Some(above) = target.parent() {
                fs::create_dir_all(above).map_err(failed)?;
            }
            match &file.content {
                Content::Text(text) => mcp_bash_files::create_new(&target, 0o666)
                    .and_then(|mut made| made.write_all(filled(text).as_bytes()))
                    .map_err(failed)?,
                Content::From(source) => {
                    let copied = mcp_bash_files::copy(source, &target, LONGEST_COPY);
                    copied.map_err(|error| format!("failed to copy {}: {error}", source.display()))?;
                }
            }
            if file.executable {
                fs::set_permissions(&target, Permissions::from_mode(0o755)).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// Removes a file or a folder with its content, even if scripts removed the permission to read it.
fn remove(path: &Path) -> io::Result<()> {
    let looks = match fs::symlink_metadata(path) {
        Ok(looks) => looks,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !looks.is_dir() {
        return fs::remove_file(path);
    }
    if fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    open_up(path);
    fs::remove_dir_all(path)
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
