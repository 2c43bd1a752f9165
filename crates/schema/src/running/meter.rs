//! Validation meter: what one run of a compiled schema may cost.
//!
//! A schema that refers to itself from several alternatives can make a run take time that doubles with every
//! level of the value, leave as many errors behind, and use more stack than a thread has. So every visit of a
//! node is counted. After too many of them, or when the stack is too deep, the run is over: see [`Meter::look`].

use crate::tree::Tree;
use std::cell::Cell;

/// How much stack a run may use, on a thread of the caller and on one that was made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stack {
    Callers,
    Roomy,
}

impl Stack {
    /// A caller's thread has 2 MiB or more, and is expected to have a quarter of it left.
    fn limit(self) -> usize {
        match self {
            Self::Callers => 256 * 1024,
            Self::Roomy => crate::running::room::STACK_BYTES / 2,
        }
    }
}

pub(crate) struct Meter {
    /// How many more accesses are allowed. Each may leave an error behind, so this limits memory.
    looks: Cell<u64>,
    /// How much more work the accesses may be. This limits time.
    work: Cell<u64>,
    stack: Stack,
    /// The stack pointer when the run began.
    start: usize,
    too_deep: Cell<bool>,
}

impl Meter {
    /// For checking whether a value fits: some work for each byte, and a generous minimum for a small value.
    pub(crate) fn for_verdict(tree: &Tree<'_>, stack: Stack) -> Self {
        Self {
            looks: Cell::new(u64::MAX),
            work: Cell::new(10_000_000 + 20 * tree.text.len() as u64),
            stack,
            start: stack_pointer(),
            too_deep: Cell::new(false),
        }
    }

    /// For finding all problems of a value.
    pub(crate) fn for_errors(tree: &Tree<'_>, stack: Stack) -> Self {
        let looks = (200_000 + tree.text.len() as u64 / 2).min(500_000);
        Self { looks: Cell::new(looks), ..Self::for_verdict(tree, stack) }
    }

    /// Counts an access, and the work it takes in units of one access. False once the run is over.
    pub(crate) fn look(&self, work: usize) -> bool {
        self.looks.set(self.looks.get().saturating_sub(1));
        self.work.set(self.work.get().saturating_sub(1 + work as u64));
        if self.start.abs_diff(stack_pointer()) > self.stack.limit() {
            self.too_deep.set(true);
        }
        !self.is_over()
    }

    /// How much more work is allowed.
    pub(crate) fn work_left(&self) -> u64 {
        self.work.get()
    }

    /// Whether the run was cut short, so that its outcome is meaningless.
    pub(crate) fn is_over(&self) -> bool {
        self.looks.get() == 0 || self.work.get() == 0 || self.is_too_deep()
    }

    /// Whether it was cut short for lack of stack.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.too_deep.get()
    }
}

/// The approximate stack pointer: the address of something on the stack.
fn stack_pointer() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr()
}
