//! Folder watching: waits for changes in single folders, those of watched files, wherever they are.

use super::{QUIET, TIMEOUT};
use parking_lot::{Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Followed folders. A folder that is followed twice has to be left twice.
#[derive(Debug)]
pub struct Folders {
    events: Arc<OwnedFd>,
    followed: Arc<Mutex<Followed>>,
}

#[derive(Debug, Default)]
struct Followed {
    /// The watch descriptor of each folder, and how many follow it.
    folders: HashMap<PathBuf, (i32, usize)>,
    /// The paths by which the folder of a watch descriptor is followed.
    names: HashMap<i32, BTreeSet<PathBuf>>,
}

impl Folders {
    /// Calls `on_change` with the folders that have changed, once they are quiet, in a thread of its own. A folder that is
    /// gone is among them, and is no longer followed.
    pub fn watch(on_change: impl FnMut(&BTreeSet<PathBuf>) + Send + 'static) -> io::Result<Self> {
        let events = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        let followed = Arc::<Mutex<Followed>>::default();
        let (read, shared) = (Arc::clone(&events), Arc::clone(&followed));
        std::thread::Builder::new()
            .name("folders".into())
            .stack_size(256 * 1024)
            .spawn(move || attend(&read, &shared, on_change))?;
        Ok(Self { events, followed })
    }

    /// Follows a folder. False if we would not be notified of all changes.
    pub fn follow(&self, folder: &Path) -> bool {
        let mut followed = lock(&self.followed);
        if let Some((_, count)) = followed.folders.get_mut(folder) {
            *count += 1;
            return true;
        }
        if super::inotify::is_remote(folder) {
            return false;
        }
        // A subscriber wants changes even while the writer keeps the file open.
        let Ok(watch) =
            inotify::add_watch(&*self.events, folder, super::inotify::CHANGES | WatchFlags::MODIFY)
        else {
            return false;
        };
        followed.folders.insert(folder.to_owned(), (watch, 1));
        followed.names.entry(watch).or_default().insert(folder.to_owned());
        true
    }

    pub fn leave(&self, folder: &Path) {
        let mut followed = lock(&self.followed);
        let Some((watch, count)) = followed.folders.get_mut(folder) else { return };
        *count -= 1;
        let (watch, count) = (*watch, *count);
        if count > 0 {
            return;
        }
        followed.folders.remove(folder);
        if let Some(names) = followed.names.get_mut(&watch) {
            names.remove(folder);
            if names.is_empty() {
                followed.names.remove(&watch);
                let _ = inotify::remove_watch(&*self.events, watch);
            }
        }
    }

    /// Whether a folder is followed.
    pub fn follows(&self, folder: &Path) -> bool {
        lock(&self.followed).folders.contains_key(folder)
    }
}

fn lock(followed: &Mutex<Followed>) -> MutexGuard<'_, Followed> {
    followed.lock()
}

fn attend(events: &OwnedFd, followed: &Mutex<Followed>, mut on_change: impl FnMut(&BTreeSet<PathBuf>)) {
    loop {
        let mut changed = BTreeSet::new();
        wait(events, None);
        let start = Instant::now();
        loop {
            read(events, followed, &mut changed);
            if start.elapsed() >= TIMEOUT || !wait(events, Some(QUIET)) {
                break;
            }
        }
        if !changed.is_empty() {
            // A callback that panics misses this change, but none of the later ones.
            let _ = catch_unwind(AssertUnwindSafe(|| on_change(&changed)));
        }
    }
}

/// Waits for events. False if none came before the timeout.
fn wait(events: &OwnedFd, timeout: Option<Duration>) -> bool {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    loop {
        match poll(&mut [PollFd::new(events, PollFlags::IN)], timeout.as_ref()) {
            Ok(came) => return came > 0,
            Err(_) if timeout.is_some() => return false,
            Err(_) => {}
        }
    }
}

/// Reads all pending events.
fn read(events: &OwnedFd, followed: &Mutex<Followed>, changed: &mut BTreeSet<PathBuf>) {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(events, &mut buffer);
    while let Ok(event) = reader.next() {
        let mut followed = lock(followed);
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            changed.extend(followed.folders.keys().cloned());
        }
        if event.events().contains(ReadFlags::IGNORED) {
            let names = followed.names.remove(&event.wd()).unwrap_or_default();
            followed.folders.retain(|folder, _| !names.contains(folder));
            changed.extend(names);
            continue;
        }
        if let Some(names) = followed.names.get(&event.wd()) {
            changed.extend(names.iter().cloned());
        }
        if event.events().contains(ReadFlags::MOVE_SELF) {
            // The folder was renamed. Removing its watch sends the same event as for a folder that is gone.
            let _ = inotify::remove_watch(events, event.wd());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn followed_folders_tell_of_changes_until_they_are_left() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (temp.path().join("one"), temp.path().join("other"));
        for folder in [&one, &other] {
            std::fs::create_dir(folder).unwrap();
        }
        let (sender, receiver) = channel();
        let folders = Folders::watch(move |changed| sender.send(changed.clone()).unwrap()).unwrap();
        assert!(folders.follow(&one) && folders.follow(&one) && folders.follow(&other));
        assert!(!folders.follow(&temp.path().join("none")));
        folders.leave(&one);
        std::fs::write(one.join("file"), "x").unwrap();
        assert_eq!(receiver.recv().unwrap(), BTreeSet::from([one.clone()]));
        folders.leave(&one);
        std::fs::write(one.join("file"), "y").unwrap();
        std::fs::remove_dir(&other).unwrap();
        assert_eq!(receiver.recv().unwrap(), BTreeSet::from([other.clone()]));
        assert!(!folders.follows(&other) && !folders.follows(&one));
    }
}
