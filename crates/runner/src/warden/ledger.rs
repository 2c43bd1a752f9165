//! Ledger: an unnamed file that the server writes and the warden reads when the server has ended. It holds the mark of
//! the server, the folders and the control group to remove, and the live process groups. Writing to it does not wake
//! the warden.

use crate::mark::{ENCODED, Mark};
use parking_lot::Mutex;
use rustix::process::Pid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The space for the paths of [`Cleanup`]s. Each begins with a letter for its kind, and ends with a NUL.
const PATHS_SIZE: usize = 4096;

/// Where the slots for process groups start.
const SLOTS_START: u64 = (ENCODED + PATHS_SIZE) as u64;

/// The size of a slot: a pid, or 0.
const SLOT_SIZE: usize = size_of::<i32>();

#[derive(Debug)]
pub(super) struct Ledger {
    file: File,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    used: u32,
    free: Vec<u32>,
}

impl Ledger {
    pub(super) fn create(mark: &Mark) -> io::Result<Self> {
        let file = nameless_file()?;
        file.write_all_at(&mark.encode(), 0)?;
        Ok(Self { file, slots: Mutex::default() })
    }

    /// Writes everything that the warden is to remove. Entries for which there is no space are not removed.
    pub(super) fn set_cleanups(&self, cleanups: &[Cleanup]) -> io::Result<()> {
        let mut paths = Vec::with_capacity(PATHS_SIZE);
        for cleanup in cleanups {
            let (letter, path) = match cleanup {
                Cleanup::Folder(path) => (b'F', path),
                Cleanup::Group(path) => (b'G', path),
            };
            let path = path.as_os_str().as_bytes();
            if paths.len() + path.len() + 2 <= PATHS_SIZE {
                paths.push(letter);
                paths.extend_from_slice(path);
                paths.push(0);
            }
        }
        // There may have been more before.
        paths.resize(PATHS_SIZE, 0);
        self.file.write_all_at(&paths, ENCODED as u64)
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Adds a process group, until the returned value is dropped.
    pub(super) fn enter(&'static self, leader: Pid) -> Option<WatchedGroup> {
        let slot = self.with_slots(|slots| {
            slots.free.pop().unwrap_or_else(|| {
                slots.used += 1;
                slots.used - 1
            })
        });
        let watched = WatchedGroup { ledger: self, slot };
        watched.write(leader.as_raw_nonzero().get()).ok()?;
        Some(watched)
    }

    fn with_slots<T>(&self, act: impl FnOnce(&mut Slots) -> T) -> T {
        act(&mut self.slots.lock())
    }
}

/// A process group in the ledger.
#[derive(Debug)]
pub(crate) struct WatchedGroup {
    ledger: &'static Ledger,
    slot: u32,
}

impl WatchedGroup {
    fn write(&self, number: i32) -> io::Result<()> {
        let position = SLOTS_START + SLOT_SIZE as u64 * u64::from(self.slot);
        self.ledger.file.write_all_at(&number.to_le_bytes(), position)
    }
}

impl Drop for WatchedGroup {
    fn drop(&mut self) {
        let _ = self.write(0);
        self.ledger.with_slots(|slots| slots.free.push(self.slot));
    }
}

/// What the warden removes when the server has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cleanup {
    /// A folder.
    Folder(PathBuf),
    /// A control group, whose processes are killed first.
    Group(PathBuf),
}

/// The contents of a ledger.
pub(super) struct Contents {
    pub(super) mark: Mark,
    pub(super) cleanups: Vec<Cleanup>,
    /// The process groups that were alive when the ledger was last written.
    pub(super) groups: Vec<Pid>,
}

pub(super) fn read(file: &File) -> Option<Contents> {
    let mut header = [0; ENCODED];
    file.read_exact_at(&mut header, 0).ok()?;
    let mut paths = [0; PATHS_SIZE];
    let count = file.read_at(&mut paths, ENCODED as u64).ok()?;
    let cleanups =
        paths[..count].split(|byte| *byte == 0).filter_map(|cleanup| match cleanup.split_first()? {
            (b'F', path) => Some(Cleanup::Folder(OsStr::from_bytes(path).into())),
            (b'G', path) => Some(Cleanup::Group(OsStr::from_bytes(path).into())),
            _ => None,
        });
    let mut groups = Vec::new();
    let mut slot = [0; SLOT_SIZE];
    let mut position = SLOTS_START;
    while file.read_exact_at(&mut slot, position).is_ok() {
        groups.extend(Some(i32::from_le_bytes(slot)).filter(|number| *number > 1).and_then(Pid::from_raw));
        position += SLOT_SIZE as u64;
    }
    Some(Contents { mark: Mark::decode(&header)?, cleanups: cleanups.collect(), groups })
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn nameless_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("mcp-bash-ledger", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn nameless_file() -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let path = std::env::temp_dir().join(format!("mcpbash.ledger.{}", crate::random::hex::<8>()?));
    // A descriptor that can be read as well.
    drop(mcp_bash_files::create_new(&path, 0o600)?);
    let file =
        rustix::fs::open(&path, OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?.into();
    std::fs::remove_file(&path)?;
    Ok(file)
}
