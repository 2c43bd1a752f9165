//! Waits for a project to change.

use crate::Paths;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a project must be quiet before it is read again: an editor's save is several events, a checkout thousands.
const QUIET: Duration = Duration::from_millis(50);

/// How long a project that is never quiet is left unread.
const PATIENCE: Duration = Duration::from_millis(500);

/// Calls `on_change` whenever the project may have changed, in a thread of its own. Where the file system tells us
/// nothing, it is called every `interval`.
pub fn watch(
    paths: Paths,
    interval: Duration,
    on_change: impl FnMut() + Send + 'static,
) -> std::io::Result<()> {
    std::thread::Builder::new().name("project".into()).spawn(move || attend(&paths, interval, on_change))?;
    Ok(())
}

fn attend(paths: &Paths, interval: Duration, mut on_change: impl FnMut()) {
    let (sender, events) = channel();
    let told = move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
            // The receiver lives as long as the thread that owns this watcher.
            let _ = sender.send(());
        }
    };
    let Ok(mut watcher) = notify::recommended_watcher(told) else { return poll(interval, on_change) };
    if !follow(&mut watcher, paths) {
        return poll(interval, on_change);
    }
    // What changed between the first reading and now was told to nobody.
    on_change();
    while events.recv().is_ok() {
        settle(&events);
        // Folders that have come since are followed from now on.
        follow(&mut watcher, paths);
        on_change();
    }
}

/// Watches the folders of a project that are there. False where the project itself cannot be watched.
fn follow(watcher: &mut RecommendedWatcher, paths: &Paths) -> bool {
    let mut watch = |folder: &Path, mode| watcher.watch(folder, mode).is_ok();
    let root = watch(&paths.root, RecursiveMode::NonRecursive);
    let tools = !paths.tools.is_dir() || watch(&paths.tools, RecursiveMode::Recursive);
    let server = !paths.server.is_dir() || watch(&paths.server, RecursiveMode::Recursive);
    root && tools && server
}

/// Waits until no more events come, or until they have come for too long.
fn settle(events: &Receiver<()>) {
    let start = std::time::Instant::now();
    while start.elapsed() < PATIENCE {
        if matches!(
            events.recv_timeout(QUIET),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)
        ) {
            return;
        }
    }
}

fn poll(interval: Duration, mut on_change: impl FnMut()) {
    loop {
        std::thread::sleep(interval);
        on_change();
    }
}
