//! Children that go under a filter.
//!
//! A child is forked from a test, which has threads: until it exits or calls `execve` it only makes system calls.

#![allow(dead_code, reason = "each test file uses a part")]

use libc::c_long;
use mcp_bash_sandbox::{Filter, FilterChoices};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering};

/// A user without privileges, as far as we can become one.
pub(crate) const NOBODY: u32 = 65534;

/// A system call with its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: c_long,
    pub(crate) arguments: [c_long; 6],
}

pub(crate) fn filter(choices: FilterChoices) -> Filter {
    Filter::new(choices).expect("this processor has a table")
}

/// The users that tests run as: ourselves, and nobody if we are root.
pub(crate) fn users() -> Vec<Option<u32>> {
    if rustix::process::geteuid().is_root() { vec![None, Some(NOBODY)] } else { vec![None] }
}

/// How a process comes under a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    AtOnce,
    /// It inherits a part and adds the rest.
    InTwoParts,
}

/// The errors of calls that a child makes under a filter, in this order. 0 is success.
pub(crate) fn errors(filter: Option<&Filter>, user: Option<u32>, calls: &[Call]) -> Vec<i32> {
    errors_in(Way::AtOnce, filter, user, calls)
}

pub(crate) fn errors_in(way: Way, filter: Option<&Filter>, user: Option<u32>, calls: &[Call]) -> Vec<i32> {
    // Shared memory: a pipe would take descriptors, whose numbers calls name.
    let shared = SharedNumbers::new(calls.len());
    let status = in_child(|| {
        confine(way, filter, user);
        for (index, Call { number, arguments: [a, b, c, d, e, f] }) in calls.iter().enumerate() {
            // SAFETY: The calls of the tests have no pointers but those to memory of the test.
            let result = unsafe { libc::syscall(*number, *a, *b, *c, *d, *e, *f) };
            shared.numbers()[index].store(if result == -1 { last_error() } else { 0 }, Ordering::Relaxed);
        }
    });
    let found = shared.numbers().iter().map(|number| number.load(Ordering::Relaxed)).collect();
    assert_eq!(status, 0, "the child ended with status {status:#x} after {found:?}");
    found
}

/// Numbers that a child shares with its parent. They are -1 at first.
struct SharedNumbers {
    start: *mut AtomicI32,
    count: usize,
}

impl SharedNumbers {
    fn new(count: usize) -> Self {
        let (access, sharing) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: New memory, at an address that the kernel chooses.
        let start = unsafe { libc::mmap(null_mut(), count * size_of::<AtomicI32>(), access, sharing, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let shared = Self { start: start.cast(), count };
        shared.numbers().iter().for_each(|number| number.store(-1, Ordering::Relaxed));
        shared
    }

    fn numbers(&self) -> &[AtomicI32] {
        // SAFETY: The memory has room for them, is aligned to pages, and lives as long as this.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

impl Drop for SharedNumbers {
    fn drop(&mut self) {
        // SAFETY: The memory was mapped with this length.
        unsafe { libc::munmap(self.start.cast(), self.count * size_of::<AtomicI32>()) };
    }
}

/// Runs a function in a child, and returns how the child ended.
pub(crate) fn in_child(work: impl FnOnce()) -> i32 {
    // SAFETY: The child makes system calls only, and exits.
    match unsafe { libc::fork() } {
        -1 => panic!("{}", std::io::Error::last_os_error()),
        0 => {
            work();
            exit(0);
        }
        child => {
            let mut status = 0;
            // SAFETY: The child is ours.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            status
        }
    }
}

/// Puts the calling process under a filter. It exits if it cannot.
pub(crate) fn confine(way: Way, filter: Option<&Filter>, user: Option<u32>) {
    if user.is_some() {
        become_nobody();
    }
    let Some(filter) = filter else { return };
    let apply = || match way {
        Way::AtOnce => filter.apply(),
        Way::InTwoParts => filter.apply_inherited().and_then(|()| filter.complete()),
    };
    if rustix::thread::set_no_new_privs(true).and_then(|()| apply()).is_err() {
        exit(100);
    }
}

/// By plain system calls: the functions of the C library change all threads.
pub(crate) fn become_nobody() {
    let nobody = c_long::from(NOBODY);
    // SAFETY: Changes who this process is.
    unsafe {
        if libc::geteuid() == 0 {
            libc::syscall(libc::SYS_setgroups, 0, 0);
            libc::syscall(libc::SYS_setresgid, nobody, nobody, nobody);
            if libc::syscall(libc::SYS_setresuid, nobody, nobody, nobody) != 0 {
                exit(101);
            }
        }
    }
}

pub(crate) fn exit(status: i32) -> ! {
    // SAFETY: Ends this process.
    unsafe { libc::_exit(status) }
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(-1)
}
