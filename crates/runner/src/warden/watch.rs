//! What the warden does.

use super::ledger::{self, Contents, Good};
use crate::cgroup;
use crate::remove::remove_folder;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

/// Waits for the server to be gone, kills what it left, removes its folder, and ends.
pub(super) fn run() -> ! {
    // Tools that list processes show this name. Without it ours would be that of the link we were started by.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"mcp-bash-warden");
    // Nobody ever writes to the pipe: it can only end.
    let _ = std::io::stdin().read(&mut [0]);
    if let Ok(ledger) = rustix::stdio::stdout().as_fd().try_clone_to_owned()
        && let Some(Contents { mark, goods, groups }) = ledger::read(&File::from(ledger))
    {
        for good in &goods {
            if let Good::Group(group) = good {
                cgroup::end(group);
            }
        }
        // Their leaders were not reaped when the server went a moment ago, so their numbers are their own.
        kill_groups(&groups);
        #[cfg(target_os = "linux")]
        super::hunt::kill_all(&mark);
        #[cfg(not(target_os = "linux"))]
        drop(mark);
        for good in &goods {
            if let Good::Folder(folder) = good {
                remove_folder(folder);
            }
        }
    }
    std::process::exit(0);
}

fn kill_groups(groups: &[Pid]) {
    for leader in groups {
        let _ = kill_process_group(*leader, Signal::KILL);
    }
}
