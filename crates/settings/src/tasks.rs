//! Task settings: where tasks are kept, for how long, and how many.

use crate::reader::Reader;
use crate::table;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct TaskSettings {
    /// The folder or the database of the store, if the operator names one.
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

impl TaskSettings {
    /// Whether the store is a database, whose password only the server may know.
    pub fn is_in_database(&self) -> bool {
        self.store.as_deref().is_some_and(names_database)
    }
}

/// Whether a place is the address of a database, and not a folder.
pub fn names_database(place: &Path) -> bool {
    place.to_str().is_some_and(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"))
}

fn limit(number: usize) -> Option<usize> {
    (number > 0).then_some(number)
}
