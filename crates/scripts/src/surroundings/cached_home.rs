//! Cached SDK, in the user's cache: for scripts that are run by hand, and for commands that exit after one call, which would
//! spend most of their time on writing and removing the files.
//!
//! Scripts source these files, so they are used only if no other user can write them or control their path, and if the files
//! for shells are intact. They are written to a new folder, which is then renamed, so that no process finds a partial copy. The
//! name of the folder depends on the content, so that different versions of the program do not replace each other's files.

use crate::surroundings::sdk_files::{DIGEST, HomeFile, home_files, language_files};
use mcp_bash_project::trust::{self, Distrust};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub enum CacheError {
    #[error("there is no place for the SDK: set HOME or XDG_CACHE_HOME")]
    NoPlace,
    #[error("failed to write the SDK to {}: {source}", folder.display())]
    Unwritten { folder: PathBuf, source: io::Error },
    #[error("the SDK in {} is not used: {source}", folder.display())]
    Distrusted { folder: PathBuf, source: Distrust },
}

/// The folder that holds `sdk/`, complete and trusted.
pub fn cached_home() -> Result<PathBuf, CacheError> {
    home(is_usable)
}

/// The same, and also checks the length of each file for Python and Node.js. There are many, so callers that only need the path
/// do not use this.
pub(crate) fn cached_home_for_languages() -> Result<PathBuf, CacheError> {
    home(|folder| is_usable(folder) && language_files().all(|file| is_as_long(folder, &file)))
}

fn home(is_usable: impl Fn(&Path) -> bool) -> Result<PathBuf, CacheError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let name = format!("sdk-{}-{DIGEST}", env!("CARGO_PKG_VERSION"));
    // A server that this program runs in a test has an empty home. The variable leads it to the files.
    let told = absolute("MCPBASH_HOME").filter(|home| home.ends_with(&name) && is_usable(home));
    if let Some(told) = told {
        return Ok(told);
    }
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or(CacheError::NoPlace)?.join("mcp-bash");
    let folder = cache.join(name);
    if is_usable(&folder) {
        return Ok(folder);
    }
    let unwritten = |source| CacheError::Unwritten { folder: folder.clone(), source };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&cache).map_err(unwritten)?;
    // The folder is checked before anything is written to it: another user may control it.
    let distrusted = |source| CacheError::Distrusted { folder: folder.clone(), source };
    trust::judge_lone_folder(&cache).map_err(distrusted)?;
    write(&cache, &folder, is_usable).map_err(unwritten)?;
    Ok(folder)
}

/// The jq in a cached home: a symlink to this program, which acts as jq under that name. Each path of a program has its own.
pub(crate) fn cached_jq(home: &Path, program: &Path) -> io::Result<PathBuf> {
    let mut place = DefaultHasher::new();
    program.hash(&mut place);
    let folder = home.join(format!("jq-{:016x}", place.finish()));
    let jq = folder.join("jq");
    if fs::read_link(&jq).is_ok_and(|target| target == program) {
        return Ok(jq);
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let fresh = folder.join(format!(".new-{}", std::process::id()));
    symlink(program, &fresh)?;
    fs::rename(&fresh, &jq)?;
    Ok(jq)
}

fn is_usable(folder: &Path) -> bool {
    // Its mode keeps other users out, so none of them can write a file in it, whatever the file's mode, nor the bytecode that
    // Python keeps beside it.
    let is_closed = |folder: fs::Metadata| folder.is_dir() && folder.permissions().mode() & 0o777 == 0o700;
    fs::symlink_metadata(folder).is_ok_and(is_closed)
        && trust::judge_lone_folder(folder).is_ok()
        && home_files().all(|file| is_intact(folder, &file))
}

/// Whether a file exists in its full length.
fn is_as_long(folder: &Path, file: &HomeFile) -> bool {
    let is_whole = |found: fs::Metadata| found.is_file() && found.len() == file.length() as u64;
    fs::metadata(folder.join(&*file.name)).is_ok_and(is_whole)
}

pub(crate) fn is_intact(folder: &Path, file: &HomeFile) -> bool {
    let path = folder.join(&*file.name);
    let may_run = || fs::metadata(&path).is_ok_and(|file| file.permissions().mode() & 0o100 != 0);
    holds(&path, file.text()).unwrap_or(false) && (!file.is_program || may_run())
}

/// Whether a file holds exactly this text, checked with one read.
fn holds(path: &Path, text: &[u8]) -> io::Result<bool> {
    let mut found = vec![0; text.len() + 1];
    let count = mcp_bash_files::open(path)?.read(&mut found)?;
    Ok(&found[..count] == text)
}

/// Writes the files to a new folder, which then replaces the old one.
fn write(cache: &Path, folder: &Path, is_usable: impl Fn(&Path) -> bool) -> io::Result<()> {
    // Containers that share a home may have processes with the same id.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let own = |what: &str| cache.join(format!("{what}-{}-{now}", std::process::id()));
    let (fresh, old) = (own("new"), own("old"));
    fs::DirBuilder::new().mode(0o700).create(&fresh)?;
    let written = write_files(&fresh, home_files().chain(language_files())).and_then(|()| {
        // A usable folder that another process has made meanwhile stays: its scripts may be reading it.
        if folder.symlink_metadata().is_ok() && !is_usable(folder) {
            fs::rename(folder, &old)?;
        }
        fs::rename(&fresh, folder)
    });
    // At most one of these exists; a leftover does no harm.
    let _ = fs::remove_dir_all(&fresh);
    let _ = fs::remove_dir_all(&old);
    // Another process may have been faster.
    if is_usable(folder) { Ok(()) } else { written }
}

/// Writes files into an existing folder.
pub(crate) fn write_files(folder: &Path, files: impl Iterator<Item = HomeFile>) -> io::Result<()> {
    let mut last_folder = None;
    for file in files {
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let path = folder.join(&*file.name);
        // Files of one folder are adjacent.
        let parent = path.parent().map(Path::to_owned);
        if parent != last_folder {
            fs::create_dir_all(parent.as_deref().unwrap_or(folder))?;
            last_folder = parent;
        }
        mcp_bash_files::create_new(&path, mode)?.write_all(file.text())?;
    }
    Ok(())
}
