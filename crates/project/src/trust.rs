//! Whether a file may be run or believed: only what nobody else could have written.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
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

/// Looks at a script that is about to be run: the file itself, and every folder from it up to `root`.
pub fn may_run(script: &Path, root: &Path) -> Result<(), Distrust> {
    // The opened file is judged, whatever the path leads to a moment later; that no other can take its place is
    // what the look at the folders makes sure of.
    let script = script.canonicalize()?;
    judge(&script, &File::open(&script)?.metadata()?)?;
    for folder in script.ancestors().skip(1).take_while(|folder| folder.starts_with(root)) {
        judge(folder, &fs::metadata(folder)?)?;
    }
    Ok(())
}

fn judge(path: &Path, metadata: &Metadata) -> Result<(), Distrust> {
    if metadata.mode() & 0o022 != 0 {
        return Err(Distrust::WritableByOthers(path.to_owned()));
    }
    let me = rustix::process::geteuid().as_raw();
    if metadata.uid() != me && metadata.uid() != 0 {
        return Err(Distrust::ForeignOwner(path.to_owned()));
    }
    Ok(())
}

/// The flag that refuses to follow a link, and the error that says there was one.
const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
