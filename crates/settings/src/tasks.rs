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
}

impl TaskSettings {
    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        Self {
            store: reader.value(&table::STORE),
            ttl: reader.value(&table::TASK_TTL),
            most_per_caller: reader.value(&table::MAX_TASKS_PER_CALLER),
        }
    }
}
