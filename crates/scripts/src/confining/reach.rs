//! Reach: the proxy and the bridges by which a confined process reaches the hosts of its list.

use super::cell::Cell;
use mcp_bash_runner::Variables;
use std::io;

/// The open proxy and bridges of one process.
#[derive(Default)]
pub(crate) struct Reached {}

impl Reached {
    pub(super) fn open(_cell: &Cell) -> io::Result<Self> {
        Ok(Self::default())
    }

    pub(super) fn set_variables(&self, _variables: &mut Variables) {}

    /// The hosts that the process tried to reach in vain.
    pub(super) fn refusals(&self) -> Vec<String> {
        Vec::new()
    }
}
