//! The ledger: a file without a name that the server writes and the warden reads when the server is gone. It holds the
//! mark of the server, the folder that goes with it and the groups that are alive. Writing to it wakes nobody.

use crate::mark::{ENCODED, Mark};
use rustix::process::Pid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The room for the path of the folder, which a NUL ends.
const FOLDER: usize = 1024;

/// Where the places start.
const PLACES: u64 = (ENCODED + FOLDER) as u64;

/// The size of a place.
const PLACE: usize = size_of::<i32>();

#[derive(Debug)]
pub(super) struct Ledger {
    file: File,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    used: u32,
    free: Vec<u32>,
}

impl Ledger {
    pub(super) fn create(mark: &Mark) -> io::Result<Self> {
        let file = nameless()?;
        file.write_all_at(&mark.encode(), 0)?;
        Ok(Self { file, places: Mutex::default() })
    }

    /// Names the folder that is to be removed. One whose path is too long stays.
    pub(super) fn set_folder(&self, folder: &Path) -> io::Result<()> {
        let path = folder.as_os_str().as_bytes();
        if path.len() >= FOLDER {
            return Ok(());
        }
        self.file.write_all_at(path, ENCODED as u64)
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Enters a group, as long as the returned value lives.
    pub(super) fn enter(&'static self, leader: Pid) -> Option<Watched> {
        let place = self.with_places(|places| {
            places.free.pop().unwrap_or_else(|| {
                places.used += 1;
                places.used - 1
            })
        });
        let watched = Watched { ledger: self, place };
        watched.write(leader.as_raw_nonzero().get()).ok()?;
        Some(watched)
    }

    fn with_places<T>(&self, act: impl FnOnce(&mut Places) -> T) -> T {
        act(&mut self.places.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A group in the ledger.
#[derive(Debug)]
pub(crate) struct Watched {
    ledger: &'static Ledger,
    place: u32,
}

impl Watched {
    fn write(&self, number: i32) -> io::Result<()> {
        let position = PLACES + PLACE as u64 * u64::from(self.place);
        self.ledger.file.write_all_at(&number.to_le_bytes(), position)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.write(0);
        self.ledger.with_places(|places| places.free.push(self.place));
    }
}

/// What a ledger says.
pub(super) struct Contents {
    pub(super) mark: Mark,
    pub(super) folder: Option<PathBuf>,
    /// Those that were alive when it was last written to.
    pub(super) groups: Vec<Pid>,
}

pub(super) fn read(file: &File) -> Option<Contents> {
    let mut header = [0; ENCODED];
    file.read_exact_at(&mut header, 0).ok()?;
    let mut path = [0; FOLDER];
    let count = file.read_at(&mut path, ENCODED as u64).ok()?;
    let path = path[..count].split(|byte| *byte == 0).next().filter(|path| !path.is_empty());
    let mut groups = Vec::new();
    let mut place = [0; PLACE];
    let mut position = PLACES;
    while file.read_exact_at(&mut place, position).is_ok() {
        groups.extend(Some(i32::from_le_bytes(place)).filter(|number| *number > 1).and_then(Pid::from_raw));
        position += PLACE as u64;
    }
    let folder = path.map(|path| OsStr::from_bytes(path).into());
    Some(Contents { mark: Mark::decode(&header)?, folder, groups })
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("mcp-bash-ledger", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let path = std::env::temp_dir().join(format!("mcpbash.ledger.{}", crate::random::hex::<8>()?));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
