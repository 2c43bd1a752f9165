//! File creation: files that we create, append to or copy in folders that others can write to. A link or a named pipe
//! that another process puts in their place is refused and never opened for writing.

use crate::{HARMLESS, open, require_regular, shortage, too_large};
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Creates a new file to write to. Anything that exists at the path, even a link, is an error.
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    opened(OpenOptions::new().write(true).create_new(true), OFlags::empty(), mode, path)
}

/// Opens a regular file to append to it, following links. A new file is readable and writable by its owner alone.
pub fn append(path: &Path) -> io::Result<File> {
    opened(OpenOptions::new().append(true).create(true), OFlags::empty(), 0o600, path)
}

/// The same, and it can be read too.
pub fn append_and_read(path: &Path) -> io::Result<File> {
    opened(OpenOptions::new().read(true).append(true).create(true), OFlags::empty(), 0o600, path)
}

/// Truncates an existing regular file, to write it again. A link in its place is refused.
pub fn truncate(path: &Path) -> io::Result<File> {
    let file = opened(OpenOptions::new().write(true), OFlags::NOFOLLOW, 0, path)?;
    // Only now that it is known to be a regular file.
    file.set_len(0)?;
    Ok(file)
}

/// Copies a regular file of at most `limit` bytes to an unused name, with its mode.
pub fn copy(from: &Path, to: &Path, limit: u64) -> io::Result<()> {
    let source = open(from)?;
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let copied = io::copy(&mut source.take(limit.saturating_add(1)), &mut create_new(to, mode)?)?;
    if copied > limit { Err(too_large(limit)) } else { Ok(()) }
}

/// Opens a folder, to lock it or to hold it open.
pub fn open_folder(path: &Path) -> io::Result<File> {
    rustix::fs::open(path, HARMLESS | OFlags::DIRECTORY | OFlags::RDONLY, rustix::fs::Mode::empty())
        .map(File::from)
        .map_err(io::Error::from)
}

/// Renames to an unused name. An existing file of that name is an error.
pub fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can guarantee it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if to.symlink_metadata().is_err() => {
            std::fs::rename(from, to)
        }
        renamed => Ok(renamed?),
    }
}

/// Exchanges the names of two files, in one step. `Unsupported` if the file system cannot.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(io::ErrorKind::Unsupported.into()),
        exchanged => Ok(exchanged?),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where files are opened for writing")]
pub(crate) fn opened(options: &mut OpenOptions, flags: OFlags, mode: u32, path: &Path) -> io::Result<File> {
    let flags = (HARMLESS | flags).bits().cast_signed();
    let file = options.mode(mode).custom_flags(flags).open(path).map_err(shortage::noted)?;
    require_regular(&file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::io::{Seek, Write};
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_that_is_there_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        create_new(&path("new"), 0o640).unwrap().write_all(b"1").unwrap();
        assert_eq!(path("new").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        symlink("nowhere", path("link")).unwrap();
        mkfifoat(CWD, path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["new", "link", "pipe"] {
            let refused = create_new(&path(name), 0o600).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists, "{name}");
        }
        assert!(!path("nowhere").exists());
    }

    #[test]
    fn only_a_regular_file_is_written_to_or_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        append(&path("log")).unwrap().write_all(b"12").unwrap();
        append(&path("log")).unwrap().write_all(b"345").unwrap();
        copy(&path("log"), &path("copy"), 5).unwrap();
        assert_eq!(std::fs::read(path("copy")).unwrap(), b"12345");
        let mut both = append_and_read(&path("copy")).unwrap();
        both.write_all(b"6").unwrap();
        both.rewind().unwrap();
        assert_eq!(io::read_to_string(both).unwrap(), "123456");
        std::fs::remove_file(path("copy")).unwrap();
        copy(&path("log"), &path("copy"), 5).unwrap();
        assert_eq!(path("copy").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(copy(&path("log"), &path("short"), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        truncate(&path("log")).unwrap().write_all(b"6").unwrap();
        assert_eq!(std::fs::read(path("log")).unwrap(), b"6");
        symlink(path("log"), path("link")).unwrap();
        assert!(truncate(&path("link")).is_err());
        // A pipe with a reader can be opened, and is refused all the same.
        mkfifoat(CWD, path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let unread = [append(&path("pipe")).is_err(), truncate(&path("pipe")).is_err()];
        let _reader =
            rustix::fs::open(path("pipe"), OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        let read = [append(&path("pipe")).is_err(), truncate(&path("pipe")).is_err()];
        assert_eq!((unread, read), ([true; 2], [true; 2]));
        for odd in [path("pipe"), folder.path().to_owned(), "/dev/zero".into()] {
            assert!(copy(&odd, &path("odd"), 5).is_err(), "{}", odd.display());
        }
        assert!(!path("odd").exists());
        assert!(open_folder(&path("pipe")).is_err() && open_folder(folder.path()).is_ok());
    }
}
