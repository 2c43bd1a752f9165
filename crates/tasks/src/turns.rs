//! Turns: which waiting tasks may start, so that no more run at a time than the limits allow.
//!
//! Tasks start in the order of their priority, and of their age within a priority. A task that is blocked by the limit of its
//! tool or of its caller does not block those behind it.

use crate::{Owner, TaskId, TaskRecord};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;

/// How a task takes turns with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Whether it has not started yet.
    pub waits: bool,
    /// Higher ones come first.
    #[serde(default)]
    pub priority: i32,
    /// How many tasks of its tool may run at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_of_tool: Option<u32>,
}

/// How many tasks may run at a time, in all servers of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnLimits {
    pub all: Option<usize>,
    pub per_caller: Option<usize>,
}

impl TurnLimits {
    /// Whether there is a limit.
    pub fn hold_something(self) -> bool {
        self != Self::default()
    }
}

/// A task that takes turns: it waits, or it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entrant {
    pub id: TaskId,
    pub tool: String,
    pub owner: Owner,
    pub created_ms: u64,
    pub turn: Turn,
}

/// The position in the order of turns. The least comes first.
pub type Rank<'a> = (Reverse<i32>, u64, &'a TaskId);

impl Entrant {
    /// The entry of a task, if it takes turns.
    pub fn of(record: &TaskRecord) -> Option<Self> {
        let turn = record.turn.filter(|_| !record.status.is_final())?;
        let TaskRecord { id, tool, owner, created_ms, .. } = record.clone();
        Some(Self { id, tool, owner, created_ms, turn })
    }

    pub fn rank(&self) -> Rank<'_> {
        (Reverse(self.turn.priority), self.created_ms, &self.id)
    }
}

/// Whether a task may start. `others` are those that wait or run in a live process.
pub fn may_begin(task: &Entrant, others: &[Entrant], limits: TurnLimits) -> bool {
    let mut running = Running::default();
    let (waiting, begun): (Vec<&Entrant>, Vec<&Entrant>) =
        others.iter().filter(|other| other.id != task.id).partition(|other| other.turn.waits);
    for other in begun {
        running.add(other);
    }
    let mut before: Vec<&Entrant> = waiting.into_iter().filter(|other| other.rank() < task.rank()).collect();
    before.sort_unstable_by_key(|other| other.rank());
    for other in before {
        if running.has_room(other, limits) {
            running.add(other);
        }
    }
    running.has_room(task, limits)
}

/// How many waiting tasks come before this one.
pub fn ahead(task: &Entrant, others: &[Entrant]) -> usize {
    others.iter().filter(|other| other.turn.waits && other.rank() < task.rank()).count()
}

/// The numbers of running tasks.
#[derive(Default)]
struct Running<'a> {
    all: usize,
    by_tool: HashMap<&'a str, usize>,
    by_owner: HashMap<&'a Owner, usize>,
}

impl<'a> Running<'a> {
    fn add(&mut self, task: &'a Entrant) {
        self.all += 1;
        *self.by_tool.entry(&task.tool).or_default() += 1;
        *self.by_owner.entry(&task.owner).or_default() += 1;
    }

    fn has_room(&self, task: &Entrant, limits: TurnLimits) -> bool {
        let is_below = |count: usize, most: Option<usize>| most.is_none_or(|most| count < most);
        let most_of_tool = task.turn.most_of_tool.map(|most| most as usize);
        is_below(self.all, limits.all)
            && is_below(count(self.by_tool.get(&*task.tool)), most_of_tool)
            && is_below(count(self.by_owner.get(&task.owner)), limits.per_caller)
    }
}

