//! File events: whether Linux reports a changed file, tested by creating one.

use super::trial::trial_folder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use std::path::Path;

/// The timeout for an event.
const TIMEOUT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// `None` if no file can be created in `parent`, which says nothing about events.
pub(super) fn try_them(parent: &Path) -> Option<Result<(), String>> {
    let folder = trial_folder(parent).ok()?;
    let told = is_told(&folder);
    // Leftovers do no harm.
    let _ = std::fs::remove_dir_all(&folder);
    Some(told)
}

fn is_told(folder: &Path) -> Result<(), String> {
    let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|error| error.to_string())?;
    add_watch(&events, folder, WatchFlags::CREATE).map_err(|error| error.to_string())?;
    mcp_bash_files::create_new(&folder.join("changed"), 0o600).map_err(|error| error.to_string())?;
    match poll(&mut [PollFd::new(&events, PollFlags::IN)], Some(&TIMEOUT)) {
        Ok(0) => Err("no event came".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
