//! Memory that a burst of large messages took goes back to the system when the burst is over.

/// From so many bytes on, each piece of memory is its own mapping, which ends when the piece is free.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: libc::c_int = 256 * 1024;

/// So much may stay free at the end of a heap before it is given back. Less would cost ordinary messages a system call now
/// and then.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LEFT_OVER: libc::c_int = 1024 * 1024;

/// The allocator of glibc begins like this too. But the first large piece that becomes free moves its bounds up to the size
/// of that piece, 32 MiB at the most, and from then on large pieces come from heaps, one for each thread, that hardly ever
/// shrink. Bounds that are set stay where they are.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "the bounds can be set in no other way, and every other allocator keeps more or is slower"
)]
pub(crate) fn give_memory_back() {
    // SAFETY: `mallopt` takes two numbers, may be called at any time, and refuses what it does not know.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LEFT_OVER);
    }
}

/// Other allocators have bounds that do not move.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_memory_back() {}
