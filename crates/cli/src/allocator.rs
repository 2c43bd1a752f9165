//! Memory that a burst of large messages took goes back to the system when the burst is over.

/// Gives back what is free. The allocator of glibc keeps it otherwise, in heaps, one for each thread, that hardly ever
/// shrink; and bounds that would keep large pieces out of them make each of those twice as slow.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "the allocator can be asked in no other way, and every other one keeps more or is slower"
)]
pub(crate) fn give_memory_back() {
    // SAFETY: `malloc_trim` may be called at any time by any thread: it takes the locks that it needs.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_memory_back() {}
