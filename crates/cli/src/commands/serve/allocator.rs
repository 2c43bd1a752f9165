//! Allocator tuning: memory that a burst of large messages took goes back to the system after the burst.
//!
//! The allocator of glibc keeps free memory in arenas, up to eight for each processor, and can give back only the end of
//! the first one. So we allow few arenas, and give back free memory in the middle when the server is quiet. (Thresholds
//! that keep large blocks out of the arenas give back at once, and make each of those blocks twice as slow.)
//!
//! The static build uses dlmalloc: the allocator of musl took half of the instructions of a start, and gave each thread nothing
//! for it. Others that were measured (mimalloc) take megabytes before anything is allocated.

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// As many as there are busy threads on a small machine. More would keep more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 2;

/// Makes the allocator keep less. To be called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(
    unsafe_code,
    reason = "the allocator can be told in no other way, and every other one keeps more or is slower"
)]
pub(crate) fn keep_little() {
    // SAFETY: `mallopt` takes two numbers, may be called at any time, and refuses unknown parameters.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Gives free memory back.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator can be asked in no other way")]
pub(crate) fn give_memory_back() {
    // SAFETY: `malloc_trim` may be called at any time by any thread: it takes the locks that it needs.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_memory_back() {}
