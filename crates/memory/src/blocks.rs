//! Large blocks: a memory mapping each.
//!
//! A block grows without being copied, because the kernel moves its pages. A free block is kept for the next one of about its
//! size: its pages are there already, and new ones cost more than copying does. [`unmap_free`] gives free blocks back.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Blocks of this size and more have a mapping of their own.
pub(crate) const LARGE: usize = 256 * 1024;

/// In front of each block. A block begins with a cache line, as its header does.
#[repr(align(64))]
struct Header {
    /// The size of the mapping.
    size: usize,
}

const HEADER: usize = size_of::<Header>();

const PAGE: usize = 4096;

/// As many free blocks are kept, of this size altogether.
const KEPT_BLOCKS: usize = 8;
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// A free block serves a request that needs at least this part of it. Otherwise few bytes could hold many.
const SMALLEST_PART: usize = 4;

pub(crate) fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= HEADER
}

/// A mapping that no one else uses.
struct Mapping {
    start: *mut Header,
    size: usize,
}

// SAFETY: A mapping belongs to the owner of the value, on any thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// A new one, whose bytes are zero. `None` if the system has no memory.
    fn new(size: usize) -> Option<Self> {
        // SAFETY: An anonymous mapping at an address that the kernel chooses touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        (start != libc::MAP_FAILED).then(|| Self { start: start.cast(), size })
    }

    /// Changes the size. The pages stay, at another address if there is no room behind them. `None` if the system refuses;
    /// then nothing has changed.
    fn resized(&self, size: usize) -> Option<Self> {
        // SAFETY: The mapping is ours, and the kernel keeps the contents of the pages that remain.
        let start = unsafe { libc::mremap(self.start.cast(), self.size, size, libc::MREMAP_MAYMOVE) };
        (start != libc::MAP_FAILED).then(|| Self { start: start.cast(), size })
    }

    fn unmap(self) {
        // SAFETY: The mapping is ours, and with `self` the last reference to it goes.
        unsafe {
            libc::munmap(self.start.cast::<c_void>(), self.size);
        }
    }

    /// The memory behind the header, which is written here.
    fn into_block(self) -> *mut u8 {
        // SAFETY: A mapping is page-aligned and larger than a header.
        unsafe {
            self.start.write(Header { size: self.size });
            self.start.add(1).cast()
        }
    }

    /// # Safety
    ///
    /// `block` comes from [`Mapping::into_block`] and is not used afterwards.
    #[expect(clippy::cast_ptr_alignment, reason = "each block is aligned as its header is")]
    unsafe fn of_block(block: *mut u8) -> Self {
        // SAFETY: The header lies in front of each block.
        unsafe {
            let start = block.cast::<Header>().sub(1);
            Self { start, size: (*start).size }
        }
    }
}

/// The free mappings.
struct Free {
    mappings: [Option<Mapping>; KEPT_BLOCKS],
    bytes: usize,
}

static FREE: Mutex<Free> = Mutex::new(Free { mappings: [const { None }; KEPT_BLOCKS], bytes: 0 });

impl Free {
    /// The smallest mapping that has `size` bytes and not many more.
    fn take(&mut self, size: usize) -> Option<Mapping> {
        let fits = |mapping: &Mapping| mapping.size >= size && mapping.size / SMALLEST_PART <= size;
        let (slot, _) = self
            .mappings
            .iter()
            .enumerate()
            .filter_map(|(slot, mapping)| {
                mapping.as_ref().filter(|mapping| fits(mapping)).map(|mapping| (slot, mapping.size))
            })
            .min_by_key(|(_, size)| *size)?;
        let mapping = self.mappings[slot].take()?;
        self.bytes -= mapping.size;
        Some(mapping)
    }

    /// Keeps the mapping, or returns it if there is no room.
    fn keep(&mut self, mapping: Mapping) -> Option<Mapping> {
        let slot = self.mappings.iter_mut().find(|slot| slot.is_none());
        match slot {
            Some(slot) if self.bytes + mapping.size <= KEPT_BYTES => {
                self.bytes += mapping.size;
                *slot = Some(mapping);
                None
            }
            _ => Some(mapping),
        }
    }
}

