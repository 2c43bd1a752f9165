//! Call folder: holds all files that the server and the processes of one call share, and none of another call.
//!
//! Making a folder, a named pipe and a socket costs as much as everything else we do for a call, so folders are reused.
//! A script can do to its folder whatever its user can: leave files, put a pipe in the place of a file, remove or
//! rename everything, take permissions away, link the pipe elsewhere. So a folder that comes back is checked, swept if
//! it was changed, and discarded if it is not what we made. Whatever a script does to its folder harms its own call
//! alone.

use crate::ask::AskSocket;
use crate::folders::remove::remove_folder;
use crate::folders::state_dir::StateDir;
use crate::random;
use crate::side_channel::Pipe;
use parking_lot::Mutex;
use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How many unused folders are kept.
const MAX_SPARE: usize = 64;

/// A folder with more entries is discarded instead of being swept.
const MAX_SWEPT_ENTRIES: usize = 32;

/// The timestamp resolution of file systems: two changes within this time may have the same timestamp.
const TIMESTAMP_STEP: Duration = Duration::from_millis(20);

/// A folder that was unused for longer may have been removed by a cleaner of temporary files.
const SURELY_THERE: Duration = Duration::from_secs(1);

/// The names of the pipe and the socket in the folder.
pub(crate) const PIPE: &str = "channel";
pub(crate) const SOCKET: &str = "ask";

/// The folder of one call, as long as this value lives. It must outlive the processes of the call.
#[derive(Debug)]
pub struct CallFolder {
    /// `None` only while this value is dropped.
    folder: Option<Folder>,
    folders: Arc<CallFolders>,
}

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Its state when it was last known to hold only the pipe and the socket.
    clean: Appearance,
    pipe: OnceLock<(Arc<Pipe>, Identity)>,
    socket: OnceLock<(Arc<AskSocket>, Identity)>,
}

/// Device and inode of a file.
type Identity = (u64, u64);

/// Identity and modification time of a folder: differs when an entry was added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Appearance {
    identity: Identity,
    changed: (i64, i64),
}

impl CallFolder {
    pub fn path(&self) -> &Path {
        &self.folder().path
    }

    /// The pipe of the side channel, made when it is first needed.
    pub(crate) fn pipe(&self) -> io::Result<&Arc<Pipe>> {
        let folder = self.folder();
        get_or_make(&folder.pipe, || {
            let path = folder.path.join(PIPE);
            let pipe = Pipe::make(&path)?;
            Ok((Arc::new(pipe), identity(&lstat(&path)?)))
        })
    }

    /// The socket for questions, made when it is first needed.
    pub(crate) fn socket(&self) -> io::Result<&Arc<AskSocket>> {
        let folder = self.folder();
        get_or_make(&folder.socket, || {
            let socket = AskSocket::bind(&folder.path.join(SOCKET), &self.folders.state_dir)?;
            let identity = identity(&lstat(socket.path())?);
            Ok((Arc::new(socket), identity))
        })
    }

    fn folder(&self) -> &Folder {
        self.folder.as_ref().expect("a folder that is not dropped yet")
    }
}

/// The content of the cell, made now if there is none. A folder belongs to one call at a time, so there is no race to
/// make it.
fn get_or_make<T>(
    cell: &OnceLock<(Arc<T>, Identity)>,
    make: impl FnOnce() -> io::Result<(Arc<T>, Identity)>,
) -> io::Result<&Arc<T>> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    cell.get().map(|(made, _)| made).ok_or_else(|| io::Error::other("the cell is empty"))
}

impl Drop for CallFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            self.folders.take_back(folder);
        }
    }
}

/// The folders of the calls of one runner.
#[derive(Debug)]
pub(crate) struct CallFolders {
    state_dir: Arc<StateDir>,
    spare: Mutex<Vec<Spare>>,
}

/// A folder that no call uses.
#[derive(Debug)]
struct Spare {
    folder: Folder,
    since: Instant,
}

impl CallFolders {
    pub(crate) fn new(state_dir: Arc<StateDir>) -> Self {
        Self { state_dir, spare: Mutex::default() }
    }

    /// Takes a folder that no call uses.
    pub(crate) fn take(self: &Arc<Self>) -> io::Result<CallFolder> {
        let folder = loop {
            match self.pop() {
                Some(spare) if spare.since.elapsed() < SURELY_THERE || spare.folder.is_ours() => {
                    break spare.folder;
                }
                Some(_) => {}
                None => break self.state_dir.with_restored(|| self.make())?,
            }
        };
        Ok(CallFolder { folder: Some(folder), folders: Arc::clone(self) })
    }

    fn pop(&self) -> Option<Spare> {
        self.spare.lock().pop()
    }

    /// Drops the spare folders: closes their pipes and sockets, and leaves the rest to the removal of the private
    /// folder.
    pub(crate) fn clear(&self) {
        self.spare.lock().clear();
    }

