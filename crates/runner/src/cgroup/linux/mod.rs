//! Control groups (cgroup v2): if we are permitted to make groups below our own, each call runs in one. A process
//! cannot leave its group by forking, and one write to `cgroup.kill` kills all processes in it at once, even those of a
//! script that forks faster than we can list them.
//!
//! A call whose sandbox limits memory or processes has those limits in its group too (`limits`).
//!
//! They are not sufficient alone: a process that may write to the control groups of its user (root, or the user of a
//! delegated group) can move itself to another group. Such processes are found by their marks (`leftovers`).

mod limits;
mod memory;
pub use limits::powers;
pub(crate) use memory::memory_ran_out;
pub use memory::note_memory_kills;

use crate::{launch, random, warden};
use mcp_bash_files::shortage::is_shortage;
use mcp_bash_sandbox::GroupLimits;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long to wait for the processes of a group to end after they were killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// How often to check whether they have, if there is no event.
const EVENTS_TIMEOUT: Duration = Duration::from_millis(50);

/// How many unused groups are kept.
const MAX_SPARE: usize = 64;

/// The prefix of the names of our groups; our pid follows.
const PREFIX: &str = "mcp-bash.";

static GROUPS: LazyLock<Groups> = LazyLock::new(Groups::default);

/// The control groups of this process's calls.
#[derive(Default)]
struct Groups {
    /// Calls run without control groups from now on.
    given_up: AtomicBool,
    state: Mutex<GroupsState>,
}

#[derive(Default)]
struct GroupsState {
    /// The group that holds those of calls.
    parent: Option<PathBuf>,
    spare: Vec<CallGroup>,
    made: u32,
}

/// The control group of one call.
#[derive(Debug)]
pub(crate) struct CallGroup {
    path: PathBuf,
    folder: OwnedFd,
    /// `cgroup.events`: whether any process is in the group.
    events: File,
    limits: GroupLimits,
    /// It was killed once, and cannot be reused: the kernel kills a process that is started in such a group from
    /// outside it.
    was_killed: AtomicBool,
    /// It was empty and not frozen at the last check.
    is_reusable: AtomicBool,
}

/// Takes a control group that no call uses, and sets its limits. `None` if control groups are not available.
pub(crate) fn take(limits: GroupLimits) -> io::Result<Option<CallGroup>> {
    let Some(mut group) = take_any() else {
        let is_limited = limits != GroupLimits::default();
        let lost = "its limits need a control group, and none can be made any more";
        return if is_limited { Err(io::Error::other(lost)) } else { Ok(None) };
    };
    match group.set_limits(limits) {
        Ok(()) => Ok(Some(group)),
        Err(error) => {
            remove(&group.path);
            Err(io::Error::new(
                error.kind(),
                format!("failed to set the limits of its control group: {error}"),
            ))
        }
    }
}

fn take_any() -> Option<CallGroup> {
    if GROUPS.given_up.load(Ordering::Relaxed) {
        return None;
    }
    let mut state = GROUPS.state.lock();
    if let Some(spare) = state.spare.pop() {
        return Some(spare);
    }
    state.make_or_give_up()
}

/// Creates a group for a later call. A call that arrives meanwhile waits for it.
pub(crate) fn prepare() {
    if GROUPS.given_up.load(Ordering::Relaxed) {
        return;
    }
    let mut state = GROUPS.state.lock();
    if state.made > 0 {
        // A call was faster.
        return;
    }
    if let Some(group) = state.make_or_give_up()
        // Otherwise it is removed together with its parent.
        && launch::can_hold_processes(&group).unwrap_or(true)
    {
        state.spare.push(group);
    }
}

/// Whether calls of this process can run in control groups, tested by making one.
pub fn are_there() -> bool {
    let group = take_any();
    let are_there = group.is_some();
    if let Some(group) = group {
        group.give_back();
    }
    remove_all();
    are_there
}

