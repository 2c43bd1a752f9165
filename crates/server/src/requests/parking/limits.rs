//! Parking limits: how many processes wait, and for how long.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ParkingLimits {
    /// Beyond this, the oldest process of the caller that has the most is terminated.
    pub(crate) most: usize,
    /// Beyond this, the oldest process of the same caller is terminated.
    pub(crate) most_per_caller: usize,
    /// How long a client may take to come back to its process.
    pub(crate) timeout: Duration,
    /// How long a client may take to come back to a script that may be run again.
    pub(crate) replay_timeout: Duration,
}
