//! Warden process: its main function.

use super::ledger::{self, Cleanup, Contents};
use crate::cgroup;
use crate::folders::remove::remove_folder;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// The longest pause between attempts to remove a folder. After it, the folder is left.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// Waits until the server has ended, kills the processes it left, removes its folder, and exits.
pub(super) fn run() -> ! {
    // Shown by tools that list processes. Without it the name would be that of the link `/proc/self/exe`.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    let _ = rustix::thread::set_name(c"mcp-bash-warden");
    // A client that terminates its server may signal the whole process tree. The warden is needed after that.
    crate::system_calls::ignore_termination_signals();
    // They were blocked while the warden shared the server's memory.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    crate::system_calls::unblock_signals();
    // Nothing is ever written to the pipe: the read returns when the server has ended.
    let _ = std::io::stdin().read(&mut [0]);
    if let Ok(ledger) = rustix::stdio::stdout().as_fd().try_clone_to_owned()
        && let Some(Contents { mark, cleanups, groups }) = ledger::read(&File::from(ledger))
    {
        for cleanup in &cleanups {
            if let Cleanup::Group(group) = cleanup {
                cgroup::end(group);
            }
        }
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        {
            // Their leaders were not reaped when the server ended a moment ago, so their pids were not reused.
            kill_groups(&groups);
            super::kill_marked::kill_all(&mark);
        }
        // The groups and what they have started, found in the process table. Afterwards the ids of the groups may be those
        // of others, so they are signalled only if there is no table, and then at once.
        #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
        if !crate::leftovers::kill_remains(&mark, &groups) {
            kill_groups(&groups);
        }
        for cleanup in &cleanups {
            if let Cleanup::Folder(folder) = cleanup {
                remove_for_good(folder);
            }
        }
    }
    std::process::exit(0);
}

/// Removes a folder, and again while a process that is about to exit writes to it. For example, a server that a killed
/// command had started exits at the end of its input, and writes its registry before.
fn remove_for_good(folder: &Path) {
    let mut pause = Duration::from_millis(10);
    loop {
        remove_folder(folder);
        if pause > LONGEST_PAUSE || !folder.exists() {
            return;
        }
        std::thread::sleep(pause);
        pause *= 2;
    }
}

fn kill_groups(groups: &[Pid]) {
    for leader in groups {
        let _ = kill_process_group(*leader, Signal::KILL);
    }
}