    /// Removes the spare folders.
    pub(crate) fn discard_spare(&self) {
        let spare = std::mem::take(&mut *self.spare.lock());
        for spare in spare {
            remove_folder(&spare.folder.into_path());
        }
    }

    fn make(&self) -> io::Result<Folder> {
        // Only a process that knows the name finds the folder: the parent folder cannot be listed.
        let path = self.state_dir.calls()?.join(random::hex::<8>()?);
        DirBuilder::new().mode(0o700).create(&path)?;
        let clean = appearance(&lstat(&path)?);
        Ok(Folder { path, clean, pipe: OnceLock::new(), socket: OnceLock::new() })
    }

    fn take_back(&self, mut folder: Folder) {
        if !folder.clean_up() {
            discard(folder);
            return;
        }
        let mut spare = self.spare.lock();
        if spare.len() < MAX_SPARE {
            spare.push(Spare { folder, since: Instant::now() });
        } else {
            drop(spare);
            discard(folder);
        }
    }
}

impl Folder {
    /// Restores the folder to its state before the call. False when that is not possible.
    fn clean_up(&mut self) -> bool {
        let Ok(seen) = lstat(&self.path) else { return false };
        if !self.is_as_made(&seen) || !self.pipe_and_socket_can_be_opened() {
            return false;
        }
        // A change with the same timestamp as the last check is indistinguishable from none.
        if appearance(&seen) != self.clean || is_recent(self.clean.changed) {
            if !self.has_pipe_and_socket() || self.sweep().is_err() {
                return false;
            }
            let Ok(seen) = lstat(&self.path) else { return false };
            self.clean = appearance(&seen);
        }
        self.pipe.get().is_none_or(|(pipe, _)| pipe.discard_rest())
            && self.socket.get().is_none_or(|(socket, _)| socket.refuse_waiting())
    }

    /// Whether the folder that was made still exists.
    fn is_ours(&self) -> bool {
        lstat(&self.path).is_ok_and(|seen| self.is_as_made(&seen))
    }

    fn is_as_made(&self, seen: &Metadata) -> bool {
        seen.is_dir() && seen.mode() & 0o7777 == 0o700 && identity(seen) == self.clean.identity
    }

    /// Closes the pipe and the socket.
    fn into_path(self) -> PathBuf {
        self.path
    }

    /// Whether the next call can open pipe and socket, and neither has a second name (hard link).
    fn pipe_and_socket_can_be_opened(&self) -> bool {
        self.pipe.get().is_none_or(|(pipe, _)| pipe.is_as_made())
            && self.socket.get().is_none_or(|(socket, made)| is_the_same(socket.path(), *made))
    }

    /// Whether pipe and socket are still at their paths.
    fn has_pipe_and_socket(&self) -> bool {
        let pipe = self.pipe.get().map(|(_, identity)| (self.path.join(PIPE), *identity));
        let socket = self.socket.get().map(|(socket, identity)| (socket.path().to_owned(), *identity));
        pipe.into_iter().chain(socket).all(|(path, made)| is_the_same(&path, made))
    }

    /// Removes the files that the call has left. A folder, or very many files, are an error.
    fn sweep(&self) -> io::Result<()> {
        for (count, entry) in self.path.read_dir()?.enumerate() {
            let name = entry?.file_name();
            let is_own = (name == PIPE && self.pipe.get().is_some())
                || (name == SOCKET && self.socket.get().is_some());
            if count > MAX_SWEPT_ENTRIES {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            if !is_own {
                std::fs::remove_file(self.path.join(name))?;
            }
        }
        Ok(())
    }
}

/// Removes a folder for good, on a thread of its own: it may hold any number of files. Anything left is removed when
/// the server exits.
fn discard(folder: Folder) {
    let path = folder.into_path();
    let _ = std::thread::Builder::new()
        .name("discard".into())
        .stack_size(256 * 1024)
        .spawn(move || remove_folder(&path));
}

/// Whether the file at `path` is the one that was made, has no second name, and can be opened.
fn is_the_same(path: &Path, made: Identity) -> bool {
    lstat(path).is_ok_and(|seen| identity(&seen) == made && seen.nlink() == 1 && seen.mode() & 0o600 == 0o600)
}

fn lstat(path: &Path) -> io::Result<Metadata> {
    std::fs::symlink_metadata(path)
}

fn identity(seen: &Metadata) -> Identity {
    (seen.dev(), seen.ino())
}

fn appearance(seen: &Metadata) -> Appearance {
    Appearance { identity: identity(seen), changed: (seen.mtime(), seen.mtime_nsec()) }
}

fn is_recent((seconds, nanoseconds): (i64, i64)) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let changed = Duration::new(seconds.try_into().unwrap_or(0), nanoseconds.try_into().unwrap_or(0));
    now.saturating_sub(changed) < TIMESTAMP_STEP
}
