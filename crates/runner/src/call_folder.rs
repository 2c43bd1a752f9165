//! The folder of one call: everything that the server and the processes of the call share beside the standard streams
//! stands there, and nothing of another call does.
//!
//! To make a folder, a named pipe and a socket costs as much as all else we do for a call, so folders are used again. A
//! script can do to its folder whatever its user can: leave files, put a pipe in the place of a file, remove or rename
//! everything, take permissions away, link the pipe elsewhere. So a folder that comes back is looked over, swept if it was
//! touched, and thrown away if it is not what we made. Whatever a script does to its folder harms its own call alone.

use crate::ask::AskSocket;
use crate::random;
use crate::remove::remove_folder;
use crate::side_channel::Pipe;
use crate::state_dir::StateDir;
use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More unused folders than these are not kept.
const MOST_SPARE: usize = 64;

/// A folder with more entries than these is not swept but thrown away.
const MOST_ENTRIES: usize = 32;

/// How coarse the times are that file systems note: two changes within this may look like one.
const COARSE: Duration = Duration::from_millis(20);

/// The names of what we make in a folder ourselves.
pub(crate) const PIPE: &str = "channel";
pub(crate) const SOCKET: &str = "ask";

/// The folder of one call, as long as this value lives. It must outlive the processes of the call.
#[derive(Debug)]
pub struct CallFolder {
    /// There until this value is dropped.
    folder: Option<Folder>,
    folders: Arc<CallFolders>,
}

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// How it looked when it was last known to hold nothing but what we made.
    clean: Looks,
    pipe: OnceLock<(Arc<Pipe>, Identity)>,
    socket: OnceLock<(Arc<AskSocket>, Identity)>,
}

/// Which file it is, whatever its name.
type Identity = (u64, u64);

/// What changes when something is put into a folder or taken out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Looks {
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
        made(&folder.pipe, || {
            let path = folder.path.join(PIPE);
            let pipe = Pipe::make(&path)?;
            Ok((Arc::new(pipe), identity(&look(&path)?)))
        })
    }

    /// The socket for questions, made when it is first needed.
    pub(crate) fn socket(&self) -> io::Result<&Arc<AskSocket>> {
        let folder = self.folder();
        made(&folder.socket, || {
            let socket = AskSocket::bind(&folder.path.join(SOCKET), &self.folders.state_dir)?;
            let identity = identity(&look(socket.path())?);
            Ok((Arc::new(socket), identity))
        })
    }

    fn folder(&self) -> &Folder {
        self.folder.as_ref().expect("a folder that is not dropped yet")
    }
}

/// What the cell holds, made now if it holds nothing. Only one call at a time has a folder, so nobody else makes it too.
fn made<T>(
    cell: &OnceLock<(Arc<T>, Identity)>,
    make: impl FnOnce() -> io::Result<(Arc<T>, Identity)>,
) -> io::Result<&Arc<T>> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    cell.get().map(|(made, _)| made).ok_or_else(|| io::Error::other("it was not made"))
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
    spare: Mutex<Vec<Folder>>,
}

impl CallFolders {
    pub(crate) fn new(state_dir: Arc<StateDir>) -> Self {
        Self { state_dir, spare: Mutex::default() }
    }

    /// A folder that no call uses.
    pub(crate) fn take(self: &Arc<Self>) -> io::Result<CallFolder> {
        let spare = self.lock().pop();
        let folder = match spare {
            Some(folder) => folder,
            None => self.make()?,
        };
        Ok(CallFolder { folder: Some(folder), folders: Arc::clone(self) })
    }

    /// Lets go of what is kept.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn make(&self) -> io::Result<Folder> {
        // Its name is the key to it: the folder above does not tell its names.
        let path = self.state_dir.calls()?.join(random::hex::<8>()?);
        DirBuilder::new().mode(0o700).create(&path)?;
        let clean = looks(&look(&path)?);
        Ok(Folder { path, clean, pipe: OnceLock::new(), socket: OnceLock::new() })
    }

    fn take_back(&self, mut folder: Folder) {
        if !folder.becomes_clean() {
            discard(folder);
            return;
        }
        let mut spare = self.lock();
        if spare.len() < MOST_SPARE {
            spare.push(folder);
        } else {
            drop(spare);
            discard(folder);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Folder>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folder {
    /// Sees to it that the next call finds the folder as the last one did. False when that is not to be had.
    fn becomes_clean(&mut self) -> bool {
        let Ok(seen) = look(&self.path) else { return false };
        let is_ours =
            seen.is_dir() && seen.mode() & 0o7777 == 0o700 && identity(&seen) == self.clean.identity;
        if !is_ours || !self.can_be_opened() {
            return false;
        }
        // A change at the time of the last look, as coarse as times are, cannot be told from none.
        if looks(&seen) != self.clean || is_recent(self.clean.changed) {
            if !self.still_has_its_own() || self.sweep().is_err() {
                return false;
            }
            let Ok(seen) = look(&self.path) else { return false };
            self.clean = looks(&seen);
        }
        self.pipe.get().is_none_or(|(pipe, _)| pipe.forget())
            && self.socket.get().is_none_or(|(socket, _)| socket.forget())
    }

    /// Whether pipe and socket can be opened by the next call, and by their own names alone.
    fn can_be_opened(&self) -> bool {
        self.pipe.get().is_none_or(|(pipe, _)| pipe.is_as_made())
            && self.socket.get().is_none_or(|(socket, made)| is_the_same(socket.path(), *made))
    }

    /// Whether the pipe and the socket stand where we made them.
    fn still_has_its_own(&self) -> bool {
        let pipe = self.pipe.get().map(|(_, identity)| (self.path.join(PIPE), *identity));
        let socket = self.socket.get().map(|(socket, identity)| (socket.path().to_owned(), *identity));
        pipe.into_iter().chain(socket).all(|(path, made)| is_the_same(&path, made))
    }

    /// Removes what the call has left. A folder in it, or very many files, are an error.
    fn sweep(&self) -> io::Result<()> {
        for (count, entry) in self.path.read_dir()?.enumerate() {
            let name = entry?.file_name();
            let is_own = (name == PIPE && self.pipe.get().is_some())
                || (name == SOCKET && self.socket.get().is_some());
            if count > MOST_ENTRIES {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            if !is_own {
                std::fs::remove_file(self.path.join(name))?;
            }
        }
        Ok(())
    }
}

/// Removes a folder for good, on a thread of its own: there may be any amount in it. What stays goes with the server.
fn discard(folder: Folder) {
    let path = folder.path.clone();
    drop(folder);
    let _ = std::thread::Builder::new()
        .name("discard".into())
        .stack_size(256 * 1024)
        .spawn(move || remove_folder(&path));
}

/// Whether what stands there is what we made, under no second name, and can be opened.
fn is_the_same(path: &Path, made: Identity) -> bool {
    look(path).is_ok_and(|seen| identity(&seen) == made && seen.nlink() == 1 && seen.mode() & 0o600 == 0o600)
}

/// What stands there itself, be it a link.
fn look(path: &Path) -> io::Result<Metadata> {
    std::fs::symlink_metadata(path)
}

fn identity(seen: &Metadata) -> Identity {
    (seen.dev(), seen.ino())
}

fn looks(seen: &Metadata) -> Looks {
    Looks { identity: identity(seen), changed: (seen.mtime(), seen.mtime_nsec()) }
}

fn is_recent((seconds, nanoseconds): (i64, i64)) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let changed = Duration::new(seconds.try_into().unwrap_or(0), nanoseconds.try_into().unwrap_or(0));
    now.saturating_sub(changed) < COARSE
}
