//! Task settings: where tasks are kept, for how long, and how many.

use crate::reader::Reader;
use crate::table;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct TaskSettings {
    /// The folder of the store, if the operator names one.
    pub store: Option<PathBuf>,
    /// How long a task is kept after its call.
    pub ttl: Duration,
    pub most_per_caller: usize,
    /// How many run at a time in all servers, if there is a limit.
    pub most_running: Option<usize>,
    pub most_running_per_caller: Option<usize>,
}

impl TaskSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self {
            store: reader.value(&table::STORE),
            ttl: reader.value(&table::TASK_TTL),
            most_per_caller: reader.value(&table::MAX_TASKS_PER_CALLER),
            most_running: limit(reader.value(&table::MAX_RUNNING_TASKS)),
            most_running_per_caller: limit(reader.value(&table::MAX_RUNNING_TASKS_PER_CALLER)),
        }
    }
}

fn limit(number: usize) -> Option<usize> {
    (number > 0).then_some(number)
}
