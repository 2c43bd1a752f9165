//! Linux tells of changes through `inotify`. We ask only for what can change a catalog: that a script is opened and read
//! is none of it, and would wake us with every call.

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
    /// The folder that each watch is for, by the ways that lead to it: there may be links.
    folders: HashMap<i32, BTreeSet<PathBuf>>,
    /// Whether all folders are watched.
    is_complete: bool,
}

impl Watcher {
    /// Watches the folders of a project. `None` where we would not be told of all changes.
    pub(super) fn new(paths: &Paths) -> Option<Self> {
        if watched(paths).any(|(folder, _)| is_remote(folder)) {
            return None;
        }
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let mut watcher = Self { events, paths: paths.clone(), folders: HashMap::new(), is_complete: false };
        watcher.follow();
        watcher.is_complete.then_some(watcher)
    }

    /// Waits for an event, and adds what it tells to `changes`. False when none came in time.
    pub(super) fn wait(&mut self, timeout: Option<Duration>, changes: &mut Changes) -> bool {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        loop {
            let came = poll(&mut [PollFd::new(&self.events, PollFlags::IN)], timeout.as_ref());
            match came {
                Ok(0) => return false,
                Ok(_) => break,
                Err(Errno::INTR) => {}
                // The system is short of something, and must not be asked without a pause.
                Err(_) => std::thread::sleep(BREATH),
            }
        }
        if self.read_events(changes) {
            // Folders that have come since are followed from now on.
            self.follow();
        }
        true
    }

    /// Takes all events there are. True if folders may have come or gone.
    fn read_events(&mut self, changes: &mut Changes) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.events, &mut buffer);
        let mut folders = false;
        while let Ok(event) = events.next() {
            folders |= event.events().intersects(ReadFlags::ISDIR | ReadFlags::QUEUE_OVERFLOW);
            if event.events().contains(ReadFlags::IGNORED) {
                // The folder is gone, of which the one it stood in tells.
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

    /// Whether we are told of all changes. Nothing tells that the folder of the project itself was removed while a process works
    /// in it, or that it is back: it is another one then, which is not watched yet.
    pub(super) fn is_complete(&self) -> bool {
        let root = inotify::add_watch(&self.events, &self.paths.root, CHANGES);
        self.is_complete && root.is_ok_and(|watch| self.folders.contains_key(&watch))
    }

    /// Watches the folders that are there. Those that are watched already stay so.
    pub(super) fn follow(&mut self) {
        let (paths, mut left) = (self.paths.clone(), MOST_FOLDERS);
        let (is_complete, shortage) = shortage::during(|| {
            let mut watched = watched(&paths);
            watched
                .all(|(folder, depth)| !look::is_folder(folder) || self.follow_one(folder, depth, &mut left))
        });
        self.is_complete = is_complete && shortage.is_none();
    }

    /// Watches a folder and those in it, of which `left` more may be.
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

/// How long to wait after the system could not wait for events.
const BREATH: Duration = Duration::from_millis(100);

/// What can change a catalog. A file counts as written when its writer closes it.
pub(super) const CHANGES: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Whether a folder is on a file system that others can change behind the kernel's back: NFS, SMB, 9P, AFS, Ceph and
/// what runs in user space.
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