fn with_free<T>(act: impl FnOnce(&mut Free) -> T) -> T {
    act(&mut FREE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The size of a mapping for a block of `size` bytes. `None` if there is no such number.
fn mapped_size(size: usize) -> Option<usize> {
    size.checked_add(HEADER)?.checked_next_multiple_of(PAGE)
}

/// A new block. Null if there is no memory.
pub(crate) fn allocate(size: usize) -> *mut u8 {
    let Some(mapped) = mapped_size(size) else { return ptr::null_mut() };
    let mapping = with_free(|free| free.take(mapped)).or_else(|| Mapping::new(mapped));
    mapping.map_or(ptr::null_mut(), Mapping::into_block)
}

/// A new block of zeros. Null if there is no memory.
pub(crate) fn allocate_zeroed(size: usize) -> *mut u8 {
    let Some(mapped) = mapped_size(size) else { return ptr::null_mut() };
    if let Some(mapping) = with_free(|free| free.take(mapped)) {
        let block = mapping.into_block();
        // SAFETY: The block has `size` bytes.
        unsafe { block.write_bytes(0, size) };
        return block;
    }
    Mapping::new(mapped).map_or(ptr::null_mut(), Mapping::into_block)
}

/// Changes the size of a block. Null if there is no memory; then the block is as it was.
///
/// # Safety
///
/// `block` comes from this module and has `size` bytes. If the result is not null, `block` is not used afterwards.
pub(crate) unsafe fn resize(block: *mut u8, size: usize, new_size: usize) -> *mut u8 {
    let Some(mapped) = mapped_size(new_size) else { return ptr::null_mut() };
    // SAFETY: As promised by the caller.
    let mapping = unsafe { Mapping::of_block(block) };
    if mapped <= mapping.size && mapping.size / SMALLEST_PART <= mapped {
        return block;
    }
    if mapped > mapping.size
        && let Some(other) = with_free(|free| free.take(mapped))
    {
        let moved = other.into_block();
        // SAFETY: The other block is larger, and no one else has it.
        unsafe {
            ptr::copy_nonoverlapping(block, moved, size);
            release(block);
        }
        return moved;
    }
    mapping.resized(mapped).map_or(ptr::null_mut(), Mapping::into_block)
}

/// Frees a block.
///
/// # Safety
///
/// `block` comes from this module and is not used afterwards.
pub(crate) unsafe fn release(block: *mut u8) {
    // SAFETY: As promised by the caller.
    let mapping = unsafe { Mapping::of_block(block) };
    if let Some(mapping) = with_free(|free| free.keep(mapping)) {
        mapping.unmap();
    }
}

/// Gives the free blocks back to the system.
pub(crate) fn unmap_free() {
    let free = with_free(|free| {
        free.bytes = 0;
        free.mappings.each_mut().map(Option::take)
    });
    free.into_iter().flatten().for_each(Mapping::unmap);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1024 * 1024;

    /// The tests share the free blocks.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// The places that are written and read, each with the byte that belongs there.
    fn places(size: usize, seed: u8) -> impl Iterator<Item = (usize, u8)> {
        (0..size)
            .step_by(97)
            .zip((0..=u8::MAX).cycle())
            .map(move |(index, byte)| (index, byte.wrapping_add(seed)))
    }

    unsafe fn fill(block: *mut u8, size: usize, seed: u8) {
        unsafe { block.add(size - 1).write(seed) };
        for (index, byte) in places(size, seed) {
            unsafe { block.add(index).write(byte) };
        }
    }

    unsafe fn holds(block: *mut u8, size: usize, seed: u8) -> bool {
        places(size, seed).all(|(index, byte)| unsafe { block.add(index).read() } == byte)
    }

    #[test]
    fn only_size_and_alignment_decide_what_is_large() {
        let layout = |size, align| Layout::from_size_align(size, align).expect("a layout");
        assert!(is_large(layout(LARGE, 1)) && is_large(layout(10 * MB, 64)));
        assert!(!is_large(layout(LARGE - 1, 1)) && !is_large(layout(10 * MB, 4096)));
    }

    #[test]
    fn a_block_keeps_its_contents_while_it_grows_and_shrinks() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let sizes = [LARGE, LARGE + 1, MB, 3 * MB - 7, 20 * MB, 19 * MB, MB, LARGE, 9 * MB];
        let mut size = sizes[0];
        let mut block = allocate(size);
        unsafe { fill(block, size, 3) };
        for new_size in sizes {
            block = unsafe { resize(block, size, new_size) };
            assert!(!block.is_null());
            assert_eq!(block as usize % HEADER, 0);
            assert!(unsafe { holds(block, size.min(new_size), 3) }, "{size} to {new_size}");
            size = new_size;
            unsafe { fill(block, size, 3) };
        }
        unsafe { release(block) };
        unmap_free();
    }

    #[test]
    fn a_free_block_serves_the_next_of_its_size_and_not_a_much_smaller_one() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        unmap_free();
        let block = allocate(8 * MB);
        unsafe { release(block) };
        let small = allocate(LARGE);
        assert_ne!(small, block);
        let same = allocate(4 * MB);
        assert_eq!(same, block);
        unsafe {
            release(small);
            release(same);
        }
        unmap_free();
        assert_eq!(with_free(|free| free.bytes), 0);
    }

    #[test]
    fn zeros_are_zeros_in_a_block_that_was_used_before() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        unmap_free();
        let block = allocate(MB);
        unsafe { fill(block, MB, 1) };
        unsafe { release(block) };
        let zeroed = allocate_zeroed(MB);
        assert_eq!(zeroed, block);
        assert!((0..MB).all(|index| unsafe { zeroed.add(index).read() } == 0));
        unsafe { release(zeroed) };
        unmap_free();
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        unmap_free();
        let blocks: Vec<*mut u8> = (0..2 * KEPT_BLOCKS).map(|_| allocate(10 * MB)).collect();
        for block in blocks {
            unsafe { release(block) };
        }
        let kept = with_free(|free| free.bytes);
        assert!(kept > 0 && kept <= KEPT_BYTES, "{kept}");
        unmap_free();
    }

    #[test]
    fn a_size_that_no_system_has_is_refused() {
        assert!(allocate(usize::MAX).is_null());
        assert!(allocate(usize::MAX / 2).is_null());
        let block = allocate(LARGE);
        assert!(unsafe { resize(block, LARGE, usize::MAX / 2) }.is_null());
        unsafe { fill(block, LARGE, 9) };
        assert!(unsafe { holds(block, LARGE, 9) });
        unsafe { release(block) };
    }
}
