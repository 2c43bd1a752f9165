//! Guarded files: tokens, certificates and keys, which only trusted users may be able to write. They are read again when they
//! change.

use mcp_bash_files::look;
use mcp_bash_files::shortage::is_shortage;
use rustix::fs::{FileType, StatVfsMountFlags, fstat};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Size limit of a guarded file.
const MOST_BYTES: u64 = 1024 * 1024;

/// The shortest interval between checks for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Reports a problem to the operator while the server runs.
pub(crate) type Report = Box<dyn Fn(String) + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum GuardedFileError {
    #[error("`{}` cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(
        "`{}` can be read by everybody or written by others (its mode is {mode:04o}); run `chmod 600 {}`",
        path.display(), path.display()
    )]
    TooOpen { path: PathBuf, mode: u32 },
    #[error(
        "`{}` can be written by others (its mode is {mode:04o}); run `chmod go-w {}`",
        path.display(), path.display()
    )]
    Writable { path: PathBuf, mode: u32 },
    #[error(
        "`{}` belongs to another user ({owner}), who could change it; it has to belong to the one that runs the server, or to root",
        path.display()
    )]
    OfAnother { path: PathBuf, owner: u32 },
    #[error(
        "`{}` could be replaced by others, who can write its folder `{}`; run `chmod go-w {}`, and `chown` if the folder belongs to \
         another user", path.display(), folder.display(), folder.display()
    )]
    Replaceable { path: PathBuf, folder: PathBuf },
}

impl GuardedFileError {
    /// Whether the system lacked a resource, so that a later attempt may succeed.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Self::Unreadable { error, .. } if is_shortage(error))
    }
}

/// Reads a public file, without a check of its permissions.
pub(crate) fn read_public(path: &Path) -> Result<Vec<u8>, GuardedFileError> {
    mcp_bash_files::read(path, MOST_BYTES)
        .map_err(|error| GuardedFileError::Unreadable { path: path.to_owned(), error })
}

/// Reads a file that everyone may read and only its owner may write: the user that runs the server, or root. No other user may
/// be able to replace it, for example with an older file of the owner.
pub(crate) fn read_trusted(path: &Path) -> Result<Vec<u8>, GuardedFileError> {
    let failed = |error| GuardedFileError::Unreadable { path: path.to_owned(), error };
    let target = look::canonical(path).map_err(failed)?;
    for place in [path, &target] {
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if is_open_to_others(folder).map_err(failed)? {
            return Err(GuardedFileError::Replaceable { path: path.to_owned(), folder: folder.to_owned() });
        }
    }
    read_checked(path, 0o022, |path, mode| GuardedFileError::Writable { path, mode })
}

