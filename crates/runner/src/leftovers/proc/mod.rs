//! `/proc`: states, parents, children, limits and environments of processes.

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod children;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) use children::{adopted, adopted_none, children, limits_on_locks, pids_in};

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
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let rest = &line[memchr::memrchr(b')', line)? + 1..];
        let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        Some(Self { parent: fields.next().and_then(pid), group: fields.next().and_then(pid), state })
    }
}

/// `None` when there is no such process.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
pub(crate) fn status(process: Pid) -> Option<Status> {
    Status::parse(&read(process, "stat")?)
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

fn numbers_in(folder: &str) -> impl Iterator<Item = Pid> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| pid(entry.ok()?.file_name().to_str()?))
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
pub(super) fn read(process: Pid, file: &str) -> Option<Vec<u8>> {
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
