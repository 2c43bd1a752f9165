//! How we come to know that a resource has changed.

use crate::resources::find;
use crate::server::Server;
use mcp_bash_project::{Folders, provider_script};
use mcp_bash_uri::FileUri;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) enum Source {
    /// The file system tells us.
    File(WatchedFile),
    /// It cannot change.
    Fixed,
    /// Nobody tells us, so that it has to be read again and again.
    Other,
}

impl Source {
    pub(super) fn of(server: &Server, uri: &str) -> Self {
        let snapshot = server.snapshot();
        let paths = &snapshot.catalog.paths;
        let Some(found) = find(&snapshot, uri) else { return Self::Fixed };
        if provider_script(paths, &found.provider).is_some() {
            return Self::Other;
        }
        match (&*found.provider, FileUri::parse(uri)) {
            ("echo", _) => Self::Fixed,
            ("file", Ok(file)) => {
                Self::File(WatchedFile::new(paths.root.join(OsStr::from_bytes(file.unix()))))
            }
            _ => Self::Other,
        }
    }
}

/// A file, and the folders whose events tell of its changes.
#[derive(Debug)]
pub(super) struct WatchedFile {
    path: PathBuf,
    /// The folder of its name, and the one of the file itself where that is a link; and whether they are followed.
    folders: Vec<(PathBuf, bool)>,
    /// What it looked like when it was last read.
    pub(super) looks: Option<Looks>,
}

/// What a file looks like from outside: when it changed, its size, and which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Looks([i64; 4], [u64; 3]);

impl Looks {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        Some(Self(
            [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()],
            [file.size(), file.ino(), file.dev()],
        ))
    }
}

impl WatchedFile {
    fn new(path: PathBuf) -> Self {
        let mut folders: Vec<_> = path.parent().map(Path::to_owned).into_iter().collect();
        if let Some(real) = path.canonicalize().ok().and_then(|real| Some(real.parent()?.to_owned()))
            && !folders.contains(&real)
        {
            folders.push(real);
        }
        let folders = folders.into_iter().map(|folder| (folder, false)).collect();
        Self { path, folders, looks: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn stands_in(&self, is_changed: impl Fn(&PathBuf) -> bool) -> bool {
        self.folders.iter().any(|(folder, _)| is_changed(folder))
    }

    pub(super) fn looks_different(&self) -> bool {
        Looks::of(&self.path) != self.looks
    }

    /// Follows what is not followed yet. False where some folder cannot be.
    pub(super) fn follow(&mut self, by: Option<&Folders>) -> bool {
        let Some(by) = by else { return false };
        for (folder, is_followed) in &mut self.folders {
            *is_followed = *is_followed || by.follow(folder);
        }
        self.folders.iter().all(|(_, is_followed)| *is_followed)
    }

    /// Knows that these folders are not followed any more.
    pub(super) fn lose(&mut self, lost: impl Fn(&PathBuf) -> bool) {
        for (folder, is_followed) in &mut self.folders {
            *is_followed = *is_followed && !lost(folder);
        }
    }

    pub(super) fn leave(&self, by: &Folders) {
        for (folder, _) in self.folders.iter().filter(|(_, is_followed)| *is_followed) {
            by.leave(folder);
        }
    }
}
