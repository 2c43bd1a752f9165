//! Chains in a store that many servers share. Each process has a chain of its own in it.

use std::error::Error;

/// Keeps lines of many chains, and changes none. Its calls block.
pub trait ChainStore: Send + Sync {
    /// Adds lines to a chain; `first` is the number of the first. Lines that the chain has already, because the answer to an
    /// earlier attempt was lost, are not added again. Other lines with these numbers are an error. Without lines, it asks
    /// whether the store can be written.
    fn add(&self, chain: &str, first: u64, lines: Vec<String>) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// The next lines after a position. None are left if there are none.
    fn read(&self, order: Order, after: &Position) -> Result<Vec<StoredLine>, Box<dyn Error + Send + Sync>>;
}

/// The order in which lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One chain after the other.
    Chain,
    /// The lines of all chains by their times.
    Time,
}

/// Where a line is. The default is before all lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The time in the line.
    pub time: String,
    pub chain: String,
    /// The number that the store has for the line.
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLine {
    pub at: Position,
    pub text: String,
}
