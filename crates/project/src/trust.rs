//! Whether a file may be run or believed: only what nobody else could have written.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file is not trusted. The messages name the file and the remedy.
#[derive(Debug, Error)]
pub enum Distrust {
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    #[error("{} is writable by its group or by everyone; run `chmod go-w` on it", .0.display())]
    WritableByOthers(PathBuf),
    #[error("{} belongs to another user; only files of your own or of root are used", .0.display())]
    ForeignOwner(PathBuf),
    #[error("{} is a link; put the file itself there", .0.display())]
    Link(PathBuf),
}

/// Opens a file that we are about to believe. It must not be a link, and neither it nor the folder it stands in may be
/// writable by others: then nobody can put another file in its place between our look and our use of it.
pub fn open(path: &Path) -> Result<File, Distrust> {
    let file = OpenOptions::new().read(true).custom_flags(NOFOLLOW).open(path).map_err(|error| {
        if error.raw_os_error() == Some(LOOP) { Distrust::Link(path.to_owned()) } else { error.into() }
    })?;
    judge(path, &file.metadata()?)?;
    if let Some(folder) = path.parent() {
        judge(folder, &fs::metadata(folder)?)?;
    }
    Ok(file)
}

/// How a script is started.
#[derive(Debug, PartialEq, Eq)]
pub struct Start {
    pub program: PathBuf,
    /// What stands before the arguments of the script.
    pub arguments: Vec<OsString>,
}

/// Looks at a script that is about to be run: the file itself, and every folder from it up to `root`. One that is not
/// executable is started as its `#!` says.
pub fn may_run(script: &Path, root: &Path) -> Result<Start, Distrust> {
    let named = script;
    // The opened file is judged, whatever the path leads to a moment later; that no other can take its place is
    // what the look at the folders makes sure of.
    let (script, file) = if let Some(file) = open_without_links(script) {
        (script.to_owned(), file)
    } else {
        let script = script.canonicalize()?;
        let file = File::open(&script)?;
        (script, file)
    };
    let metadata = file.metadata()?;
    judge(&script, &metadata)?;
    let depth = script.strip_prefix(root).map_or(0, |below| below.components().count());
    for folder in script.ancestors().skip(1).take(depth) {
        judge(folder, &fs::metadata(folder)?)?;
    }
    let interpreter = if metadata.mode() & 0o111 == 0 { interpreter(file)? } else { None };
    Ok(match interpreter {
        None => Start { program: named.to_owned(), arguments: Vec::new() },
        Some((program, argument)) => {
            let arguments = argument.into_iter().chain([named.as_os_str().to_owned()]).collect();
            Start { program, arguments }
        }
    })
}

/// Opens a file whose path has no links in it, which is then what it says; none where it has, or where that cannot be
/// found out at once.
fn open_without_links(path: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        let mut parts = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
        let is_plain = parts.next() == Some(b"") && parts.all(|part| !matches!(part, b"" | b"." | b".."));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = is_plain.then(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))?;
        opened.ok().map(File::from)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

/// The program that the first line of a script names, and the one argument that may stand there.
fn interpreter(file: File) -> io::Result<Option<(PathBuf, Option<OsString>)>> {
    let mut start = Vec::new();
    file.take(256).read_to_end(&mut start)?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(words) = line.strip_prefix(b"#!").map(<[u8]>::trim_ascii) else { return Ok(None) };
    let end = words.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(words.len());
    let (program, argument) = (&words[..end], words[end..].trim_ascii());
    let owned = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let argument = (!argument.is_empty()).then(|| owned(argument));
    Ok((!program.is_empty()).then(|| (owned(program).into(), argument)))
}

fn judge(path: &Path, metadata: &Metadata) -> Result<(), Distrust> {
    if metadata.mode() & 0o022 != 0 {
        return Err(Distrust::WritableByOthers(path.to_owned()));
    }
    if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Distrust::ForeignOwner(path.to_owned()));
    }
    Ok(())
}

/// The flag that refuses to follow a link, and the error that says there was one.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