fn count(known: Option<&usize>) -> usize {
    known.copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: TurnLimits = TurnLimits { all: None, per_caller: None };

    fn task(number: u8, tool: &str, caller: &str, turn: Turn) -> Entrant {
        Entrant {
            id: TaskId::of_random([number; 16]),
            tool: tool.to_owned(),
            owner: Owner { known_by: "token".to_owned(), name: caller.to_owned() },
            created_ms: u64::from(number),
            turn,
        }
    }

    fn waits(priority: i32, most_of_tool: Option<u32>) -> Turn {
        Turn { waits: true, priority, most_of_tool }
    }

    const RUNS: Turn = Turn { waits: false, priority: 0, most_of_tool: None };

    #[test]
    fn a_higher_priority_comes_first_and_then_the_older() {
        let limits = TurnLimits { all: Some(1), ..NONE };
        let (old, young, urgent) = (
            task(1, "a", "x", waits(0, None)),
            task(2, "a", "x", waits(0, None)),
            task(3, "b", "y", waits(5, None)),
        );
        let all = [old.clone(), young.clone(), urgent.clone()];
        assert_eq!([&old, &young, &urgent].map(|task| may_begin(task, &all, limits)), [false, false, true]);
        assert_eq!([&old, &young, &urgent].map(|task| ahead(task, &all)), [1, 2, 0]);
        assert!(may_begin(&old, &all[..2], limits) && !may_begin(&young, &all[..2], limits));
        assert!(!may_begin(&old, &[task(9, "z", "z", RUNS)], limits));
    }

    #[test]
    fn those_behind_a_full_tool_or_a_busy_caller_pass() {
        let limits = TurnLimits { all: Some(3), per_caller: Some(1) };
        let runs = task(1, "license", "busy", RUNS);
        let of_tool = task(2, "license", "free", waits(9, Some(1)));
        let of_caller = task(3, "other", "busy", waits(9, None));
        let passes = task(4, "other", "third", waits(0, None));
        let all = [runs, of_tool.clone(), of_caller.clone(), passes.clone()];
        assert!(!may_begin(&of_tool, &all, limits) && !may_begin(&of_caller, &all, limits));
        assert!(may_begin(&passes, &all, limits));
    }

    fn entrant() -> impl Strategy<Value = (u8, u8, i32, bool)> {
        (0..3_u8, 0..3_u8, -1..2_i32, any::<bool>())
    }

    proptest! {
        /// In any order of attempts, no limit is exceeded, and at the end no task waits without a reason.
        #[test]
        fn limits_hold_and_no_place_stays_empty(
            made in prop::collection::vec(entrant(), 1..20),
            order in prop::collection::vec(0..20_usize, 0..60),
            (all, per_caller, most) in (1..5_usize, 1..4_usize, 1..3_u32),
        ) {
            let limits = TurnLimits { all: Some(all), per_caller: Some(per_caller) };
            let mut tasks: Vec<Entrant> = made.iter().zip(1..).map(|(&(tool, caller, priority, is_limited), number)| {
                let turn = waits(priority, is_limited.then_some(most));
                // Tasks of one tool have the same limit.
                let tool = format!("{tool}{is_limited}");
                task(number, &tool, &caller.to_string(), turn)
            }).collect();
            let rounds = order.into_iter().chain((0..tasks.len()).cycle().take(tasks.len() * tasks.len()));
            for place in rounds.collect::<Vec<_>>() {
                let Some(next) = tasks.get(place).filter(|task| task.turn.waits) else { continue };
                if may_begin(next, &tasks, limits) {
                    tasks[place].turn.waits = false;
                }
                let begun: Vec<&Entrant> = tasks.iter().filter(|task| !task.turn.waits).collect();
                prop_assert!(begun.len() <= all);
                for one in &begun {
                    let same = |is_same: &dyn Fn(&Entrant) -> bool| begun.iter().filter(|task| is_same(task)).count();
                    prop_assert!(same(&|task| task.owner == one.owner) <= per_caller);
                    let of_tool = u32::try_from(same(&|task| task.tool == one.tool)).unwrap();
                    prop_assert!(one.turn.most_of_tool.is_none_or(|most| of_tool <= most));
                }
            }
            let mut running = Running::default();
            tasks.iter().filter(|task| !task.turn.waits).for_each(|task| running.add(task));
            for task in tasks.iter().filter(|task| task.turn.waits) {
                prop_assert!(!running.has_room(task, limits), "{task:?} waits for nothing");
            }
        }
    }
}
