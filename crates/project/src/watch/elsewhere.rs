//! Systems other than Linux tell of changes in ways of their own, which `notify` knows.

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
    /// Watches the folders of a project. `None` where we would not be told of all changes.
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

    /// Waits for an event, and adds what it tells to `changes`. False when none came in time.
    pub(super) fn wait(&mut self, timeout: Option<Duration>, changes: &mut Changes) -> bool {
        let came = match timeout {
            None => self.events.recv().is_ok(),
            Some(timeout) => self.events.recv_timeout(timeout).is_ok(),
        };
        if came {
            changes.add(None);
            // Folders that have come since are followed from now on.
            self.follow();
        }
        came
    }

    /// Whether we are told of all changes.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn follow(&mut self) {
        let watch = |(folder, depth): (&std::path::Path, usize)| {
            let mode = if depth == 0 { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
            !folder.is_dir() || self.system.watch(folder, mode).is_ok()
        };
        // All of them are watched, even where one cannot be.
        self.is_complete = watched(&self.paths).map(watch).filter(|is_watched| !is_watched).count() == 0;
    }
}
