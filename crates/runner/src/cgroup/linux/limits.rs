//! Limits of control groups: the memory and the number of processes of a call, for all of its processes together, also
//! under root.
//!
//! They need controllers that can be enabled for the groups of calls (`cgroup.subtree_control`): in a systemd unit with
//! `Delegate=yes`, in a container with a writable cgroup tree, or as root in the root group. The kernel enables
//! controllers below a group only if that group has no processes, so the server moves into a child group, unless its
//! own group holds foreign processes.

use super::{CallGroup, GROUPS, PREFIX, memory, own_group};
use mcp_bash_files::shortage::is_shortage;
use mcp_bash_sandbox::{GroupLimits, GroupPowers};
use parking_lot::Mutex;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

static POWERS: OnceLock<GroupPowers> = OnceLock::new();

/// The memory and pids controllers.
const NAMES: [&str; 2] = ["memory", "pids"];

/// The suffix of the name of the group that the server moves into.
const SERVER: &str = ".server";

/// The limits that the groups of calls support. The first use enables the controllers, as far as that is possible.
pub fn powers() -> GroupPowers {
    /// One thread tries at a time: the server moves meanwhile.
    static TRYING: Mutex<()> = Mutex::new(());
    let _trying = TRYING.lock();
    if let Some(powers) = POWERS.get() {
        return *powers;
    }
    if GROUPS.given_up.load(Ordering::Relaxed) {
        return *POWERS.get_or_init(GroupPowers::default);
    }
    let parent = GROUPS.state.lock().parent().map(Path::to_owned);
    let delegated = parent.and_then(|parent| {
        delegate_controllers(own_group().ok_or(io::ErrorKind::Unsupported)?)?;
        enable_controllers(&parent)?;
        memory::count_kills_in(&parent);
        words(&parent.join("cgroup.subtree_control"))
    });
    let delegated = match delegated {
        // It passes, and the next use tries again.
        Err(error) if is_shortage(&error) => return GroupPowers::default(),
        tried => tried.unwrap_or_default(),
    };
    let has = |name: &str| delegated.iter().any(|word| word == name);
    *POWERS.get_or_init(|| GroupPowers { memory: has(NAMES[0]), processes: has(NAMES[1]) })
}

/// Enables the controllers in a new parent of the groups of calls, if the previous parent had them.
pub(super) fn enable_controllers_again(parent: &Path) -> io::Result<()> {
    match POWERS.get() {
        Some(powers) if *powers != GroupPowers::default() => enable_controllers(parent),
        _ => Ok(()),
    }
}

impl CallGroup {
    /// Sets the limits of the next call.
    pub(super) fn set_limits(&mut self, limits: GroupLimits) -> io::Result<()> {
        if self.limits == limits {
            return Ok(());
        }
        // If a write fails, no limit is known to be set, and all of them are written again.
        let before = std::mem::replace(&mut self.limits, GroupLimits { memory: Some(0), processes: Some(0) });
        if before.memory != limits.memory {
            write(&self.path.join("memory.max"), &value(limits.memory))?;
            // Otherwise the processes would go on in swap space. Kernels without swap have no such file.
            let swap = if limits.memory.is_some() { "0" } else { "max" };
            let _ = write(&self.path.join("memory.swap.max"), swap);
        }
        if before.processes != limits.processes {
            write(&self.path.join("pids.max"), &value(limits.processes))?;
        }
        self.limits = limits;
        Ok(())
    }
}

fn value(limit: Option<u64>) -> String {
    limit.map_or_else(|| "max".to_owned(), |limit| limit.to_string())
}

/// Enables the controllers of our group for the groups below it.
fn delegate_controllers(ours: &Path) -> io::Result<()> {
    match enable_controllers(ours) {
        // The group has processes, which matters everywhere but in the root group.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
        done => return done,
    }
    let beside = words(&ours.join("cgroup.procs"))?;
    let us = std::process::id().to_string();
    if !beside.iter().all(|pid| is_ours(pid, &us)) {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    let server = ours.join(format!("{PREFIX}{us}{SERVER}"));
    fs::create_dir(&server)?;
    let moved = move_into(&server, &beside).and_then(|()| enable_controllers(ours));
    if moved.is_err() {
        let _ = move_into(ours, &beside);
        let _ = fs::remove_dir(&server);
    }
    moved
}

/// Enables all available controllers of a group for the groups below it.
fn enable_controllers(group: &Path) -> io::Result<()> {
    let has = words(&group.join("cgroup.controllers"))?;
    let enabled = words(&group.join("cgroup.subtree_control"))?;
    let missing = NAMES.into_iter().filter(|name| has.iter().any(|word| word == name));
    for name in missing.filter(|name| !enabled.iter().any(|word| word == name)) {
        write(&group.join("cgroup.subtree_control"), &format!("+{name}"))?;
    }
    Ok(())
}

fn move_into(group: &Path, pids: &[String]) -> io::Result<()> {
    for pid in pids {
        match write(&group.join("cgroup.procs"), pid) {
            // It has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            moved => moved?,
        }
    }
    Ok(())
}

/// Whether a process is this one, one of its descendants, or has ended.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn is_ours(pid: &str, us: &str) -> bool {
    let mut pid = pid.to_owned();
    while pid != us {
        let Ok(status) = fs::read_to_string(Path::new("/proc").join(&pid).join("status")) else {
            return true;
        };
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap_or_default().trim();
        if ["", "0"].contains(&parent) {
            return false;
        }
        parent.clone_into(&mut pid);
    }
    true
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn words(file: &Path) -> io::Result<Vec<String>> {
    Ok(fs::read_to_string(file)?.split_whitespace().map(ToOwned::to_owned).collect())
}

/// Writes to a file of the kernel, without creating it.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn write(file: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}