/// Runs calls without control groups from now on: the user does not want them, or no process could be started in one.
pub fn give_up() {
    GROUPS.given_up.store(true, Ordering::Relaxed);
}

/// Removes the groups, when no call is running.
pub(crate) fn remove_all() {
    let mut state = GROUPS.state.lock();
    state.spare.clear();
    if let Some(parent) = state.parent.take() {
        remove(&parent);
    }
}

impl GroupsState {
    fn parent(&mut self) -> io::Result<&Path> {
        let parent = match &mut self.parent {
            Some(parent) => parent,
            none => none.insert(make_parent()?),
        };
        Ok(parent)
    }

    /// A new group. No other is tried after a failure, unless descriptors, memory or the like ran short, which passes.
    fn make_or_give_up(&mut self) -> Option<CallGroup> {
        let made = self.make();
        if made.as_ref().is_err_and(|error| !is_shortage(error)) {
            give_up();
        }
        made.ok()
    }

    fn make(&mut self) -> io::Result<CallGroup> {
        let number = self.made + 1;
        let path = self.parent()?.join(format!("call.{number}"));
        self.made = number;
        create(&path)?;
        CallGroup::open(path.clone()).inspect_err(|_| remove(&path))
    }
}

impl CallGroup {
    fn open(path: PathBuf) -> io::Result<Self> {
        let folder = open(&path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let events =
            openat(&folder, "cgroup.events", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?.into();
        // Kernels before 5.14 have no such file, and their groups are useless to us.
        openat(&folder, "cgroup.kill", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self {
            path,
            folder,
            events,
            limits: GroupLimits::default(),
            was_killed: AtomicBool::new(false),
            is_reusable: AtomicBool::new(false),
        })
    }

    /// The folder of the group, for `CLONE_INTO_CGROUP`.
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// The list of the processes in it.
    pub(crate) fn processes(&self) -> Option<File> {
        openat(&self.folder, "cgroup.procs", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .ok()
            .map(File::from)
    }

    /// Whether no process is in it. Costs a microsecond.
    #[expect(clippy::disallowed_methods, reason = "files of the kernel")]
    pub(crate) fn is_empty(&self) -> bool {
        let mut text = [0; 128];
        let count = self.events.read_at(&mut text, 0).unwrap_or(0);
        let says = |line: &[u8]| text[..count].split(|byte| *byte == b'\n').any(|said| said == line);
        self.is_reusable.store(says(b"populated 0") && says(b"frozen 0"), Ordering::Relaxed);
        says(b"populated 0") || fs::read(self.path.join("cgroup.procs")).is_ok_and(|list| list.is_empty())
    }

    /// Kills all processes in the group, and waits until they have ended. False if they do not end in time.
    pub(crate) fn kill(&self) -> bool {
        self.was_killed.store(true, Ordering::Relaxed);
        kill(&self.path) && self.wait_until_empty()
    }

    fn wait_until_empty(&self) -> bool {
        let deadline = Instant::now() + KILL_TIMEOUT;
        while !self.is_empty() {
            if Instant::now() >= deadline {
                return false;
            }
            wait_for_change(&self.events);
        }
        true
    }

    /// Keeps the group for another call, if it was empty and not frozen at the last [`Self::is_empty`];
    /// otherwise removes it.
    pub(crate) fn give_back(self) {
        let mut state = GROUPS.state.lock();
        if self.is_reusable.load(Ordering::Relaxed)
            && !self.was_killed.load(Ordering::Relaxed)
            && state.parent.is_some()
            && state.spare.len() < MAX_SPARE
        {
            state.spare.push(self);
        } else {
            drop(state);
            remove(&self.path);
        }
    }
}

/// Blocks until `cgroup.events` changes, for [`EVENTS_TIMEOUT`] at most.
fn wait_for_change(events: &File) {
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(EVENTS_TIMEOUT.subsec_nanos()) };
    let _ = poll(&mut [PollFd::new(events, PollFlags::PRI)], Some(&timeout));
}

/// Kills all processes in a group and in those below it.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
pub(crate) fn kill(group: &Path) -> bool {
    // Opened without creating it: a folder without such a file is not a control group.
    let file = fs::OpenOptions::new().write(true).open(group.join("cgroup.kill"));
    file.and_then(|mut file| file.write_all(b"1")).is_ok()
}

/// Kills all processes in a group, and removes it and those below it. For the warden.
pub(crate) fn end(group: &Path) {
    let deadline = Instant::now() + KILL_TIMEOUT;
    while kill(group) && group.is_dir() && Instant::now() < deadline {
        remove(group);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Removes a group and those below it. A group with processes in it stays.
fn remove(group: &Path) {
    let below = group.read_dir().into_iter().flatten().flatten();
    for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove(&entry.path());
    }
    let _ = fs::remove_dir(group);
}

/// Makes the group that holds those of calls, below the one that we are in.
fn make_parent() -> io::Result<PathBuf> {
    let ours = own_group().ok_or(io::ErrorKind::Unsupported)?;
    let path = ours.join(format!("{PREFIX}{}.{}", std::process::id(), random::hex::<4>()?));
    create(&path)?;
    limits::enable_controllers_again(&path).inspect_err(|_| remove(&path))?;
    remove_forgotten(ours);
    warden::end_group_with_us(&path);
    Ok(path)
}

/// Creates a group without pressure stall accounting, which the kernel would do whenever one of its processes sleeps.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn create(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    // Kernels before 6.1 cannot turn it off.
    let _ = fs::OpenOptions::new()
        .write(true)
        .open(path.join("cgroup.pressure"))
        .and_then(|mut file| file.write_all(b"0"));
    Ok(())
}

/// Removes the groups of servers that were killed together with their wardens. A group with processes in it
/// stays.
fn remove_forgotten(parent: &Path) {
    let names = parent.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
    for name in names.filter_map(|name| name.into_string().ok()) {
        let server = name.strip_prefix(PREFIX).and_then(|rest| rest.split('.').next()?.parse().ok());
        if server.and_then(Pid::from_raw).is_some_and(|server| test_kill_process(server) == Err(Errno::SRCH))
        {
            remove(&parent.join(name));
        }
    }
}

/// The folder of the control group that we were started in.
fn own_group() -> Option<&'static Path> {
    static OWN_GROUP: LazyLock<Option<PathBuf>> = LazyLock::new(find_own_group);
    OWN_GROUP.as_deref()
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn find_own_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| place_of(group, line, is_unified))
}

