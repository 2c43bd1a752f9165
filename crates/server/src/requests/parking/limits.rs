//! Parking limits: how many parked processes may wait, and for how long.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ParkingLimits {
    /// Above this number, the oldest process of the caller with the most is terminated.
    pub(crate) most: usize,
    /// Above this number, the oldest process of the same caller is terminated.
    pub(crate) most_per_caller: usize,
    /// How long a parked process waits for its client.
    pub(crate) timeout: Duration,
    /// How long a state stays valid if its script may be run again.
    pub(crate) replay_timeout: Duration,
}
