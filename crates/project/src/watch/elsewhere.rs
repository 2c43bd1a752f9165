//! File watching on systems other than Linux, through `notify`.

use super::Changes;
use super::watched::watched;
use crate::Paths;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub(super) struct Watcher {
    events: Receiver<()>,
    system: RecommendedWatcher,
    paths: Paths,
    /// Whether all folders are watched.
    is_complete: bool,
}

impl Watcher {
    /// Watches the folders of a project. `None` if we would not be notified of all changes.
    pub(super) fn new(paths: &Paths) -> Option<Self> {
        let (sender, events) = channel();
        let told = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
                // The receiver lives as long as this watcher.
                let _ = sender.send(());
            }
        };
        let system = notify::recommended_watcher(told).ok()?;
        let mut watcher = Self { events, system, paths: paths.clone(), is_complete: false };
        watcher.follow();
        watcher.is_complete.then_some(watcher)
    }

    /// Waits for an event, and adds it to `changes`. False if none came before the timeout.
    pub(super) fn wait(&mut self, timeout: Option<Duration>, changes: &mut Changes) -> bool {
        let came = match timeout {
            None => self.events.recv().is_ok(),
            Some(timeout) => self.events.recv_timeout(timeout).is_ok(),
        };
        if came {
            changes.add(None);
            // New folders are watched from now on.
            self.follow();
        }
        came
    }

    /// Whether we are notified of all changes.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn follow(&mut self) {
        let watch = |(folder, depth): (&std::path::Path, usize)| {
            let mode = if depth == 0 { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
            !folder.is_dir() || self.system.watch(folder, mode).is_ok()
        };
        // Watches all of them, even if one fails.
        self.is_complete = watched(&self.paths).map(watch).filter(|is_watched| !is_watched).count() == 0;
    }
}
