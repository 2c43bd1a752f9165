//! `/proc`: states, parents, children, limits and environments of processes.

use rustix::process::{Pid, getpid};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;

/// From `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) parent: Option<Pid>,
    pub(crate) group: Option<Pid>,
    state: u8,
}

impl Status {
    /// Whether it has ended, and is a zombie until its parent reaps it.
    pub(crate) fn is_dead(self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Parses the line of `/proc/PID/stat`. The name comes second and may hold anything, including parentheses.
    fn parse(line: &[u8]) -> Option<Self> {
        let rest = &line[memchr::memrchr(b')', line)? + 1..];
        let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        Some(Self { parent: fields.next().and_then(pid), group: fields.next().and_then(pid), state })
    }
}

/// `None` when there is no such process.
pub(crate) fn status(process: Pid) -> Option<Status> {
    Status::parse(&read(process, "stat")?)
}

/// The soft and the hard limit on file locks, for a process on which `prlimit` is not permitted.
pub(crate) fn limits_on_locks(process: Pid) -> Option<(u64, u64)> {
    let table = read(process, "limits")?;
    let start = memchr::memmem::find(&table, b"Max file locks")? + "Max file locks".len();
    let mut limits = std::str::from_utf8(&table[start..]).ok()?.split_ascii_whitespace();
    let mut next = || limits.next().map(|limit| limit.parse().unwrap_or(u64::MAX));
    Some((next()?, next()?))
}

/// A variable of the initial environment of a process.
pub(crate) fn variable(process: Pid, name: &str) -> Option<Vec<u8>> {
    let environment = read(process, "environ")?;
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|variable| Some(variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec()))
}

/// Whether there is a `/proc` of our own pid namespace. In the `/proc` of another namespace processes have other pids,
/// which is worse than none.
pub(crate) fn is_readable() -> bool {
    static IS_READABLE: LazyLock<bool> = LazyLock::new(|| {
        let us = std::fs::read_link("/proc/self");
        us.is_ok_and(|us| us.to_str().and_then(pid) == Some(getpid()))
    });
    *IS_READABLE
}

/// All processes.
pub(crate) fn all() -> impl Iterator<Item = Pid> {
    is_readable().then(|| numbers_in("/proc")).into_iter().flatten()
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

/// The list of the children of our main thread, which is the one that gets orphans. `None` if the kernel is built
/// without such lists.
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

fn whole(list: &File) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let mut filled = 0;
    while let Ok(count) = list.read_at(&mut bytes[filled..], filled as u64) {
        filled += count;
        if count == 0 {
            break;
        }
        if bytes.len() - filled < 64 {
            bytes.resize(2 * bytes.len(), 0);
        }
    }
    bytes.truncate(filled);
    bytes
}

fn pids(list: &[u8]) -> Vec<Pid> {
    std::str::from_utf8(list).unwrap_or_default().split_ascii_whitespace().filter_map(pid).collect()
}

fn numbers_in(folder: &str) -> impl Iterator<Item = Pid> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| pid(entry.ok()?.file_name().to_str()?))
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn read(process: Pid, file: &str) -> Option<Vec<u8>> {
    // Such files report a size of 0, so that `fs::read` would read a few bytes at a time.
    File::open(format!("/proc/{}/{file}", process.as_raw_nonzero())).ok().map(|file| whole(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pretend_to_be_other_fields() {
        let status = Status::parse(b"7 (a) Z 1 2 (b) S 40 41 39 0 -1").unwrap();
        assert_eq!((status.parent, status.group), (Pid::from_raw(40), Pid::from_raw(41)));
        assert!(!status.is_dead());
        assert_eq!(Status::parse(b""), None);
    }
}
