//! Process groups: who is alive, and how they are ended.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The groups that are alive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups(Arc<Mutex<HashSet<Pid>>>);

impl Groups {
    /// Takes charge of the group that `leader` leads.
    pub(crate) fn enter(&self, leader: Pid) -> Group {
        self.with(|alive| alive.insert(leader));
        Group { leader, groups: self.clone() }
    }

    pub(crate) fn signal_all(&self, signal: Signal) {
        self.with(|alive| alive.iter().for_each(|leader| send(*leader, signal)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.with(|alive| alive.iter().all(|leader| is_gone(*leader)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashSet<Pid>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One group. When this value is dropped, every process of the group is killed.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    groups: Groups,
}

impl Group {
    pub(crate) fn terminate(&self) {
        send(self.leader, Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        send(self.leader, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        self.groups.with(|alive| alive.remove(&self.leader));
    }
}

fn send(leader: Pid, signal: Signal) {
    // A group without members is what we want to see in the end.
    let _ = kill_process_group(leader, signal);
}

fn is_gone(leader: Pid) -> bool {
    test_kill_process_group(leader) == Err(Errno::SRCH)
}
