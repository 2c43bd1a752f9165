//! Question files on Linux, through `inotify`.

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The inotify instance that watches the folders of calls.
#[derive(Debug)]
pub(super) struct Events(AsyncFd<OwnedFd>);

impl Events {
    /// `None` if the user has no instance left, which other programs need too.
    pub(super) fn new() -> Option<Self> {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
        )]
        AsyncFd::with_interest(events, Interest::READABLE).ok().map(Self)
    }

    /// Watches a folder until it is removed, and returns the watch descriptor. A folder that is watched already keeps its
    /// descriptor. `None` if the user has no watch left.
    pub(super) fn watch(&self, folder: &Path) -> Option<i32> {
        let events = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        add_watch(self.0.get_ref(), folder, events).ok()
    }

    /// Waits for events, and returns the folders where a file of that name was written or moved to.
    pub(super) async fn next(&self, name: &str) -> io::Result<Vec<i32>> {
        let mut ready = self.0.readable().await?;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(self.0.get_ref(), &mut buffer);
        let mut found = Vec::new();
        while let Ok(event) = reader.next() {
            let is_named = event.file_name().is_some_and(|file| file.to_bytes() == name.as_bytes());
            found.extend(is_named.then(|| event.wd()));
        }
        ready.clear_ready();
        Ok(found)
    }
}
