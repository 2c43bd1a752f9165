//! Roots: the folders from which files may be read.

use super::beneath::open_beneath;
use super::flags::OPEN_FOLDER;
use crate::error::FetchError;
use mcp_bash_uri::FileUri;
use rustix::fs::{CWD, FileType, Mode};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Reads regular files in these folders, and none elsewhere. Without folders it reads nothing.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    folders: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    pub modified: Option<SystemTime>,
}

impl Roots {
    /// Absolute paths of folders. Missing folders are skipped, and may exist later.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().collect() }
    }

    /// Reads the file that a `file:` URI names. `base` is the folder that `file://./…` is relative to.
    ///
    /// This blocks on the file system; in a runtime it belongs on a thread that may block.
    pub fn read_uri(&self, uri: &str, base: &Path, limit: u64) -> Result<FileContent, FetchError> {
        let uri = FileUri::parse(uri)?;
        // An absolute path replaces the base.
        self.read(&base.join(OsStr::from_bytes(uri.unix())), limit)
    }

    /// Reads a file by its absolute path.
    pub fn read(&self, path: &Path, limit: u64) -> Result<FileContent, FetchError> {
        if self.folders.is_empty() {
            return Err(FetchError::NoRoots);
        }
        let mut refusal = None;
        for folder in &self.folders {
            // A root may be known by another name than its own, as `/tmp` is on some systems.
            let own_name = folder.canonicalize().ok();
            let inside = path.strip_prefix(folder).ok();
            let Some(inside) = inside.or_else(|| path.strip_prefix(own_name?).ok()) else { continue };
            let Ok(root) = rustix::fs::openat(CWD, folder, OPEN_FOLDER, Mode::empty()) else { continue };
            let opened = open_beneath(&root, inside).map_err(|errno| in_words(path, errno));
            match opened.and_then(|file| content(path, file, limit)) {
                Ok(content) => return Ok(content),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or_else(|| FetchError::Outside(path.to_owned())))
    }
}

/// The content of an opened file, if it is a regular file. It was opened without waiting, so that a pipe could not
/// block us.
fn content(path: &Path, file: OwnedFd, limit: u64) -> Result<FileContent, FetchError> {
    let unreadable = |error: io::Error| FetchError::Unreadable { path: path.to_owned(), error };
    let status = rustix::fs::fstat(&file).map_err(|errno| unreadable(errno.into()))?;
    let kind = FileType::from_raw_mode(status.st_mode);
    if kind != FileType::RegularFile {
        return Err(FetchError::NotAFile { path: path.to_owned(), what: article(kind) });
    }
    let too_large = FetchError::TooLarge { limit, setting: "MCPBASH_MAX_RESOURCE_BYTES" };
    if u64::try_from(status.st_size).is_ok_and(|size| size > limit) {
        return Err(too_large);
    }
    let file = File::from(file);
    let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(too_large);
    }
    Ok(FileContent { bytes, modified })
}

fn in_words(path: &Path, errno: Errno) -> FetchError {
    let path = path.to_owned();
    match errno {
        // Leads out of the root, or through a link of the kernel's own, or through too many links.
        Errno::XDEV | Errno::LOOP => FetchError::Outside(path),
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL => FetchError::Missing(path),
        // The error of sockets, and of missing devices.
        Errno::NXIO | Errno::NODEV => FetchError::NotAFile { path, what: "a socket or a device" },
        errno => FetchError::Unreadable { path, error: errno.into() },
    }
}

fn article(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a folder",
        FileType::Fifo => "a named pipe",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    }
}
