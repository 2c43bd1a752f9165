//! Untrusted files, which a script or the author of a project may have put in place: opened so that nothing blocks, and
//! read so that nothing grows.
//!
//! A process that can write to a folder can put anything there under the name of a file that we look for: a named pipe,
//! on which a plain `open` waits for a writer for ever; a link to a device without an end; a file that never stops
//! growing. Here only a regular file is ever read, and never more of it than the caller allows. The lints of the
//! workspace (`clippy.toml`) refuse every other way to open a file.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests use files of their own"))]

pub mod look;
mod make;
mod replacement;
pub mod shortage;
mod unnamed;
mod whole;

pub use make::{
    append, append_and_read, copy, create_new, exchange, open_folder, rename_to_nothing, truncate,
};
pub use replacement::Replacement;
pub use unnamed::write_new;
pub use whole::write_whole;

use rustix::fs::{FileType, OFlags, fstat};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file for reading, following links. Never blocks, whatever is at the path.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::empty())
}

/// Opens a regular file for reading. The system refuses a link in its place, with its own error.
pub fn open_no_link(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::NOFOLLOW)
}

/// The bytes of a regular file that has at most `limit` of them.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(&open(path)?, limit)
}

/// The text of a regular file that has at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    read_all_text(&open(path)?, limit)
}

/// The rest of an open file, which has at most `limit` bytes of it.
pub fn read_all(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let most = limit.saturating_add(1);
    // Read at once, unless it grows meanwhile: the last byte of the buffer stays free, which shows that this was the
    // end.
    let size = u64::try_from(fstat(file)?.st_size).unwrap_or(0);
    let room = usize::try_from(size.saturating_add(1).min(most)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(room);
    let count = file.take(most).read_to_end(&mut bytes).map_err(shortage::noted)?;
    if count as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// The last bytes of a regular file, at most `most`. A link in its place is refused.
pub fn read_end(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = open_no_link(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end)?;
    Ok(end)
}

/// The error of a file that exceeds its limit.
pub fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
}

/// The same as text.
pub fn read_all_text(file: &File, limit: u64) -> io::Result<String> {
    String::from_utf8(read_all(file, limit)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Refuses an open file that is not a regular one: a directory, a pipe, a socket or a device.
pub fn require_regular(file: &File) -> io::Result<()> {
    require_regular_type(FileType::from_raw_mode(fstat(file)?.st_mode))
}

/// The same for a file whose type is known already.
pub fn require_regular_type(kind: FileType) -> io::Result<()> {
    let kind = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a directory",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}, not a file")))
}

/// The flags that make opening a pipe or a terminal free of side effects.
pub const HARMLESS: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

#[expect(clippy::disallowed_methods, reason = "this is where files are opened for reading")]
fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = (HARMLESS | flags).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(shortage::noted)?;
    require_regular(&file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::os::unix::fs::symlink;

    #[test]
    fn a_regular_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read_text(&path, 9).unwrap(), "12345");
        assert_eq!(
            (read_end(&path, 2).unwrap(), read_end(&path, 9).unwrap()),
            (b"45".into(), b"12345".into())
        );
        assert_eq!(read(&path, 4).unwrap_err().to_string(), "it has more than 4 bytes");
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path, 9).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn special_files_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        symlink("/dev/zero", &link).unwrap();
        let said = |path: &Path| read(path, 9).unwrap_err().to_string();
        assert_eq!(said(&pipe), "it is a named pipe, not a file");
        assert_eq!(said(&link), "it is a device, not a file");
        assert_eq!(said(folder.path()), "it is a directory, not a file");
        assert_eq!(read(&folder.path().join("none"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(
            open_no_link(&link).unwrap_err().raw_os_error(),
            Some(rustix::io::Errno::LOOP.raw_os_error())
        );
    }
}
