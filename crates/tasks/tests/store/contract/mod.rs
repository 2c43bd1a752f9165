//! The contract of task stores, for any store: another crate can include this folder as a module and give it a [`Bench`].

mod claims;
mod record;
mod rules;
mod turns;

pub(crate) use claims::{at_most_one_process_runs_a_task, the_planted_fault_is_found};
pub(crate) use record::record;
pub(crate) use rules::check_rules;
pub(crate) use turns::no_limit_is_passed_by_many;

use mcp_bash_tasks::{Lease, TaskId, TaskStore};

/// A store under test.
pub(crate) trait Bench: Sync {
    /// The same store again, as another process has it.
    fn open(&self) -> Box<dyn TaskStore>;

    /// Ends a lease as the death of its process does.
    fn kill(&self, lease: Lease);

    /// Frees a task though its process lives: a lease that was not renewed in time, or a lock that was lost.
    fn free(&self, id: &TaskId);
}
