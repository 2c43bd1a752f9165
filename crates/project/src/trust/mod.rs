//! Trust: whether a file may be run or believed, namely only if no other user could have written it. The same goes for the
//! absence of a file that forbids what is otherwise allowed.

mod loaded;
mod way;

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use linux as system;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere as system;

pub use loaded::judge_loaded;
use mcp_bash_files::{look, require_regular};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use thiserror::Error;
use way::{Way, judge_upwards};

/// Why a file is not trusted. The messages name the file and the fix.
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

/// Opens a file that we are about to believe; `None` if it does not exist. It must not be a symlink. Neither the file nor a
/// folder that decides where its path leads may be writable by others, up to `root` if it is below that. So no other user
/// can replace the file between our check and our use of it.
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

/// The content of such a file, if it exists.
pub fn read(path: &Path, root: &Path, limit: u64) -> Result<Option<Vec<u8>>, Distrust> {
    open(path, root)?.map(|file| read_opened(path, &file, limit)).transpose()
}

/// The same for a file in a folder that was judged already.
pub(crate) fn read_in_trusted_folder(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Distrust> {
    open_in_trusted_folder(path)?.map(|file| read_opened(path, &file, limit)).transpose()
}

fn read_opened(path: &Path, file: &File, limit: u64) -> Result<Vec<u8>, Distrust> {
    let unusable = |error| Distrust::Unusable(path.to_owned(), error);
    // A registry may be large: one beyond the limit is not read in vain.
    if file.metadata()?.len() > limit {
        return Err(unusable(mcp_bash_files::too_large(limit)));
    }
    mcp_bash_files::read_all(file, limit).map_err(unusable)
}

/// Opens any file, through symlinks if there are any, and says whether it could be believed. The folder that its path names
/// is not judged, unless a symlink leads out of it.
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

/// Judges whether another user may write in a folder, or decide where its path leads.
pub fn judge_folder(folder: &Path, root: &Path) -> Result<(), Distrust> {
    Way::follow(folder, root)?.judge_folder()
}

/// Judges whether another user could have removed a missing file: whether the folder it would be in, or the nearest
/// existing one above, is writable by others, up to `root`.
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

/// Judges a folder if it exists: nothing was removed from a folder that does not.
pub fn judge_folder_if_any(folder: &Path, root: &Path) -> Result<(), Distrust> {
    match look::link_metadata(folder) {
        Ok(_) => judge_folder(folder, root),
        Err(_) => Ok(()),
    }
}

/// Judges a program that runs files of the project, and all folders that decide where its path leads. Inside the project
/// the rule is that of scripts. Outside, only world-writable paths are refused: the owner of the system decides who may
/// write programs there, often a group.
pub fn judge_program(program: &Path, root: &Path) -> Result<(), Distrust> {
    match Way::follow(program, root) {
        Ok(way) => way.judge_program(),
        // Starting it reports that it does not exist.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Distrust::Unusable(program.to_owned(), error)),
    }
}

/// The same for a folder that belongs to no project.
pub fn judge_lone_folder(folder: &Path) -> Result<(), Distrust> {
    // A root that contains nothing.
    judge_folder(folder, Path::new("/dev/null"))
}

/// How a script is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub program: PathBuf,
    /// The arguments before those of the script.
    pub arguments: Vec<OsString>,
}

/// Judges a script that is about to run: the file itself, and every folder that decides where its path leads, up to `root`
/// if it is below that. A script that is not executable is started as its `#!` says.
pub fn may_run(script: &Path, root: &Path) -> Result<Start, Distrust> {
    let unusable = |error| Distrust::Unusable(script.to_owned(), error);
    // The opened file is judged, wherever the path leads a moment later. Judging the folders ensures that no other file can
    // take its place.
    let (metadata, file) = if let Some(file) = open_without_links(script) {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            require_regular(&file).map_err(unusable)?;
        }
        judge(script, &metadata)?;
        judge_upwards(script.parent().unwrap_or(script), root)?;
        (metadata, file)
    } else {
        let way = Way::follow(script, root).map_err(unusable)?;
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

/// Opens a file whose path has no symlinks, so that it is the file the path names. `None` if it has some, or if that cannot
/// be checked at once.
fn open_without_links(path: &Path) -> Option<File> {
    system::open_without_links(path)
}

/// The program that the first line of a script names, and its optional argument.
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

/// The error for a symlink on the way.
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_behind_a_broken_link_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let script = root.join("tool.sh");
        std::os::unix::fs::symlink(root.join("gone"), &script).unwrap();
        let told = may_run(&script, &root).unwrap_err().to_string();
        assert!(told.starts_with(&format!("{} cannot be used: ", script.display())), "{told}");
    }
}
