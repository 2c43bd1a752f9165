//! Questions that are files: written elsewhere and moved into place, or written in place and closed.

use super::{Desk, LONGEST, Question, Way};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How the name of a question ends; what stands before it is the key of its call.
pub(super) const SUFFIX: &str = ".request";

#[cfg(target_os = "linux")]
pub(super) fn watch(desk: &Arc<Desk>) -> io::Result<()> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use tokio::io::unix::AsyncFd;

    let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    add_watch(&events, &desk.folder, WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR)?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
    )]
    let events = AsyncFd::with_interest(events, tokio::io::Interest::READABLE)?;
    let desk = Arc::downgrade(desk);
    tokio::spawn(async move {
        while let Ok(mut ready) = events.readable().await {
            let names = names(events.get_ref());
            ready.clear_ready();
            let Some(desk) = desk.upgrade() else { return };
            for name in names {
                take(&desk, &name);
            }
        }
    });
    Ok(())
}

/// The names of the files that events tell of.
#[cfg(target_os = "linux")]
fn names(events: &std::os::fd::OwnedFd) -> Vec<String> {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = rustix::fs::inotify::Reader::new(events, &mut buffer);
    let mut names = Vec::new();
    while let Ok(event) = reader.next() {
        names.extend(event.file_name().and_then(|name| name.to_str().ok()).map(str::to_owned));
    }
    names
}

/// Elsewhere somebody has to look now and then.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch(desk: &Arc<Desk>) -> io::Result<()> {
    let desk = Arc::downgrade(desk);
    tokio::spawn(async move {
        while let Some(desk) = desk.upgrade() {
            let keys: Vec<String> = desk.lock().keys().cloned().collect();
            for key in keys {
                take(&desk, &format!("{key}{SUFFIX}"));
            }
            drop(desk);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    });
    Ok(())
}

/// Takes the question of that name, if it is one.
fn take(desk: &Desk, name: &str) -> Option<()> {
    let asking = desk.find(name.strip_suffix(SUFFIX)?)?;
    let path = desk.folder.join(name);
    let text = read(&path)?;
    let _ = std::fs::remove_file(&path);
    let (question, awaited) = Question::new(text, Way::File);
    asking.questions.send(question).ok()?;
    let response = asking.response_file;
    tokio::spawn(async move {
        if let Ok(answer) = awaited.await {
            // Moved into place, so that nobody reads half of it.
            let draft = response.with_extension("draft");
            let _ = std::fs::write(&draft, answer).and_then(|()| std::fs::rename(&draft, &response));
        }
    });
    Some(())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(LONGEST as u64 + 1).read_to_end(&mut text).ok()?;
    (!text.is_empty() && text.len() <= LONGEST).then_some(text)
}
