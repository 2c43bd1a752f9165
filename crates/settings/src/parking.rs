//! Parking settings: calls that wait for their user's answer.

use crate::reader::Reader;
use crate::table;
use std::path::PathBuf;
use std::time::Duration;

/// How many calls may wait for an answer, for how long, and which keys seal their states.
#[derive(Debug, Clone)]
pub struct ParkingSettings {
    pub most: usize,
    pub most_per_caller: usize,
    /// How long a client may take to come back.
    pub patience: Duration,
    /// How long it may take to come back to a script that may be run again.
    pub replay_patience: Duration,
    /// The file with the keys that seal what a client brings back.
    pub keys_file: Option<PathBuf>,
}

impl ParkingSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self {
            most: reader.value(&table::MAX_PARKED_CALLS),
            most_per_caller: reader.value(&table::MAX_PARKED_CALLS_PER_CALLER),
            patience: reader.value(&table::PARKED_TIMEOUT),
            replay_patience: reader.value(&table::STATE_TIMEOUT),
            keys_file: reader.value(&table::STATE_KEYS_FILE).map(PathBuf::from),
        }
    }
}
