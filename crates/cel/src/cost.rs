//! Cost budget: the work that an evaluation may still do.

use crate::error::Failure;

/// How many bytes of a text are looked at for one unit.
const BYTES: usize = 16;

/// The units that are left. One unit is about ten nanoseconds of work.
#[derive(Debug, Clone)]
pub struct Budget {
    left: u64,
}

impl Budget {
    pub fn new(units: u64) -> Self {
        Self { left: units }
    }

    pub fn left(&self) -> u64 {
        self.left
    }

    /// Pays for some steps or elements.
    pub(crate) fn spend(&mut self, units: usize) -> Result<(), Failure> {
        let left = self.left.checked_sub(units as u64);
        // Nothing more is evaluated once it is used up, however little that would cost.
        self.left = left.unwrap_or(0);
        left.map(drop).ok_or(Failure::CostExceeded)
    }

    /// Pays for looking at or copying a text.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Failure> {
        self.spend(bytes / BYTES)
    }

    /// Pays for elements that are kept in a new list or map.
    pub(crate) fn spend_elements(&mut self, elements: usize) -> Result<(), Failure> {
        self.spend(elements.saturating_mul(4))
    }
}
