//! Unnamed files: a file gets its name when it is complete. If its writer fails or is killed, nothing is left of it.

use crate::{Replacement, rename_to_nothing};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Writes a new file. With `may_replace` it takes the place of an existing one, otherwise that is an error.
pub fn write_new(
    path: &Path,
    mode: u32,
    may_replace: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    if !may_replace && path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.new", std::process::id()));
    let draft = PathBuf::from(draft);
    let Some(file) = unnamed(path, mode) else {
        let mut replacement = Replacement::create(draft.clone(), path.to_owned(), mode)?;
        write(&mut replacement.file)?;
        return if may_replace { replacement.publish() } else { rename_to_nothing(&draft, path) };
    };
    let mut file = file?;
    write(&mut file)?;
    if !may_replace {
        return link(&file, path);
    }
    link(&file, &draft)?;
    let renamed = fs::rename(&draft, path);
    if renamed.is_err() {
        let _ = fs::remove_file(&draft);
    }
    renamed
}

/// A file without a name in the folder of `path`; `None` if the system or the file system has none.
#[cfg(target_os = "linux")]
fn unnamed(path: &Path, mode: u32) -> Option<io::Result<File>> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::Errno;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(folder, flags, Mode::from_raw_mode(mode)) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => None,
        opened => Some(opened.map(File::from).map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_path: &Path, _mode: u32) -> Option<io::Result<File>> {
    None
}

/// Gives an unnamed file its name, which must be unused.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open_file = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open_file, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_complete_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let names = || folder.path().read_dir().unwrap().count();
        let failed = write_new(&path, 0o600, false, |file| {
            file.write_all(b"half")?;
            assert!(!path.exists());
            Err(io::Error::other("full"))
        });
        assert_eq!((failed.unwrap_err().to_string().as_str(), names()), ("full", 0));
        write_new(&path, 0o700, false, |file| file.write_all(b"one")).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let refused = write_new(&path, 0o600, false, |_| panic!("it is not even tried"));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        write_new(&path, 0o600, true, |file| file.write_all(b"two")).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names()), (b"two".to_vec(), 1));
    }
}
