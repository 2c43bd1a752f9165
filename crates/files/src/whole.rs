//! Atomic writes: a file that the user names is written completely or not at all, wherever a link leads. A device or a
//! named pipe is written to and stays what it is.

use crate::Replacement;
use crate::make::opened;
use rustix::fs::OFlags;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Writes a file so that no reader sees half of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(known) if !known.is_file() => return write_to_special(path, bytes),
        Ok(_) => path.canonicalize()?,
        // A link to a file that does not exist yet: writing creates it.
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            let made = opened(OpenOptions::new().write(true).create(true), OFlags::empty(), 0o666, path);
            return made?.write_all(bytes);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let mut draft = target.as_os_str().to_owned();
    draft.push(format!(".{}.new", std::process::id()));
    let mut draft = Replacement::create(draft.into(), target, 0o666)?;
    draft.write(bytes)?;
    draft.publish()
}

/// Writes to a device or a named pipe that the user names, such as `/dev/stderr` or a shell's `>(wc)`. Like every
/// program that is given a pipe, it waits for a reader.
#[expect(clippy::disallowed_methods, reason = "waits for the reader of a pipe on purpose")]
fn write_to_special(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::os::unix::fs::{FileTypeExt, symlink};

    #[test]
    fn links_are_followed_and_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        symlink("real", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        write_whole(&link, b"newer").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "newer");
        assert!(link.is_symlink() && !real.is_symlink());
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    fn a_pipe_is_written_to_and_a_missing_folder_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_whole(&pipe, b"text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert!(pipe.metadata().unwrap().file_type().is_fifo());
        let missing = write_whole(&folder.path().join("none/file"), b"text");
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
        assert!(write_whole(folder.path(), b"text").is_err(), "a folder");
    }
}
