//! Copying and comparing of memory for x86-64, in place of musl's: its `memcpy` starts a string instruction for three bytes,
//! and its `memcmp` compares byte by byte. They are written in assembly because a compiler would turn a loop that copies into a
//! call of `memcpy`.

use std::arch::global_asm;

global_asm!(include_str!("copying_x86_64.s"));

// The names that the compiler and the C library call.
#[cfg(target_env = "musl")]
global_asm!(
    ".globl memcpy, memmove, memcmp, bcmp",
    ".set memcpy, mcp_bash_copy",
    ".set memmove, mcp_bash_copy",
    ".set memcmp, mcp_bash_compare",
    ".set bcmp, mcp_bash_compare",
);

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    unsafe extern "C" {
        fn mcp_bash_copy(to: *mut u8, from: *const u8, size: usize) -> *mut u8;
        fn mcp_bash_compare(left: *const u8, right: *const u8, size: usize) -> i32;
    }

    /// Every size up to here, and some around the places where the code takes another way.
    fn sizes() -> impl Iterator<Item = usize> {
        (0..400).chain([511, 512, 513, 1023, 2047, 2048, 2049, 4095, 4096, 4097, 10_000, 65_537])
    }

    fn pattern(size: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_u32;
        (0..size)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect()
    }

    #[test]
    fn copies_every_size_at_every_alignment_and_nothing_more() {
        let source = pattern(70_000);
        for size in sizes() {
            for (from, to) in [(0, 0), (1, 0), (0, 1), (7, 3), (15, 16), (33, 5)] {
                let mut target = vec![0xaa_u8; size + 128];
                let result =
                    unsafe { mcp_bash_copy(target.as_mut_ptr().add(to), source.as_ptr().add(from), size) };
                assert_eq!(result, unsafe { target.as_mut_ptr().add(to) });
                assert!(target[..to].iter().all(|byte| *byte == 0xaa), "{size} wrote before");
                assert!(target[to..to + size] == source[from..from + size], "{size} from {from} to {to}");
                assert!(target[to + size..].iter().all(|byte| *byte == 0xaa), "{size} wrote behind");
            }
        }
    }

    #[test]
    fn copies_ranges_that_overlap_in_either_direction() {
        for size in sizes() {
            for distance in [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 63, 64, 65, 100, 127, 129, 300, 4096] {
                for forward in [true, false] {
                    let original = pattern(size + distance + 64);
                    let mut memory = original.clone();
                    let (from, to) = if forward { (distance, 0) } else { (0, distance) };
                    unsafe {
                        let base = memory.as_mut_ptr();
                        mcp_bash_copy(base.add(to), base.add(from), size);
                    }
                    assert!(
                        memory[to..to + size] == original[from..from + size],
                        "{size} from {from} to {to}"
                    );
                    assert!(memory[..to] == original[..to], "{size} wrote before {to}");
                    assert!(memory[to + size..] == original[to + size..], "{size} wrote behind {to}");
                }
            }
        }
    }

    #[test]
    fn compares_as_bytes_without_sign_from_the_first_difference() {
        let left = pattern(70_000);
        for size in sizes() {
            assert_eq!(unsafe { mcp_bash_compare(left.as_ptr(), left.as_ptr(), size) }, 0);
            for place in [0, 1, size / 3, size / 2, size.saturating_sub(17), size.saturating_sub(1)] {
                if place >= size {
                    continue;
                }
                let mut right = left.clone();
                right[place] ^= 0x80;
                // What comes behind does not count.
                right[size..].fill(left[place]);
                if place + 1 < size {
                    right[place + 1] = !left[place + 1];
                }
                let found = unsafe { mcp_bash_compare(left.as_ptr(), right.as_ptr(), size) };
                assert_eq!(found.cmp(&0), left[place].cmp(&right[place]), "{size} at {place}");
                let found = unsafe { mcp_bash_compare(right.as_ptr(), left.as_ptr(), size) };
                assert_ne!(found.cmp(&0), Ordering::Equal);
                assert_eq!(
                    found.cmp(&0),
                    right[place].cmp(&left[place]),
                    "{size} at {place}, other way round"
                );
            }
        }
    }
}
