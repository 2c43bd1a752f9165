//! Turns: the tasks of this process that have not started. Of those with the same tool and caller only the first asks the store
//! whether it may start, since the others come after it anyway. So many waiting tasks cost little.

use mcp_bash_tasks::{Entrant, Owner, TaskId, TaskRecord};
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct WaitingHere(Mutex<HashMap<Group, BTreeMap<Rank, Arc<Notify>>>>);

/// Tasks of one tool and one caller.
type Group = (String, Owner);

type Rank = (Reverse<i32>, u64, TaskId);

impl WaitingHere {
    /// Adds a task, whose keeper is woken by `poke`. `None` if it does not wait.
    pub(super) fn enter(self: &Arc<Self>, record: &TaskRecord, poke: &Arc<Notify>) -> Option<PlaceInTurn> {
        let Entrant { id, tool, owner, created_ms, turn } =
            Entrant::of(record).filter(|task| task.turn.waits)?;
        let (group, rank) = ((tool, owner), (Reverse(turn.priority), created_ms, id));
        self.0.lock().entry(group.clone()).or_default().insert(rank.clone(), Arc::clone(poke));
        Some(PlaceInTurn { all: Arc::clone(self), group, rank })
    }

    /// Wakes the first task of each group, because another task has ended, here or elsewhere.
    pub(super) fn wake_first(&self) {
        self.0.lock().values().filter_map(|group| group.values().next()).for_each(|poke| poke.notify_one());
    }

    /// Wakes all tasks, because the server is stopping.
    pub(super) fn wake_all(&self) {
        self.0.lock().values().flat_map(BTreeMap::values).for_each(|poke| poke.notify_one());
    }
}

/// The place of a waiting task. Dropping it leaves the queue.
pub(super) struct PlaceInTurn {
    all: Arc<WaitingHere>,
    group: Group,
    rank: Rank,
}

impl PlaceInTurn {
    /// How many tasks of the same tool and caller wait here before this one.
    pub(super) fn before(&self) -> usize {
        self.all.0.lock().get(&self.group).map_or(0, |group| group.range(..&self.rank).count())
    }
}

impl Drop for PlaceInTurn {
    fn drop(&mut self) {
        let mut all = self.all.0.lock();
        let Some(group) = all.get_mut(&self.group) else { return };
        group.remove(&self.rank);
        match group.values().next() {
            Some(next) => next.notify_one(),
            None => drop(all.remove(&self.group)),
        }
    }
}
