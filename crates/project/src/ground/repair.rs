//! Automatic fixes that change no meaning: permission bits of a file, line ends that prevent a script from starting. Each
//! step is announced before it is made. Symlinks are not followed, and nothing outside the project is changed.

use crate::ground::interpreters::{SHELLS, interpreter_name};
use rustix::fs::{Mode, OFlags};
use std::fmt;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// A longer script is not rewritten.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The steps that fix one problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair(Vec<Step>);

/// One change of one file or folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub path: PathBuf,
    change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Change {
    RemoveMark,
    LineEnds,
    TakeWritingAway,
    MakeExecutable,
}

impl Repair {
    pub(crate) fn executable(path: PathBuf) -> Self {
        Self(vec![Step { path, change: Change::MakeExecutable }])
    }

    pub(crate) fn not_writable(paths: Vec<PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| Step { path, change: Change::TakeWritingAway }).collect())
    }

    pub(crate) fn line_ends(path: &Path) -> Self {
        Self(vec![Step { path: path.to_owned(), change: Change::LineEnds }])
    }

    pub(crate) fn without_mark(path: &Path) -> Self {
        Self(vec![Step { path: path.to_owned(), change: Change::RemoveMark }])
    }

    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

/// The action of the step, to follow the path.
impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.change {
            Change::RemoveMark => "remove the byte-order mark before its `#!`",
            Change::LineEnds => "end its lines with LF instead of CRLF",
            Change::TakeWritingAway => "let only its owner write it (chmod go-w)",
            Change::MakeExecutable => "make it executable (chmod +x)",
        })
    }
}

