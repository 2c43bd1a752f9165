//! A process somebody else started, held so that no signal meant for it can reach another one.

use super::proc;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// A process. The numbers of processes are used again; what this stands for is always the same one.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    /// `None` where the system has no such handles. The number has to do there.
    handle: Option<OwnedFd>,
}

impl Process {
    /// `None` when there is none of that number.
    pub(crate) fn open(pid: Pid) -> Option<Self> {
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Some(Self { pid, handle: Some(handle) }),
            Err(Errno::SRCH) => None,
            Err(_) => Some(Self { pid, handle: None }),
        }
    }

    /// False when it is not ours to signal. One that is gone needs none.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let sent = match &self.handle {
            Some(handle) => pidfd_send_signal(handle, signal),
            None => kill_process(self.pid, signal),
        };
        sent != Err(Errno::PERM)
    }

    /// Blocks until it has ended, or until the deadline.
    pub(crate) fn wait(&self, deadline: Instant) {
        let Some(handle) = &self.handle else {
            while proc::status(self.pid).is_some_and(|status| !status.is_dead()) && Instant::now() < deadline
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            return;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if let Ok(left) = left.try_into() {
            let _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&left));
        }
    }
}

/// How many processes are held at a time, so that a call with very many does not use up our descriptors.
const MOST_HELD: usize = 200;

/// Kills a process and all that descend from it. False when it is not ours to kill.
///
/// Each is stopped before its children are listed, so that there are no more of them by the time they are killed, and
/// none has lost its parent. What slips through is an orphan when its parent is dead, and found as one.
pub(crate) fn kill_tree(root: &Process) -> bool {
    if !root.signal(Signal::STOP) {
        return false;
    }
    let mut pending = children(root.pid);
    let mut stopped = Vec::new();
    while let Some((pid, parent)) = pending.pop() {
        // The warden descends from a server whose end it has seen, but which is not quite dead yet.
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
