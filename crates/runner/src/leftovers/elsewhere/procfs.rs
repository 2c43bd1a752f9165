//! Process table, read from `/proc`.

use super::families::Listed;
use crate::leftovers::proc::{self, Status};
use rustix::param::page_size;
use rustix::process::Pid;

pub(crate) use crate::leftovers::proc::variable;

/// All live processes. Empty if they cannot be listed.
pub(crate) fn all() -> Vec<Listed> {
    proc::all().filter_map(of).collect()
}

/// `None` when there is no such process, or it has ended.
pub(crate) fn of(pid: Pid) -> Option<Listed> {
    let line = proc::read(pid, "stat")?;
    let Status { parent, group, .. } = Status::parse(&line).filter(|status| !status.is_dead())?;
    Some(Listed { pid, group, parent, started: started(&line)?, lineage: None })
}

/// The 22nd field. The name, which may hold anything, is the second.
fn started(line: &[u8]) -> Option<u64> {
    let rest = &line[memchr::memrchr(b')', line)? + 1..];
    std::str::from_utf8(rest).ok()?.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The children of a process, and the others in the group that it leads.
pub(crate) fn children_and_group(leader: Pid) -> Vec<Pid> {
    let is_near = |process: &Listed| process.parent == Some(leader) || process.group == Some(leader);
    let near = all().into_iter().filter(is_near).map(|process| process.pid);
    near.filter(|pid| *pid != leader).collect()
}

/// The memory that a process has, in bytes.
pub(crate) fn memory(pid: Pid) -> Option<u64> {
    let statm = proc::read(pid, "statm")?;
    let pages: u64 = std::str::from_utf8(&statm).ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_the_twenty_second_field() {
        let line = b"7 (a) Z 1) S 40 41 39 0 -1 4194304 5 6 7 8 9 10 11 12 20 0 1 0 8812 13 14";
        assert_eq!(started(line), Some(8812));
        assert_eq!(started(b"7 (a) S 40 41"), None);
        assert_eq!(started(b""), None);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let us = rustix::process::getpid();
        assert!(all().contains(&of(us).unwrap()));
        assert!(memory(us).unwrap() > 0);
    }
}