impl Step {
    /// The action that was taken, to follow "fixed: ".
    pub fn done(&self) -> &'static str {
        match self.change {
            Change::RemoveMark => "removed the byte-order mark",
            Change::LineEnds => "ended its lines with LF",
            Change::TakeWritingAway => "only its owner may write it",
            Change::MakeExecutable => "made executable",
        }
    }

    /// The reason why the step cannot be made, if it cannot; only the file itself can tell.
    pub fn obstacle(&self, root: &Path) -> Option<String> {
        let possible = self.open(root).and_then(|opened| match self.change {
            Change::LineEnds | Change::RemoveMark => self.repaired_text(opened).map(drop),
            Change::TakeWritingAway | Change::MakeExecutable => Ok(()),
        });
        possible.err().map(|obstacle| obstacle.to_string())
    }

    /// Makes the step in the project at `root`. The error is what is shown of the obstacle.
    pub fn apply(&self, root: &Path) -> Result<(), String> {
        self.made(root).map_err(|obstacle| obstacle.to_string())
    }

    fn made(&self, root: &Path) -> io::Result<()> {
        let opened = self.open(root)?;
        match self.change {
            Change::MakeExecutable => change_mode(&opened, |mode| mode | (mode >> 2 & 0o111))?,
            Change::TakeWritingAway => change_mode(&opened, |mode| mode & !0o022)?,
            Change::LineEnds | Change::RemoveMark => {
                let before = opened.metadata()?;
                replace(&self.path, &self.repaired_text(opened)?, &before)?;
            }
        }
        Ok(())
    }

    /// Opens the file or folder itself, if it is ours to change.
    fn open(&self, root: &Path) -> io::Result<File> {
        let parent = self.path.parent().unwrap_or(&self.path);
        let is_root = self.path == root;
        let is_inside = || {
            let (parent, root) = (parent.canonicalize().ok()?, root.canonicalize().ok()?);
            Some(parent.starts_with(root))
        };
        if !is_root && is_inside() != Some(true) {
            return Err(io::Error::other("it is outside the project; fix it there"));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened: Result<OwnedFd, _> = rustix::fs::open(&self.path, flags, Mode::empty());
        let file = match opened {
            Ok(opened) => File::from(opened),
            Err(rustix::io::Errno::LOOP) => {
                return Err(io::Error::other("it is a link; fix the file that it points to"));
            }
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        let may_be_folder = self.change == Change::TakeWritingAway;
        if !(metadata.is_file() || may_be_folder && metadata.is_dir()) {
            return Err(io::Error::other("it is no regular file"));
        }
        if metadata.is_file() && metadata.nlink() > 1 {
            return Err(io::Error::other(
                "it has another name elsewhere (a hard link), which may be outside the project",
            ));
        }
        let own = rustix::process::geteuid();
        if !own.is_root() && metadata.uid() != own.as_raw() {
            return Err(io::Error::other("it belongs to another user, who has to fix it"));
        }
        Ok(file)
    }

    /// The changed text of the script, or the reason why no change is certain to keep its meaning.
    fn repaired_text(&self, file: File) -> io::Result<Vec<u8>> {
        let metadata = file.metadata()?;
        if metadata.len() > LONGEST {
            return Err(io::Error::other("it is too long to be rewritten"));
        }
        let mut text = Vec::new();
        file.take(LONGEST).read_to_end(&mut text)?;
        if self.change == Change::RemoveMark {
            let rest =
                text.strip_prefix(b"\xEF\xBB\xBF").ok_or(io::Error::other("the mark is gone already"))?;
            return Ok(rest.to_vec());
        }
        with_line_feeds(&text).ok_or(io::Error::other(
            "only some of its lines end with CRLF, and some of those may be meant; fix it by hand",
        ))
    }
}

/// The text with LF for CRLF: in all lines if they all end that way, otherwise in the `#!` line alone, if its interpreter
/// accepts both.
fn with_line_feeds(text: &[u8]) -> Option<Vec<u8>> {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    if lines.all(|line| line.ends_with(b"\r\n")) {
        let mut repaired = Vec::with_capacity(text.len());
        for (index, byte) in text.iter().enumerate() {
            if *byte != b'\r' || text.get(index + 1) != Some(&b'\n') {
                repaired.push(*byte);
            }
        }
        return Some(repaired);
    }
    let line = first.strip_suffix(b"\r")?;
    let interpreter = interpreter_name(std::str::from_utf8(line).ok()?)?.to_owned();
    (!SHELLS.contains(&&*interpreter)).then(|| [line, &text[first.len()..]].concat())
}

fn change_mode(file: &File, change: impl Fn(u32) -> u32) -> io::Result<()> {
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    file.set_permissions(Permissions::from_mode(change(mode)))
}

/// Replaces the text of a file in one step. The owner stays the same, even if root makes the fix.
fn replace(path: &Path, text: &[u8], before: &Metadata) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let draft = path.with_file_name(format!(".{}", name.to_string_lossy()));
    let written = mcp_bash_files::create_new(&draft, 0o666).and_then(|mut file| {
        file.write_all(text)?;
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
            fchown(&file, Some(before.uid()), Some(before.gid()))?;
        }
        file.set_permissions(before.permissions())?;
        // An editor may be writing it right now.
        if looks_of(&path.symlink_metadata()?) != looks_of(before) {
            return Err(io::Error::other("it was changed meanwhile; try it again"));
        }
        std::fs::rename(&draft, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// The fields that change when a file is written or replaced.
fn looks_of(file: &Metadata) -> (u64, u64, u64, i64, i64) {
    (file.dev(), file.ino(), file.size(), file.mtime(), file.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_changed_where_that_changes_no_meaning() {
        let repaired =
            |text: &str| with_line_feeds(text.as_bytes()).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(repaired("#!/bin/sh\r\necho\r\n").as_deref(), Some("#!/bin/sh\necho\n"));
        assert_eq!(repaired("#!/bin/sh\r\necho \"a\rb\"\r\n").as_deref(), Some("#!/bin/sh\necho \"a\rb\"\n"));
        assert_eq!(repaired("#!/bin/sh\r\necho\n"), None);
        assert_eq!(repaired("#!/bin/sh\necho\r\n"), None);
        let python = "#!/usr/bin/env python3\r\nprint('''\r\n''')\nx\n";
        assert_eq!(repaired(python).as_deref(), Some("#!/usr/bin/env python3\nprint('''\r\n''')\nx\n"));
    }

    #[test]
    fn a_file_that_an_editor_has_truncated_is_left_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tool.sh");
        std::fs::write(&path, "#!/bin/sh\r\n").unwrap();
        let before = path.metadata().unwrap();
        let mut editor = File::create(&path).unwrap();
        assert!(
            replace(&path, b"#!/bin/sh\n", &before).unwrap_err().to_string().contains("changed meanwhile")
        );
        editor.write_all(b"#!/bin/sh\necho new\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "#!/bin/sh\necho new\n");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn readers_may_execute_and_no_one_else() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (before, after) in [(0o644, 0o755), (0o640, 0o750), (0o600, 0o700), (0o400, 0o500)] {
            file.as_file().set_permissions(Permissions::from_mode(before)).unwrap();
            Repair::executable(file.path().to_owned()).steps()[0]
                .apply(file.path().parent().unwrap())
                .unwrap();
            assert_eq!(file.as_file().metadata().unwrap().permissions().mode() & 0o777, after);
        }
    }
}
