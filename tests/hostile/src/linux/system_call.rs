//! System calls by their numbers: the attacks need many that no library offers, with arguments that no library
//! would pass. All unsafe code of the program is here.

#![expect(unsafe_code, reason = "system calls")]

use std::ffi::{CString, c_long};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A system call with up to six arguments; addresses are passed as numbers.
pub(super) fn call(number: c_long, arguments: &[usize]) -> io::Result<usize> {
    let at = |index: usize| arguments.get(index).copied().unwrap_or_default();
    // SAFETY: none in general. The callers pass addresses of values that live until the call returns, and the
    // program has one thread and ends after one attack.
    let result = unsafe { libc::syscall(number, at(0), at(1), at(2), at(3), at(4), at(5)) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// The same for calls that return a new descriptor.
pub(super) fn descriptor(number: c_long, arguments: &[usize]) -> io::Result<OwnedFd> {
    // SAFETY: the kernel has just made this descriptor, and nothing else knows it.
    call(number, arguments).map(|made| unsafe { OwnedFd::from_raw_fd(made as i32) })
}

pub(super) fn number_of(descriptor: &impl AsRawFd) -> usize {
    descriptor.as_raw_fd() as usize
}

/// A text with a NUL at its end. Parameters come from the command line, so they contain none.
pub(super) fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

pub(super) fn address<T: ?Sized>(of: &T) -> usize {
    std::ptr::from_ref(of).cast::<u8>() as usize
}

pub(super) fn address_mut<T: ?Sized>(of: &mut T) -> usize {
    std::ptr::from_mut(of).cast::<u8>() as usize
}

/// Runs `work` in a child process, which is killed when this process dies. Its result is the exit code.
pub(super) fn start_child(work: impl FnOnce() -> u8) -> io::Result<i32> {
    start_orphan(|| {
        let _ = call(libc::SYS_prctl, &[libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize]);
        work()
    })
}

/// The same for a child that may live longer than this process.
pub(super) fn start_orphan(work: impl FnOnce() -> u8) -> io::Result<i32> {
    // SAFETY: there is one thread, so the child may use everything that it has a copy of.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => exit_now(work()),
        child => Ok(child),
    }
}

/// Exits without the duties of a normal exit, which belong to the parent.
pub(super) fn exit_now(code: u8) -> ! {
    // SAFETY: always allowed.
    unsafe { libc::_exit(i32::from(code)) }
}

/// Waits for a child; it must exist.
pub(super) fn wait_for(child: i32) -> io::Result<ExitStatus> {
    let mut status = 0_i32;
    // SAFETY: `status` lives until the call returns.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    if waited == -1 { Err(io::Error::last_os_error()) } else { Ok(ExitStatus::from_raw(status)) }
}

/// Runs `work` in a child process and waits for it.
pub(super) fn in_child(work: impl FnOnce() -> u8) -> io::Result<ExitStatus> {
    wait_for(start_child(work)?)
}

/// Ignores a signal, as a program does that wants to see the error of the system call instead.
pub(super) fn ignore(signal: i32) {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Maps memory that is its own, or that children share.
pub(super) fn map(bytes: usize, flags: i32) -> io::Result<&'static mut [u8]> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses a free place. The memory stays mapped until the process ends.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags | libc::MAP_ANONYMOUS, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: so many bytes were mapped, they are zero, and nothing else refers to them.
    Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), bytes) })
}

/// A system call of 32-bit programs, which 64-bit programs can make too, under other numbers.
#[cfg(target_arch = "x86_64")]
pub(super) fn call_as_i386(number: u32, first: u32) -> i32 {
    let mut result = number;
    // SAFETY: only calls without addresses are made. The compiler keeps `rbx` for itself, so it is put back.
    unsafe {
        std::arch::asm!(
            "xchg {first:r}, rbx",
            "int 0x80",
            "xchg {first:r}, rbx",
            first = inout(reg) u64::from(first) => _,
            inout("eax") result,
            in("ecx") 0,
            in("edx") 0,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    result.cast_signed()
}
