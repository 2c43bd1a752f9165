//! The temporary folder of a test run: each worker has a home and a folder for its cases in it.

use super::case::{Content, FileBefore};
use mcp_bash_runner::StateDir;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The longest file that a case gets a copy of, in bytes.
const LONGEST_COPY: u64 = 1024 * 1024 * 1024;

/// A folder that nobody else can look into, and that is gone with this value, or with this process if it is killed.
#[derive(Debug)]
pub(super) struct TemporaryFolder {
    path: PathBuf,
    /// Where it stands in no other.
    _outermost: Option<StateDir>,
}

impl TemporaryFolder {
    pub(super) fn new() -> io::Result<Self> {
        // Scripts are told the path without links in it, and so are those who compare what they say.
        let parent = std::env::temp_dir();
        let parent = parent.canonicalize().unwrap_or(parent);
        let outermost = StateDir::new(parent, false);
        Ok(Self { path: outermost.path()?, _outermost: Some(outermost) })
    }

    /// One that stands in another.
    pub(super) fn inside(other: &Self) -> io::Result<Self> {
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

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// The folders of one worker, which one case after another has to itself.
#[derive(Debug)]
pub(super) struct WorkerFolder {
    pub(super) home: PathBuf,
    /// `${dir}` of a case.
    pub(super) dir: PathBuf,
    /// What the server writes on standard error.
    pub(super) log: PathBuf,
}

impl WorkerFolder {
    pub(super) fn new(above: &Path, number: usize) -> io::Result<Self> {
        let own = above.join(number.to_string());
        fs::create_dir(&own)?;
        let folder = Self { home: own.join("home"), dir: own.join("dir"), log: own.join("log") };
        folder.empty()?;
        Ok(folder)
    }

    /// Makes both folders anew, whatever the case before did to them.
    pub(super) fn empty(&self) -> io::Result<()> {
        for folder in [&self.home, &self.dir] {
            remove(folder)?;
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        Ok(())
    }

    /// Writes the files that a case wants to find.
    pub(super) fn fill(
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

/// Removes a file or a folder with all in it, even where scripts took away the right to look into it.
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
