//! Project watcher: waits for a project to change.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod inotify;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use inotify::Watcher;

mod file;
#[cfg_attr(any(not(target_os = "linux"), mcp_bash_portable), path = "folders_elsewhere.rs")]
mod folders;
mod watched;
pub use file::{Looks, WatchedFile};
pub use folders::Folders;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere::Watcher;

use crate::{Paths, Pauses};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// As much as the main thread has, which reads the project first: files may be deeply nested. Only the part that is used
/// takes memory.
const STACK: usize = 8 * 1024 * 1024;

/// How long a project must be quiet before it is read again: an editor's save is several events, a checkout thousands.
const QUIET: Duration = Duration::from_millis(50);

/// The longest a project that is never quiet stays unread.
const TIMEOUT: Duration = Duration::from_millis(500);

/// How long after the start the whole project is read once more: a server that has just started is busy.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// How long after a panic the same changes are tried again.
const AFTER_PANIC: Duration = Duration::from_secs(1);

/// How often a project is read that has folders which cannot be watched.
const UNWATCHED: Duration = Duration::from_secs(3);

/// The longest pause between attempts to watch a project that is polled.
const RARELY: Duration = Duration::from_secs(60);

/// What may have changed.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The folders whose files may have changed; `None` if anything may have.
    folders: Option<BTreeSet<PathBuf>>,
}

impl Changes {
    /// Anything may have changed.
    pub fn anywhere() -> Self {
        Self::default()
    }

    /// Only these files may have changed.
    pub fn to_files<'a>(files: impl IntoIterator<Item = &'a Path>) -> Self {
        let folders = files.into_iter().filter_map(Path::parent).map(Path::to_owned);
        Self { folders: Some(folders.collect()) }
    }

    /// Whether the place of the change is unknown.
    pub fn is_anywhere(&self) -> bool {
        self.folders.is_none()
    }

    /// The folders whose files may have changed, if they are known.
    pub(crate) fn folders(&self) -> Option<&BTreeSet<PathBuf>> {
        self.folders.as_ref()
    }

    fn nowhere() -> Self {
        Self { folders: Some(BTreeSet::new()) }
    }

    fn add(&mut self, folder: Option<&Path>) {
        match (folder, &mut self.folders) {
            (Some(folder), Some(folders)) => {
                folders.insert(folder.to_owned());
            }
            _ => self.folders = None,
        }
    }
}

/// Whether the file system reports changes of a project, so that it need not be polled.
pub fn tells_of_changes(paths: &Paths) -> bool {
    Watcher::new(paths).is_some()
}

/// Calls `on_change` whenever the project may have changed, in a thread of its own, and `on_notice` as soon as a call of
/// `on_change` is due. If the file system reports no changes, it is called every `interval`. If the changes could not be
/// applied, `on_change` returns after how long it is to be called again with the same ones. If it panics, it is called
/// again as well: the thread stays.
pub fn watch(
    paths: Paths,
    interval: Duration,
    on_notice: impl Fn() + Send + 'static,
    mut on_change: impl FnMut(&Changes) -> Option<Duration> + Send + 'static,
) -> std::io::Result<()> {
    let on_change = move |changes: &Changes| {
        let changed = catch_unwind(AssertUnwindSafe(|| on_change(changes)));
        changed.unwrap_or(Some(AFTER_PANIC))
    };
    std::thread::Builder::new()
        .name("project".into())
        .stack_size(STACK)
        .spawn(move || attend(&paths, interval, on_notice, on_change))?;
    Ok(())
}

fn attend(
    paths: &Paths,
    interval: Duration,
    on_notice: impl Fn(),
    mut on_change: impl FnMut(&Changes) -> Option<Duration>,
) -> ! {
    let mut pauses = Pauses::new(interval, RARELY);
    loop {
        if let Some(mut watcher) = Watcher::new(paths) {
            follow(&mut watcher, on_notice, on_change);
        }
        // The system may be short of watches now, and have some later.
        let until = Instant::now() + pauses.lengthen();
        let mut pause = interval;
        while Instant::now() < until {
            std::thread::sleep(pause);
            pause = on_change(&Changes::anywhere()).map_or(interval, |left| left.min(interval));
        }
    }
}

fn follow(
    watcher: &mut Watcher,
    on_notice: impl Fn(),
    mut on_change: impl FnMut(&Changes) -> Option<Duration>,
) -> ! {
    // Changes between the first reading and now were not reported, so the first time it may be anything.
    let mut changes = Changes::anywhere();
    watcher.wait(Some(SECOND_LOOK), &mut changes);
    loop {
        on_notice();
        settle(watcher, &mut changes);
        loop {
            let left = on_change(&changes);
            if left.is_none() {
                changes = Changes::nowhere();
            }
            // Folders that cannot be watched are polled.
            let unwatched = (!watcher.is_complete()).then_some(UNWATCHED);
            let pause = left.into_iter().chain(unwatched).min();
            if watcher.wait(pause, &mut changes) {
                break;
            }
            if unwatched.is_some() {
                watcher.follow();
                changes = Changes::anywhere();
            }
        }
    }
}

/// Waits until no more events come, or until they have come for too long.
fn settle(watcher: &mut Watcher, changes: &mut Changes) {
    let start = Instant::now();
    while start.elapsed() < TIMEOUT && watcher.wait(Some(QUIET), changes) {}
}
