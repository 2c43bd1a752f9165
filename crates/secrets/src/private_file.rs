//! Private files: files that hold a secret, and that nobody else can read.

use crate::error::FileFault;
use crate::secret::LONGEST;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Who takes care that only the right processes can read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Its own mode: only its owner may read it, and it is no link.
    Mode,
    /// Its folder, which systemd or a container runtime made for this process. They choose modes and links themselves.
    Folder,
}

/// The bytes of the file, if it is guarded.
pub(crate) fn read(path: &Path, guard: Guard) -> Result<Vec<u8>, FileFault> {
    read_up_to(path, guard, LONGEST as u64 + 2)
}

/// The same for a file of another size.
pub(crate) fn read_up_to(path: &Path, guard: Guard, limit: u64) -> Result<Vec<u8>, FileFault> {
    let opened = match guard {
        Guard::Mode => mcp_bash_files::open_no_link(path),
        Guard::Folder => mcp_bash_files::open(path),
    };
    let file = opened.map_err(|error| fault(path, error))?;
    judge(&file, guard)?;
    mcp_bash_files::read_all(&file, limit).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => FileFault::TooLarge(limit),
        _ => FileFault::Io(error),
    })
}

/// Judged by the open file, which nothing can replace any more.
fn judge(file: &File, guard: Guard) -> Result<(), FileFault> {
    let metadata = file.metadata().map_err(FileFault::Io)?;
    let ours = rustix::process::geteuid().as_raw();
    if metadata.uid() != ours && metadata.uid() != 0 {
        return Err(FileFault::Owner(metadata.uid()));
    }
    let mode = metadata.mode() & 0o777;
    if guard == Guard::Mode && mode & 0o077 != 0 {
        return Err(FileFault::Others { mode });
    }
    Ok(())
}

fn fault(path: &Path, error: io::Error) -> FileFault {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => FileFault::Link,
        Ok(found) if !found.is_file() => FileFault::NotRegular,
        _ if error.kind() == ErrorKind::NotFound => FileFault::Missing,
        _ => FileFault::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn only_files_that_nobody_else_can_read_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, mode: u32| {
            fs::write(at(name), "12345678\n").unwrap();
            fs::set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
        };
        let strict = |name: &str| read(&at(name), Guard::Mode);
        for (name, mode) in [("own", 0o600), ("read-only", 0o400)] {
            write(name, mode);
            assert_eq!(strict(name).unwrap(), b"12345678\n");
        }
        for (name, mode) in [("group", 0o640), ("world", 0o604), ("writable", 0o620)] {
            write(name, mode);
            assert!(
                matches!(strict(name), Err(FileFault::Others { mode: found }) if found == mode),
                "{name}"
            );
            assert!(read(&at(name), Guard::Folder).is_ok());
        }
        symlink("own", at("link")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("large"), vec![b'x'; LONGEST + 3]).unwrap();
        fs::set_permissions(at("large"), Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(strict("link"), Err(FileFault::Link)));
        assert!(matches!(strict("pipe"), Err(FileFault::NotRegular)));
        assert!(matches!(strict("folder"), Err(FileFault::NotRegular)));
        assert!(matches!(strict("large"), Err(FileFault::TooLarge(_))));
        assert!(matches!(strict("none"), Err(FileFault::Missing)));
        assert!(read(&at("link"), Guard::Folder).is_ok(), "container runtimes use links");
    }
}
