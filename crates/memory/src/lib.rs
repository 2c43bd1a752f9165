//! Memory: how much of it the allocator keeps, and how it is copied.
//!
//! With glibc, the allocator stays its own (`glibc`). The static build is linked with musl, whose allocator took half of the
//! instructions of a start and whose copying is slow for short pieces. So it has dlmalloc for small blocks, mappings for large
//! ones (`blocks`), and functions of its own that copy and compare (`copying`). Others that were measured (mimalloc) take
//! megabytes before anything is allocated.

#![cfg_attr(
    target_os = "linux",
    expect(
        unsafe_code,
        reason = "an allocator hands out raw memory, and the C library takes its settings in no other way"
    )
)]

#[cfg(all(target_os = "linux", target_arch = "x86_64", any(target_env = "musl", test)))]
mod copying;

#[cfg(all(target_os = "linux", any(target_env = "musl", test)))]
mod blocks;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use glibc::{give_memory_back, keep_little};

#[cfg(target_env = "musl")]
mod musl;
#[cfg(target_env = "musl")]
pub use musl::{give_memory_back, keep_little};

/// Other allocators keep little by themselves.
#[cfg(not(target_os = "linux"))]
pub fn keep_little() {}

/// Other allocators give memory back by themselves.
#[cfg(not(target_os = "linux"))]
pub fn give_memory_back() {}