/// Whether a mount is the unified tree of cgroup v2.
fn is_unified(kind: &str) -> bool {
    kind.starts_with("cgroup2 ")
}

/// The path of a group, if this line of `mountinfo` is the mount of the tree it is in.
fn place_of(group: &str, mount: &str, is_tree: fn(&str) -> bool) -> Option<PathBuf> {
    let (mount, kind) = mount.split_once(" - ")?;
    if !is_tree(kind) {
        return None;
    }
    let mut fields = mount.split(' ').skip(3);
    let (root, place) = (fields.next()?, fields.next()?);
    // The mount may show only a part of the tree, below `root`.
    let below = Path::new(group).strip_prefix(root).ok()?;
    Some(Path::new(place).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_where_its_tree_is_mounted() {
        let place_of = |group: &str, mount: &str| place_of(group, mount, is_unified);
        let plain = "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
        let group = "/user.slice/app.scope";
        assert_eq!(place_of(group, plain), Some("/sys/fs/cgroup/user.slice/app.scope".into()));
        assert_eq!(place_of("/", plain), Some("/sys/fs/cgroup/".into()));
        let inside = "31 23 0:26 /user.slice /mnt/groups rw - cgroup2 none rw";
        assert_eq!(place_of(group, inside), Some("/mnt/groups/app.scope".into()));
        assert_eq!(place_of("/system.slice", inside), None);
        assert_eq!(place_of(group, "30 23 0:25 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu"), None);
    }
}
