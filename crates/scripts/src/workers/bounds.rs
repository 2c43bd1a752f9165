//! Worker bounds: the limits of a worker, from its author's options and otherwise from the settings.

use mcp_bash_project::WorkerOptions;
use mcp_bash_settings::WorkerSettings;
use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How long a worker may take to become ready.
    pub(super) start: Duration,
    /// The largest number of workers.
    pub(super) processes: usize,
    /// How many calls a worker serves at once.
    pub(super) at_once: usize,
    /// The idle timeout of a worker. `None` for no timeout.
    pub(super) idle: Option<Duration>,
    /// The number of calls after which a worker is replaced. `None` for no limit.
    pub(super) max_calls: Option<u64>,
    /// A worker that uses more bytes than this after a call is replaced.
    pub(super) memory: u64,
    pub(super) keeps_processes: bool,
}

impl Bounds {
    pub(super) fn new(options: &WorkerOptions, settings: &WorkerSettings) -> Self {
        let number = |number: std::num::NonZeroU32| usize::try_from(number.get()).unwrap_or(usize::MAX);
        Self {
            start: settings.start,
            processes: options.processes.map_or_else(|| settings.processes(), number),
            at_once: options.at_once.map_or(1, number),
            idle: options.idle().unwrap_or(settings.idle),
            max_calls: options.max_calls.map(std::num::NonZeroU64::get),
            memory: options.memory_mb.map_or(settings.memory, |mb| mb.get().saturating_mul(1024 * 1024)),
            keeps_processes: options.keeps_processes,
        }
    }
}
