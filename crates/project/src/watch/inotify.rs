//! File watching on Linux, through `inotify`. We subscribe only to events that can change a catalog: opening and reading a
//! script cannot, and would wake us with every call.

use super::Changes;
use super::watched::watched;
use crate::Paths;
use crate::walk::limits::{MOST_FOLDERS, is_left_out, leads_back};
use mcp_bash_files::look;
use mcp_bash_files::shortage::{self, is_shortage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{FsWord, statfs};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashMap};
use std::fs::{DirEntry, read_dir};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) struct Watcher {
    events: OwnedFd,
    paths: Paths,
    /// The folder of each watch descriptor, by all paths that lead to it: there may be symlinks.
    folders: HashMap<i32, BTreeSet<PathBuf>>,
    /// Whether all folders are watched.
    is_complete: bool,
}

impl Watcher {
    /// Watches the folders of a project. `None` if we would not be notified of all changes.
    pub(super) fn new(paths: &Paths) -> Option<Self> {
        if watched(paths).any(|(folder, _)| is_remote(folder)) {
            return None;
        }
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let mut watcher = Self { events, paths: paths.clone(), folders: HashMap::new(), is_complete: false };
        watcher.follow();
        watcher.is_complete.then_some(watcher)
    }

    /// Waits for an event, and adds it to `changes`. False if none came before the timeout.
    pub(super) fn wait(&mut self, timeout: Option<Duration>, changes: &mut Changes) -> bool {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        loop {
            let came = poll(&mut [PollFd::new(&self.events, PollFlags::IN)], timeout.as_ref());
            match came {
                Ok(0) => return false,
                Ok(_) => break,
                Err(Errno::INTR) => {}
                // The system is short of something: pause before the next attempt.
                Err(_) => std::thread::sleep(BREATH),
            }
        }
        if self.read_events(changes) {
            // New folders are watched from now on.
            self.follow();
        }
        true
    }

    /// Reads all pending events. True if folders may have come or gone.
    fn read_events(&mut self, changes: &mut Changes) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.events, &mut buffer);
        let mut folders = false;
        while let Ok(event) = events.next() {
            folders |= event.events().intersects(ReadFlags::ISDIR | ReadFlags::QUEUE_OVERFLOW);
            if event.events().contains(ReadFlags::IGNORED) {
                // The folder is gone; its parent's events report that.
                self.folders.remove(&event.wd());
            } else {
                match self.folders.get(&event.wd()) {
                    Some(ways) => ways.iter().for_each(|way| changes.add(Some(way))),
                    None => changes.add(None),
                }
            }
        }
        folders
    }

    /// Whether we are notified of all changes. No event reports that the project's folder itself was removed while a
    /// process works in it, or that it is back: then it is a new folder, which is not watched yet.
    pub(super) fn is_complete(&self) -> bool {
        let root = inotify::add_watch(&self.events, &self.paths.root, CHANGES);
        self.is_complete && root.is_ok_and(|watch| self.folders.contains_key(&watch))
    }

    /// Watches all existing folders. Those that are watched already stay so.
    pub(super) fn follow(&mut self) {
        let (paths, mut left) = (self.paths.clone(), MOST_FOLDERS);
        let (is_complete, shortage) = shortage::during(|| {
            let mut watched = watched(&paths);
            watched
                .all(|(folder, depth)| !look::is_folder(folder) || self.follow_one(folder, depth, &mut left))
        });
        self.is_complete = is_complete && shortage.is_none();
    }

    /// Watches a folder and those inside it, at most `left` more.
    fn follow_one(&mut self, folder: &Path, depth: usize, left: &mut usize) -> bool {
        match inotify::add_watch(&self.events, folder, CHANGES) {
            Ok(watch) => self.folders.entry(watch).or_default().insert(folder.to_owned()),
            Err(_) => return !look::is_folder(folder),
        };
        *left = left.saturating_sub(1);
        if depth == 0 || *left == 0 {
            return true;
        }
        let entries = match read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return !is_shortage(&error),
        };
        let is_followed = |entry: &DirEntry| {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (is_folder || is_link && look::is_folder(&entry.path()) && !leads_back(&entry.path()))
                && !is_left_out(&entry.file_name())
        };
        let folders = entries.flatten().filter(is_followed);
        folders.map(|entry| entry.path()).all(|path| self.follow_one(&path, depth - 1, left))
    }
}

/// The pause after the system failed to wait for events.
const BREATH: Duration = Duration::from_millis(100);

/// Events that can change a catalog. A file counts as written when its writer closes it.
pub(super) const CHANGES: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Whether a folder is on a file system that can change without the kernel noticing: NFS, SMB, 9P, AFS, Ceph and FUSE.
pub(super) fn is_remote(folder: &Path) -> bool {
    const REMOTE: [FsWord; 9] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x5346_414f,
        0x00c3_6400,
        0x6573_5546,
        0x564c,
    ];
    statfs(folder).is_ok_and(|system| REMOTE.contains(&system.f_type))
}
