//! The places where an operation can fail, found in the trace of a successful one.

use super::strace::Whose;
use std::collections::BTreeMap;
use std::env;

/// A system call that fails once: the call with this number in its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// As `strace` takes it: a name, or a regular expression after a slash.
    pub(super) call: &'static str,
    pub(super) error: &'static str,
    pub(super) number: usize,
}

impl Place {
    /// The argument for `strace`.
    pub(super) fn options(&self) -> Vec<String> {
        let Self { call, error, number } = self;
        vec![format!("--trace={call}"), format!("--inject={call}:error={error}:when={number}")]
    }
}

/// A kind of system call, and the errors by which the kernel reports a shortage.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    call: &'static str,
    /// The prefixes of the calls' names in a trace.
    names: &'static [&'static str],
    errors: &'static [&'static str],
    /// Whether only calls on files count: pipes never run out of space.
    is_about_files: bool,
}

const fn kind(call: &'static str, names: &'static [&'static str], errors: &'static [&'static str]) -> Kind {
    Kind { call, names, errors, is_about_files: false }
}

/// The calls that read a project, and that prepare and start a process.
const KINDS: [Kind; 14] = [
    kind("openat", &["openat("], &["EMFILE", "ENFILE", "ENOMEM"]),
    Kind { is_about_files: true, ..kind("read", &["read("], &["ENOMEM"]) },
    Kind { is_about_files: true, ..kind("write", &["write("], &["ENOSPC"]) },
    kind("getdents64", &["getdents64("], &["ENOMEM"]),
    kind("statx", &["statx("], &["ENOMEM"]),
    kind("newfstatat", &["newfstatat("], &["ENOMEM"]),
    kind("/^readlink", &["readlink(", "readlinkat("], &["ENOMEM"]),
    kind("/^mkdir", &["mkdir(", "mkdirat("], &["ENOSPC"]),
    kind("/^rename", &["rename(", "renameat"], &["ENOSPC"]),
    kind("/^(clone|clone3|fork|vfork)$", &["clone", "fork(", "vfork("], &["EAGAIN", "ENOMEM"]),
    kind("pipe2", &["pipe2("], &["EMFILE"]),
    kind("/^(socketpair|socket)$", &["socketpair(", "socket("], &["EMFILE"]),
    kind("inotify_add_watch", &["inotify_add_watch("], &["ENOSPC", "ENOMEM"]),
    kind(
        "/^(pidfd_open|eventfd2|epoll_create1)$",
        &["pidfd_open(", "eventfd2(", "epoll_create1("],
        &["EMFILE"],
    ),
];

/// The kinds of calls that fail. Other threads read and write pipes and sockets in no fixed order, so the
/// number of such a call does not identify it. Other programs treat a file that they cannot stat as missing,
/// and their error messages look the same in both cases.
pub(super) fn kinds(whose: Whose) -> Vec<Kind> {
    let is_meant = |kind: &Kind| match whose {
        Whose::Reader => true,
        Whose::Threads => !kind.is_about_files,
        Whose::Everything => !kind.is_about_files && !LOOKS.contains(&kind.call),
    };
    KINDS.into_iter().filter(is_meant).collect()
}

/// The calls that look at a file without opening it.
const LOOKS: [&str; 3] = ["statx", "newfstatat", "/^readlink"];

/// Makes `strace` record calls of these kinds without failing any.
pub(super) fn recorded(kinds: &[Kind]) -> Vec<String> {
    let calls: Vec<&str> = kinds.iter().map(|kind| kind.call).collect();
    vec![format!("--trace={}", calls.join(","))]
}

/// Every place in a trace where a thread made a call of those kinds.
pub(super) fn places(trace: &str, kinds: &[Kind]) -> Vec<Place> {
    let mut places = Vec::new();
    for kind in kinds {
        let mut made: BTreeMap<&str, usize> = BTreeMap::new();
        let mut numbers: Vec<usize> = Vec::new();
        for line in trace.lines() {
            let (thread, call) = split(line);
            if !kind.names.iter().any(|name| call.starts_with(name)) {
                continue;
            }
            let number = made.entry(thread).or_default();
            *number += 1;
            if !kind.is_about_files || is_about_file(call) {
                numbers.push(*number);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        for error in kind.errors {
            places.extend(numbers.iter().map(|number| Place { call: kind.call, error, number: *number }));
        }
    }
    places
}

/// The thread's number, if the line has one, and the call.
fn split(line: &str) -> (&str, &str) {
    match line.split_once(char::is_whitespace) {
        Some((thread, call)) if thread.bytes().all(|byte| byte.is_ascii_digit()) => {
            (thread, call.trim_start())
        }
        _ => ("", line),
    }
}

/// Whether the first argument is a descriptor of a file: `read(3</etc/hosts>, …`.
fn is_about_file(call: &str) -> bool {
    call.split_once('<').is_some_and(|(_, path)| path.starts_with('/') && !path.starts_with("/dev/"))
}

/// Whether to try every place.
pub(super) fn wants_all() -> bool {
    env::var_os("FAULTS").is_some_and(|which| which == "all")
}

/// All places if the environment asks for that (`FAULTS=all`), otherwise `some` of them, evenly spaced.
pub(super) fn chosen(places: Vec<Place>, some: usize) -> Vec<Place> {
    assert!(places.len() > some, "too few places were found: {places:?}");
    if wants_all() {
        return places;
    }
    let step = places.len().div_ceil(some).max(1);
    places.into_iter().skip(step / 2).step_by(step).collect()
}

#[test]
fn places_are_counted_per_thread() {
    let trace = "7 openat(AT_FDCWD, \"a\", O_RDONLY) = 3</a>\n8 openat(AT_FDCWD, \"b\", O_RDONLY <unfinished ...>\n\
                 7 read(3</a>, \"\", 1) = 0\n8 <... openat resumed>) = 4</b>\n7 read(5<anon_inode:[eventfd]>, \"\", 8) = 8\n\
                 7 openat(AT_FDCWD, \"c\", O_RDONLY) = 3</c>\n";
    let found: Vec<(&str, usize)> = places(trace, &KINDS[..2])
        .into_iter()
        .filter(|place| place.error != "ENFILE" && place.error != "EMFILE")
        .map(|place| (place.call, place.number))
        .collect();
    assert_eq!(found, [("openat", 1), ("openat", 2), ("read", 1)]);
}
