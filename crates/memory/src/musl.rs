//! The allocator of the static build: dlmalloc for small blocks, mappings for large ones.

use crate::blocks::{self, is_large};
use dlmalloc::Dlmalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The lock is of the standard library, since that of musl takes a quarter of the time of a short message.
static SMALL: Mutex<Dlmalloc> = Mutex::new(Dlmalloc::new());

fn small() -> MutexGuard<'static, Dlmalloc> {
    SMALL.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: A block comes from and returns to the same of the two allocators, since its layout alone decides which one that is;
// `realloc` moves it when a new size belongs to the other one.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return blocks::allocate(layout.size());
        }
        unsafe { small().malloc(layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return blocks::allocate_zeroed(layout.size());
        }
        unsafe { small().calloc(layout.size(), layout.align()) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout) {
            return unsafe { blocks::release(block) };
        }
        unsafe { small().free(block, layout.size(), layout.align()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: The caller promises that the new size is valid for this alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (is_large(layout), is_large(new_layout)) {
            (false, false) => unsafe { small().realloc(block, layout.size(), layout.align(), new_size) },
            (true, true) => unsafe { blocks::resize(block, layout.size(), new_size) },
            _ => unsafe {
                let moved = self.alloc(new_layout);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}

/// It keeps little from the beginning.
pub fn keep_little() {}

/// Gives the large blocks that are free back to the system, and the end of the heap.
pub fn give_memory_back() {
    blocks::unmap_free();
    // SAFETY: Only free memory is released.
    unsafe {
        small().trim(0);
    }
}
