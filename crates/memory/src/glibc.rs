//! The allocator of glibc keeps free memory in arenas, up to eight for each processor, and can give back only the end of
//! the first one. So we allow few arenas, and give back free memory in the middle when the server is quiet. (Thresholds
//! that keep large blocks out of the arenas give back at once, and make each of those blocks twice as slow.)

/// As many as there are busy threads on a small machine. More would keep more.
const ARENAS: libc::c_int = 2;

/// Makes the allocator keep less. To be called before there are threads.
pub fn keep_little() {
    // SAFETY: `mallopt` takes two numbers, may be called at any time, and refuses unknown parameters.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Gives free memory back to the system.
pub fn give_memory_back() {
    // SAFETY: `malloc_trim` may be called at any time by any thread: it takes the locks that it needs.
    unsafe {
        libc::malloc_trim(0);
    }
}
