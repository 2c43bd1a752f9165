//! Archives in the tar format, which every host can unpack.

use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const BLOCK: usize = 512;

/// The longest name in a header.
const LONGEST_NAME: usize = 100;

/// The most that is carried, in bytes.
pub(crate) const LARGEST: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
}

/// What an entry is: the letter of its type.
#[derive(Clone, Copy)]
enum Kind {
    File = b'0' as isize,
    Link = b'2' as isize,
    Folder = b'5' as isize,
    /// The next entry has this name.
    LongName = b'L' as isize,
    /// The next entry is a link to this path.
    LongTarget = b'K' as isize,
}

impl Archive {
    /// Adds a file.
    pub(crate) fn file(&mut self, name: &[u8], mode: u32, content: &[u8]) -> io::Result<()> {
        if self.bytes.len() + content.len() > LARGEST {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.entry(name, Kind::File, mode, content, b"");
        Ok(())
    }

    pub(crate) fn folder(&mut self, name: &[u8]) {
        self.entry(name, Kind::Folder, 0o700, b"", b"");
    }

    /// Adds a file, a link or a folder with all that is in it. Sockets, pipes and devices are left out.
    pub(crate) fn all(&mut self, name: &[u8], path: &Path) -> io::Result<()> {
        let found = mcp_bash_files::look::link_metadata(path)?;
        if found.is_symlink() {
            let target = std::fs::read_link(path)?;
            self.entry(name, Kind::Link, 0o777, b"", target.as_os_str().as_bytes());
        } else if found.is_file() {
            let content = mcp_bash_files::read(path, LARGEST as u64)?;
            self.file(name, found.permissions().mode() & 0o777, &content)?;
        } else if found.is_dir() {
            self.folder(name);
            let mut inside = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
            inside.sort_by_key(std::fs::DirEntry::file_name);
            for entry in inside {
                self.all(&[name, b"/", entry.file_name().as_bytes()].concat(), &entry.path())?;
            }
        }
        Ok(())
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        self.bytes
    }

    fn entry(&mut self, name: &[u8], kind: Kind, mode: u32, content: &[u8], target: &[u8]) {
        for (long, kind) in [(name, Kind::LongName), (target, Kind::LongTarget)] {
            if long.len() > LONGEST_NAME {
                self.raw(b"././@LongLink", kind, 0o600, &[long, b"\0"].concat(), b"");
            }
        }
        self.raw(name, kind, mode, content, target);
    }

    fn raw(&mut self, name: &[u8], kind: Kind, mode: u32, content: &[u8], target: &[u8]) {
        let mut header = [0; BLOCK];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &name[..name.len().min(LONGEST_NAME)]);
        put(100, format!("{mode:07o}").as_bytes());
        put(108, b"0000000");
        put(116, b"0000000");
        put(124, format!("{:011o}", content.len()).as_bytes());
        put(136, b"00000000000");
        put(148, b"        ");
        put(156, &[kind as u8]);
        put(157, &target[..target.len().min(LONGEST_NAME)]);
        put(257, b"ustar  \0");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(BLOCK), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests use files of their own")]
    fn tar_unpacks_what_was_put_in() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let long = "n".repeat(180);
        std::fs::create_dir(from.path().join("folder")).unwrap();
        std::fs::write(from.path().join("folder").join(&long), "deep").unwrap();
        std::os::unix::fs::symlink(&long, from.path().join("folder/link")).unwrap();
        let mut archive = Archive::default();
        archive.file(b"script.sh", 0o755, b"#!/bin/sh\n").unwrap();
        archive.file(b"empty", 0o600, b"").unwrap();
        archive.all(b"all", from.path()).unwrap();
        let mut tar = Command::new("tar")
            .args(["-xof", "-", "-C"])
            .arg(to.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        tar.stdin.take().unwrap().write_all(&archive.finish()).unwrap();
        assert!(tar.wait().unwrap().success());
        assert_eq!(std::fs::read_to_string(to.path().join("all/folder/link")).unwrap(), "deep");
        assert_eq!(std::fs::read_to_string(to.path().join("empty")).unwrap(), "");
        let mode = std::fs::metadata(to.path().join("script.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o700, 0o700);
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        let mut archive = Archive::default();
        let half = vec![0; LARGEST / 2 + 1];
        archive.file(b"one", 0o600, &half).unwrap();
        assert_eq!(archive.file(b"two", 0o600, &half).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
