//! Whether a file may be run or believed: only what nobody else could have written; and whether its absence may be, where a
//! file forbids what is allowed without it.

mod loaded;
mod way;

#[cfg(target_os = "linux")]
mod linux;
use linux as system;
#[cfg(target_os = "linux")]
use mcp_bash_files::look;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as system;

pub use loaded::judge_loaded;
use mcp_bash_files::require_regular;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use thiserror::Error;
use way::{Way, judge_upwards};

/// Why a file is not trusted. The messages name the file and the remedy.
#[derive(Debug, Error)]
pub enum Distrust {
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    #[error(
        "{} is writable by its group or by everyone (mode {mode:04o}); run `chmod go-w` on it (`mcp-bash validate --fix` does it \
         in a whole project)",
        .path.display()
    )]
    WritableByOthers { path: PathBuf, mode: u32 },
    #[error(
        "{} belongs to another user (uid {owner}); only files of your own or of root are used: run `chown` on it, or put a copy \
         of your own in its place",
        .path.display()
    )]
    ForeignOwner { path: PathBuf, owner: u32 },
    #[error("{} is a link; put the file itself there", .0.display())]
    Link(PathBuf),
    #[error("{} cannot be used: {}", .0.display(), .1)]
    Unusable(PathBuf, io::Error),
}

/// Opens a file that we are about to believe; nothing where there is none. It must not be a link, and neither it nor a
/// folder that decides what its path leads to may be writable by others, up to `root` where it stands below that: then
/// nobody can put another file in its place between our look and our use of it.
pub fn open(path: &Path, root: &Path) -> Result<Option<File>, Distrust> {
    let Some(file) = open_in_trusted_folder(path)? else { return Ok(None) };
    if let Some(folder) = path.parent() {
        judge_folder(folder, root)?;
    }
    Ok(Some(file))
}

fn open_in_trusted_folder(path: &Path) -> Result<Option<File>, Distrust> {
    let file = match mcp_bash_files::open_no_link(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(LOOP) => return Err(Distrust::Link(path.to_owned())),
        Err(error) => return Err(Distrust::Unusable(path.to_owned(), error)),
    };
    judge(path, &file.metadata()?)?;
    Ok(Some(file))
}

/// What such a file holds, if there is one.
pub fn read(path: &Path, root: &Path, limit: u64) -> Result<Option<Vec<u8>>, Distrust> {
    open(path, root)?.map(|file| read_opened(path, &file, limit)).transpose()
}

/// The same for a file in a folder that was judged already.
pub(crate) fn read_in_trusted_folder(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Distrust> {
    open_in_trusted_folder(path)?.map(|file| read_opened(path, &file, limit)).transpose()
}

fn read_opened(path: &Path, file: &File, limit: u64) -> Result<Vec<u8>, Distrust> {
    let unusable = |error| Distrust::Unusable(path.to_owned(), error);
    // A registry may be large, and is not read up to its limit in vain.
    if file.metadata()?.len() > limit {
        return Err(unusable(mcp_bash_files::too_large(limit)));
    }
    mcp_bash_files::read_all(file, limit).map_err(unusable)
}

/// Opens a file whatever it is like, through links if there are any, and says whether it could be believed. The folder
/// that its path names is not looked at, unless a link leads out of it.
pub(crate) fn open_and_judge(path: &Path, root: &Path) -> io::Result<(File, Result<(), Distrust>)> {
    match mcp_bash_files::open_no_link(path) {
        Err(error) if error.raw_os_error() == Some(LOOP) => {
            let (file, way) = (mcp_bash_files::open(path)?, Way::follow(path, root)?);
            let judged = judge(&way.end, &file.metadata()?).and_then(|()| way.judge());
            Ok((file, judged))
        }
        opened => {
            let file = opened?;
            let judged = judge(path, &file.metadata()?);
            Ok((file, judged))
        }
    }
}

/// Looks whether anybody else may write in a folder, or decide where its path leads to.
pub fn judge_folder(folder: &Path, root: &Path) -> Result<(), Distrust> {
    Way::follow(folder, root)?.judge_folder()
}

/// Looks whether anybody else could have removed a file that is not there: whether others may write the folder that it would be
/// in, or the nearest one above it that there is, up to `root`.
pub fn judge_absence(path: &Path, root: &Path) -> Result<(), Distrust> {
    let mut folders =
        path.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && *folder != root);
    match folders.find(|folder| look::link_metadata(folder).is_ok()) {
        // Most projects: two system calls.
        None if path.starts_with(root) => judge_upwards(root, root),
        None => judge_folder_if_any(path.parent().unwrap_or(path), root),
        Some(folder) if open_without_links(folder).is_some() => judge_upwards(folder, root),
        Some(folder) => judge_folder(folder, root),
    }
}

