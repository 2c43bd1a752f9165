//! Limits of parking: how many processes wait, and for how long.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ParkingLimits {
    /// Beyond these, the oldest of the caller that has the most is ended.
    pub(crate) most: usize,
    /// Beyond these, the oldest of the same caller is ended.
    pub(crate) most_per_caller: usize,
    /// How long a client may take to come back to its process.
    pub(crate) timeout: Duration,
    /// How long it may take to come back to a script that may be run again.
    pub(crate) replay_timeout: Duration,
}
