//! Foreign process: started by another process, and held by a pidfd so that no signal meant for it can reach another
//! one.

use super::proc;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// A process. Pids are reused, but a pidfd always means the same process.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    /// `None` if the system has no pidfds. Then the pid has to do.
    pidfd: Option<OwnedFd>,
}

impl Process {
    /// `None` when there is no process with this pid.
    pub(crate) fn open(pid: Pid) -> Option<Self> {
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Some(Self { pid, pidfd: Some(pidfd) }),
            Err(Errno::SRCH) => None,
            Err(_) => Some(Self { pid, pidfd: None }),
        }
    }

    /// False when we are not permitted to signal it. True also when it has ended.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let sent = match &self.pidfd {
            Some(pidfd) => pidfd_send_signal(pidfd, signal),
            None => kill_process(self.pid, signal),
        };
        sent != Err(Errno::PERM)
    }

    /// Blocks until it has ended, or until the deadline.
    pub(crate) fn wait(&self, deadline: Instant) {
        let Some(pidfd) = &self.pidfd else {
            while proc::status(self.pid).is_some_and(|status| !status.is_dead()) && Instant::now() < deadline
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            return;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if let Ok(left) = left.try_into() {
            let _ = poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&left));
        }
    }
}

/// How many pidfds are held at a time, so that a call with very many processes does not use up our
/// descriptors.
const MOST_HELD: usize = 200;

/// Kills a process and all its descendants. False when we are not permitted to.
///
/// Each process is stopped before its children are listed, so that no more of them appear before they are killed, and
/// none has lost its parent. A process that is missed becomes an orphan when its parent is dead, and is found as such.
pub(crate) fn kill_tree(root: &Process) -> bool {
    if !root.signal(Signal::STOP) {
        return false;
    }
    let mut pending = children(root.pid);
    let mut stopped = Vec::new();
    while let Some((pid, parent)) = pending.pop() {
        // The warden is a child of the server, whose pipe has closed but which may not have ended yet.
        if pid != getpid()
            && let Some(process) = Process::open(pid)
            && proc::status(pid).is_some_and(|status| status.parent == Some(parent))
            && process.signal(Signal::STOP)
        {
            pending.extend(children(pid));
            stopped.push(process);
        }
        if stopped.len() >= MOST_HELD {
            kill(&mut stopped);
        }
    }
    kill(&mut stopped);
    root.signal(Signal::KILL)
}

/// The children of a process, each with its parent.
fn children(parent: Pid) -> Vec<(Pid, Pid)> {
    proc::children(parent).into_iter().map(|child| (child, parent)).collect()
}

fn kill(stopped: &mut Vec<Process>) {
    for process in stopped.drain(..) {
        process.signal(Signal::KILL);
    }
}
