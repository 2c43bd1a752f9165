//! Worker settings: defaults for processes that serve many calls.

use crate::reader::Reader;
use crate::table;
use std::thread::available_parallelism;
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct WorkerSettings {
    /// How long one may take to become ready.
    pub start: Duration,
    /// How many there may be at once for one script, if set.
    processes: Option<usize>,
    /// How long an idle one is kept. `None` for ever.
    pub idle: Option<Duration>,
    /// How much memory one may use after a call, in bytes.
    pub memory: u64,
}

impl WorkerSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        let idle = reader.value(&table::WORKER_IDLE);
        Self {
            start: reader.value(&table::WORKER_START),
            processes: reader.value(&table::WORKER_PROCESSES),
            idle: (!idle.is_zero()).then_some(idle),
            memory: reader.value(&table::WORKER_MEMORY) as u64 * 1024 * 1024,
        }
    }

    /// How many there may be at once for one script: one for each processor if nothing is set, and at least two, so that a
    /// long call does not block all others.
    pub fn processes(&self) -> usize {
        self.processes.unwrap_or_else(|| available_parallelism().map_or(2, usize::from).clamp(2, 8))
    }
}
