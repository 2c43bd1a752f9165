//! The ledger: a file without a name that the server writes and the warden reads when the server is gone. It holds the
//! mark of the server, the folders and the control group that go with it, and the process groups that are alive. Writing
//! to it wakes nobody.

use crate::mark::{ENCODED, Mark};
use rustix::process::Pid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The room for the paths of what goes with the server. Each begins with a letter that says what it is, and ends with a
/// NUL.
const PATHS: usize = 4096;

/// Where the places start.
const PLACES: u64 = (ENCODED + PATHS) as u64;

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

    /// Names all that is to go with the server. What there is no room for stays.
    pub(super) fn set_goods(&self, goods: &[Good]) -> io::Result<()> {
        let mut paths = Vec::with_capacity(PATHS);
        for good in goods {
            let (letter, path) = match good {
                Good::Folder(path) => (b'F', path),
                Good::Group(path) => (b'G', path),
            };
            let path = path.as_os_str().as_bytes();
            if paths.len() + path.len() + 2 <= PATHS {
                paths.push(letter);
                paths.extend_from_slice(path);
                paths.push(0);
            }
        }
        self.file.write_all_at(&paths, ENCODED as u64)
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

/// What goes with the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Good {
    /// A folder that is removed.
    Folder(PathBuf),
    /// A control group that is killed, and removed.
    Group(PathBuf),
}

/// What a ledger says.
pub(super) struct Contents {
    pub(super) mark: Mark,
    pub(super) goods: Vec<Good>,
    /// Those that were alive when it was last written to.
    pub(super) groups: Vec<Pid>,
}

pub(super) fn read(file: &File) -> Option<Contents> {
    let mut header = [0; ENCODED];
    file.read_exact_at(&mut header, 0).ok()?;
    let mut paths = [0; PATHS];
    let count = file.read_at(&mut paths, ENCODED as u64).ok()?;
    let goods = paths[..count].split(|byte| *byte == 0).filter_map(|good| match good.split_first()? {
        (b'F', path) => Some(Good::Folder(OsStr::from_bytes(path).into())),
        (b'G', path) => Some(Good::Group(OsStr::from_bytes(path).into())),
        _ => None,
    });
    let mut groups = Vec::new();
    let mut place = [0; PLACE];
    let mut position = PLACES;
    while file.read_exact_at(&mut place, position).is_ok() {
        groups.extend(Some(i32::from_le_bytes(place)).filter(|number| *number > 1).and_then(Pid::from_raw));
        position += PLACE as u64;
    }
    Some(Contents { mark: Mark::decode(&header)?, goods: goods.collect(), groups })
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
