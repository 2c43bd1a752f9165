//! Lists of children, and limits: the part of `/proc` that only the code for Linux reads.

use super::{all, is_readable, numbers_in, pid, read, status, whole};
use rustix::process::{Pid, getpid};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;

/// The soft and the hard limit on file locks, for a process on which `prlimit` is not permitted.
pub(crate) fn limits_on_locks(process: Pid) -> Option<(u64, u64)> {
    let table = read(process, "limits")?;
    let start = memchr::memmem::find(&table, b"Max file locks")? + "Max file locks".len();
    let mut limits = std::str::from_utf8(&table[start..]).ok()?.split_ascii_whitespace();
    let mut next = || limits.next().map(|limit| limit.parse().unwrap_or(u64::MAX));
    Some((next()?, next()?))
}

/// The children of a process. Empty if the kernel is built without lists of children.
pub(crate) fn children(process: Pid) -> Vec<Pid> {
    numbers_in(&format!("/proc/{}/task", process.as_raw_nonzero()))
        .flat_map(|thread| children_of_thread(process, thread))
        .collect()
}

fn children_of_thread(process: Pid, thread: Pid) -> Vec<Pid> {
    let list = read(process, &format!("task/{}/children", thread.as_raw_nonzero()));
    list.map_or_else(Vec::new, |list| pids(&list))
}

/// The list of the children of our main thread, to which orphans are given. `None` if the kernel is built without such
/// lists.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
static OUR_CHILDREN: LazyLock<Option<File>> = LazyLock::new(|| {
    let us = getpid().as_raw_nonzero();
    is_readable().then(|| File::open(format!("/proc/{us}/task/{us}/children")).ok()).flatten()
});

/// Whether it is certain that no orphan has become our child. Reads the beginning of the list, which is usually all of
/// it.
pub(crate) fn adopted_none(is_no_orphan: impl Fn(Pid) -> bool) -> bool {
    let mut start = [0; 512];
    let Some(count) = OUR_CHILDREN.as_ref().and_then(|list| list.read_at(&mut start, 0).ok()) else {
        return false;
    };
    count < start.len() && pids(&start[..count]).into_iter().all(is_no_orphan)
}

/// Our children: orphans, and possibly processes we have started. When another thread reaps one while the list is read,
/// the next one may be missing.
pub(crate) fn adopted() -> Vec<Pid> {
    let Some(list) = &*OUR_CHILDREN else {
        let is_ours = |pid: &Pid| status(*pid).is_some_and(|status| status.parent == Some(getpid()));
        return all().filter(is_ours).collect();
    };
    pids(&whole(list))
}

/// The pids in a list.
pub(crate) fn pids_in(list: &File) -> Vec<Pid> {
    pids(&whole(list))
}

fn pids(list: &[u8]) -> Vec<Pid> {
    std::str::from_utf8(list).unwrap_or_default().split_ascii_whitespace().filter_map(pid).collect()
}
