//! What the warden does.

use super::ledger::{self, Contents};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

/// Waits for the server to be gone, kills what it left, removes its folder, and ends.
pub(super) fn run() -> ! {
    // Tools that list processes show this name. Without it ours would be that of the link we were started by.
    #[cfg(target_os = "linux")]
    let _ = std::fs::write("/proc/self/comm", "mcp-bash-warden");
    // Nobody ever writes to the pipe: it can only end.
    let _ = std::io::stdin().read(&mut [0]);
    if let Ok(ledger) = rustix::stdio::stdout().as_fd().try_clone_to_owned()
        && let Some(Contents { mark, folder, groups }) = ledger::read(&File::from(ledger))
    {
        // Their leaders were not buried when the server went a moment ago, so their numbers are their own.
        kill_groups(&groups);
        #[cfg(target_os = "linux")]
        marked::kill_all(&mark);
        #[cfg(not(target_os = "linux"))]
        drop(mark);
        if let Some(folder) = folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
    std::process::exit(0);
}

fn kill_groups(groups: &[Pid]) {
    for leader in groups {
        let _ = kill_process_group(*leader, Signal::KILL);
    }
}

#[cfg(target_os = "linux")]
mod marked {
    use crate::leftovers::proc;
    use crate::leftovers::process::{Process, kill_tree};
    use crate::mark::{Carried, Mark};
    use rustix::process::getpid;
    use std::time::{Duration, Instant};

    /// How long we go on, should there always be more.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// How long one round waits for its victims.
    const ROUND: Duration = Duration::from_millis(50);

    /// How many victims of a round are waited for. Others get their turn in the next.
    const AWAITED: usize = 64;

    /// Kills every process that carries the mark, until there is none.
    pub(super) fn kill_all(mark: &Mark) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut doomed = Vec::new();
            for process in alive(mark) {
                if kill_tree(&process) && doomed.len() < AWAITED {
                    doomed.push(process);
                }
            }
            let now = Instant::now();
            if doomed.is_empty() || now >= deadline {
                return;
            }
            for process in &doomed {
                process.wait(now + ROUND);
            }
        }
    }

    fn alive(mark: &Mark) -> impl Iterator<Item = Process> {
        let us = getpid();
        proc::all().filter(move |pid| *pid != us).filter_map(|pid| {
            // Held first and looked at then: what is killed is what was looked at.
            let process = Process::open(pid)?;
            let marked = matches!(mark.on(pid), Carried::Call(_)) && !proc::status(pid)?.is_dead();
            marked.then_some(process)
        })
    }
}
