//! Waits for a project to change.

#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
use inotify::Watcher;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere::Watcher;

use crate::Paths;
use std::time::{Duration, Instant};

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
    std::thread::Builder::new()
        .name("project".into())
        .stack_size(512 * 1024)
        .spawn(move || attend(&paths, interval, on_change))?;
    Ok(())
}

fn attend(paths: &Paths, interval: Duration, mut on_change: impl FnMut()) {
    let Some(mut watcher) = Watcher::new(paths) else { return poll(interval, on_change) };
    // What changed between the first reading and now was told to nobody.
    on_change();
    while watcher.wait(None) {
        settle(&mut watcher);
        on_change();
    }
}

/// Waits until no more events come, or until they have come for too long.
fn settle(watcher: &mut Watcher) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE && watcher.wait(Some(QUIET)) {}
}

fn poll(interval: Duration, mut on_change: impl FnMut()) {
    loop {
        std::thread::sleep(interval);
        on_change();
    }
}