/// Whether other users can replace files in a folder. In a sticky folder they can replace only their own. A folder that is
/// mounted read-only, like a volume of a container, may have any mode.
fn is_open_to_others(folder: &Path) -> io::Result<bool> {
    let found = look::metadata(folder)?;
    let is_foreign = found.uid() != 0 && found.uid() != rustix::process::geteuid().as_raw();
    let is_writable = found.mode() & 0o022 != 0 && found.mode() & 0o1000 == 0;
    if !is_foreign && !is_writable {
        return Ok(false);
    }
    Ok(!rustix::fs::statvfs(folder)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Reads a secret: only its owner may write it, and other users outside its group cannot read it: 0600, 0400, 0640 or 0440. Its
/// owner is the user that runs the server, or root. Symbolic links are followed and their target is checked, because secrets
/// are mounted into containers as links.
pub(crate) fn read_secret(path: &Path) -> Result<Vec<u8>, GuardedFileError> {
    read_checked(path, 0o027, |path, mode| GuardedFileError::TooOpen { path, mode })
}

/// Reads a file, if its owner is trusted and its mode has none of the `forbidden` bits.
fn read_checked(
    path: &Path,
    forbidden: u32,
    too_open: fn(PathBuf, u32) -> GuardedFileError,
) -> Result<Vec<u8>, GuardedFileError> {
    let failed = |error| GuardedFileError::Unreadable { path: path.to_owned(), error };
    let file: File = mcp_bash_files::open(path).map_err(failed)?;
    // The open file is checked, so that it cannot be replaced between check and read.
    let found = fstat(&file).map_err(|error| failed(error.into()))?;
    debug_assert_eq!(FileType::from_raw_mode(found.st_mode), FileType::RegularFile);
    let own = rustix::process::geteuid().as_raw();
    if found.st_uid != own && found.st_uid != 0 {
        return Err(GuardedFileError::OfAnother { path: path.to_owned(), owner: found.st_uid });
    }
    #[allow(clippy::useless_conversion, reason = "modes have 16 bits on some systems")]
    let mode = u32::from(found.st_mode) & 0o7777;
    if mode & forbidden != 0 {
        return Err(too_open(path.to_owned(), mode));
    }
    mcp_bash_files::read_all(&file, MOST_BYTES).map_err(failed)
}

/// The metadata of a file that tell whether it has changed. `None` if they cannot be read.
type Stamp = Option<(u64, u64, u64, i64, i64, i64, i64, u32)>;

fn stamp(path: &Path) -> Stamp {
    let file = fs::metadata(path).ok()?;
    // Includes the change time (ctime), which reveals changes of the mode and cannot be set back.
    Some((
        file.dev(),
        file.ino(),
        file.len(),
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec(),
        file.mode(),
    ))
}

/// Detects changes of files, and checks them at most once a second.
#[derive(Debug)]
pub(crate) struct Changes {
    paths: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    checked_at: Instant,
}

impl Changes {
    /// Must be created before the files are read, so that no change is missed.
    pub(crate) fn of(paths: &[&Path]) -> Self {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
        let stamps = paths.iter().map(|path| stamp(path)).collect();
        Self { paths, stamps, checked_at: Instant::now() }
    }

    /// Reports a change at the next check, because the files could not be read this time.
    pub(crate) fn invalidate(&mut self) {
        self.stamps.clear();
    }

    /// Whether a file has changed since the last check that found a change.
    pub(crate) fn detected(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.checked_at) < CHECK_INTERVAL {
            return false;
        }
        self.checked_at = now;
        let stamps: Vec<Stamp> = self.paths.iter().map(|path| stamp(path)).collect();
        let changed = stamps != self.stamps;
        self.stamps = stamps;
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn secret(folder: &Path, mode: u32) -> PathBuf {
        let path = folder.join(format!("{mode:o}"));
        fs::write(&path, "secret").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn secrets_are_read_where_strangers_cannot_read_or_write_them() {
        let folder = tempfile::tempdir().unwrap();
        for mode in [0o600, 0o640, 0o440, 0o700] {
            assert_eq!(read_secret(&secret(folder.path(), mode)).unwrap(), b"secret", "{mode:o}");
        }
        for mode in [0o644, 0o660, 0o604, 0o602, 0o620, 0o666, 0o777] {
            let refused = read_secret(&secret(folder.path(), mode)).unwrap_err();
            assert!(matches!(refused, GuardedFileError::TooOpen { mode: at, .. } if at == mode), "{refused}");
            assert!(refused.to_string().contains("chmod 600"), "{refused}");
        }
    }

    #[test]
    fn links_are_followed_and_their_targets_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let (good, open) = (secret(folder.path(), 0o600), secret(folder.path(), 0o644));
        let [to_good, to_open, to_nothing, to_device] =
            ["good", "open", "nothing", "device"].map(|name| folder.path().join(name));
        symlink(good, &to_good).unwrap();
        symlink(open, &to_open).unwrap();
        symlink("missing", &to_nothing).unwrap();
        symlink("/dev/zero", &to_device).unwrap();
        assert_eq!(read_secret(&to_good).unwrap(), b"secret");
        assert!(matches!(read_secret(&to_open), Err(GuardedFileError::TooOpen { .. })));
        for path in [&to_nothing, &to_device, &folder.path().to_owned()] {
            assert!(matches!(read_secret(path), Err(GuardedFileError::Unreadable { .. })), "{path:?}");
        }
    }

    #[test]
    fn a_file_that_others_could_replace_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = secret(folder.path(), 0o600);
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("link");
        symlink(&file, &link).unwrap();
        let set_mode = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o700, 0o755, 0o1777] {
            set_mode(mode);
            assert!(read_trusted(&file).is_ok() && read_trusted(&link).is_ok(), "{mode:o}");
        }
        for mode in [0o770, 0o707, 0o777] {
            set_mode(mode);
            for path in [&file, &link] {
                let refused = read_trusted(path).unwrap_err();
                assert!(matches!(refused, GuardedFileError::Replaceable { .. }), "{mode:o}: {refused}");
            }
        }
    }

    #[test]
    fn a_file_is_looked_at_once_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let path = secret(folder.path(), 0o600);
        let (mut changes, start) = (Changes::of(&[&path]), Instant::now());
        fs::write(&path, "longer than before").unwrap();
        assert!(!changes.detected(start));
        assert!(changes.detected(start + Duration::from_secs(2)));
        assert!(!changes.detected(start + Duration::from_secs(4)));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(changes.detected(start + Duration::from_secs(6)));
        fs::remove_file(&path).unwrap();
        assert!(changes.detected(start + Duration::from_secs(8)));
    }
}