/// Judges a folder if there is one: in one that is not there, nothing was removed.
pub fn judge_folder_if_any(folder: &Path, root: &Path) -> Result<(), Distrust> {
    match look::link_metadata(folder) {
        Ok(_) => judge_folder(folder, root),
        Err(_) => Ok(()),
    }
}

/// Looks at a program that runs files of the project, and at all folders that decide what its path leads to. Inside of the project
/// the rule is that of scripts. Outside of it only what everybody may write is refused: who may write programs there is decided by
/// the owner of the system, often by a group.
pub fn judge_program(program: &Path, root: &Path) -> Result<(), Distrust> {
    match Way::follow(program, root) {
        Ok(way) => way.judge_program(),
        // Whoever starts it is told that it is not there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Distrust::Unusable(program.to_owned(), error)),
    }
}

/// The same for a folder that belongs to no project.
pub fn judge_lone_folder(folder: &Path) -> Result<(), Distrust> {
    // A root that nothing stands below.
    judge_folder(folder, Path::new("/dev/null"))
}

/// How a script is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub program: PathBuf,
    /// What stands before the arguments of the script.
    pub arguments: Vec<OsString>,
}

/// Looks at a script that is about to be run: the file itself, and every folder that decides what its path leads to, up
/// to `root` where it stands below that. One that is not executable is started as its `#!` says.
pub fn may_run(script: &Path, root: &Path) -> Result<Start, Distrust> {
    let unusable = |error| Distrust::Unusable(script.to_owned(), error);
    // The opened file is judged, whatever the path leads to a moment later; that no other can take its place is
    // what the look at the folders makes sure of.
    let (metadata, file) = if let Some(file) = open_without_links(script) {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            require_regular(&file).map_err(unusable)?;
        }
        judge(script, &metadata)?;
        judge_upwards(script.parent().unwrap_or(script), root)?;
        (metadata, file)
    } else {
        let way = Way::follow(script, root)?;
        let file = mcp_bash_files::open_no_link(&way.end).map_err(unusable)?;
        let metadata = file.metadata()?;
        judge(&way.end, &metadata)?;
        way.judge()?;
        (metadata, file)
    };
    let interpreter = if metadata.mode() & 0o111 == 0 { interpreter(file)? } else { None };
    Ok(match interpreter {
        None => Start { program: script.to_owned(), arguments: Vec::new() },
        Some((program, argument)) => {
            let arguments = argument.into_iter().chain([script.as_os_str().to_owned()]).collect();
            Start { program, arguments }
        }
    })
}

/// Opens a file whose path has no links in it, which is then what it says; none where it has, or where that cannot be
/// found out at once.
fn open_without_links(path: &Path) -> Option<File> {
    system::open_without_links(path)
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
        return Err(writable(path, metadata));
    }
    judge_owner(path, metadata)
}

fn writable(path: &Path, metadata: &Metadata) -> Distrust {
    Distrust::WritableByOthers { path: path.to_owned(), mode: metadata.mode() & 0o7777 }
}

fn judge_owner(path: &Path, metadata: &Metadata) -> Result<(), Distrust> {
    if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Distrust::ForeignOwner { path: path.to_owned(), owner: metadata.uid() });
    }
    Ok(())
}

/// The error that says that there was a link.
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
