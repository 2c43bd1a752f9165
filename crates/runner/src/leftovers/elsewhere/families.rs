//! Families: which call each process belongs to, decided from one reading of the process table after the other.

use crate::mark::CallNumber;
use rustix::process::Pid;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// How long the environment of a new process is read again: while a process loads a program (`exec`), it has none.
const SETTLED: Duration = Duration::from_secs(1);

/// A live process in the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Listed {
    pub(crate) pid: Pid,
    pub(crate) group: Option<Pid>,
    pub(crate) parent: Option<Pid>,
    /// When it was started, in a unit of the system. A process may have the pid of an earlier one, but not its start.
    pub(crate) started: u64,
    /// If the system has them: numbers that are never given twice.
    pub(crate) lineage: Option<Lineage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Lineage {
    pub(crate) own: u64,
    /// The number of the process that started it, which may have ended.
    pub(crate) starter: u64,
}

/// What identifies a process: its pid and its start. Group and parent change while it lives.
pub(crate) type Identity = (Pid, u64);

impl Listed {
    pub(crate) fn identity(&self) -> Identity {
        (self.pid, self.started)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Families {
    members: HashMap<Identity, (Listed, CallNumber)>,
    /// The process groups that a member has founded. Their numbers are not reused while they have processes.
    groups: HashMap<Pid, CallNumber>,
    /// The lineage numbers of all members, including those that have ended.
    ancestors: HashMap<u64, CallNumber>,
    /// Processes whose environment was read and names no call, with the time when they were first seen. A process
    /// without the mark of a call passes none on.
    strangers: HashMap<Identity, Instant>,
}

impl Families {
    /// Takes in a reading of the table. `leaders` are the first processes of calls, alive or not, which lead the group of
    /// their call; `carried` is the call whose mark a process carries.
    pub(crate) fn update(
        &mut self,
        table: &[Listed],
        leaders: &HashMap<Pid, CallNumber>,
        carried: impl Fn(&Listed) -> Option<CallNumber>,
        now: Instant,
    ) {
        let alive: HashMap<Identity, Listed> =
            table.iter().map(|process| (process.identity(), *process)).collect();
        self.members.retain(|process, _| alive.contains_key(process));
        for (process, (seen, _)) in &mut self.members {
            *seen = alive[process];
        }
        self.strangers.retain(|process, _| alive.contains_key(process));
        let used: HashSet<Pid> = table.iter().filter_map(|process| process.group).collect();
        self.groups.retain(|group, _| used.contains(group));
        for process in table {
            if let Some(call) = process.group.and_then(|group| leaders.get(&group)) {
                self.add(process, *call);
            }
        }
        for process in table {
            let identity = process.identity();
            let is_settled = |seen: &Instant| now.saturating_duration_since(*seen) >= SETTLED;
            if self.members.contains_key(&identity) || self.strangers.get(&identity).is_some_and(is_settled) {
                continue;
            }
            match carried(process) {
                Some(call) => self.add(process, call),
                None => {
                    self.strangers.entry(identity).or_insert(now);
                }
            }
        }
        self.add_relatives(table);
    }

    /// Adds the processes that members have started, and those that are in groups which members have founded.
    fn add_relatives(&mut self, table: &[Listed]) {
        let mut by_pid: HashMap<Pid, CallNumber> =
            self.members.values().map(|(process, call)| (process.pid, *call)).collect();
        loop {
            let mut grown = false;
            for process in table {
                if self.members.contains_key(&process.identity()) {
                    continue;
                }
                let of_parent = process.parent.and_then(|parent| by_pid.get(&parent));
                let of_group = || process.group.and_then(|group| self.groups.get(&group));
                let of_starter = || process.lineage.and_then(|lineage| self.ancestors.get(&lineage.starter));
                if let Some(call) = of_parent.or_else(of_group).or_else(of_starter).copied() {
                    self.add(process, call);
                    by_pid.insert(process.pid, call);
                    grown = true;
                }
            }
            if !grown {
                return;
            }
        }
    }

    /// Adds a process to the family of a call.
    pub(crate) fn add(&mut self, process: &Listed, call: CallNumber) {
        self.members.insert(process.identity(), (*process, call));
        self.strangers.remove(&process.identity());
        if process.group == Some(process.pid) {
            self.groups.insert(process.pid, call);
        }
        if let Some(lineage) = process.lineage {
            self.ancestors.insert(lineage.own, call);
        }
    }

    /// Forgets the groups and lineages of calls that have left: the id of a group may be reused between two readings of
    /// the table. Members that are still alive stay known.
    pub(crate) fn forget_calls(&mut self, is_known: impl Fn(CallNumber) -> bool) {
        self.groups.retain(|_, call| is_known(*call));
        self.ancestors.retain(|_, call| is_known(*call));
    }

    /// All processes that belong to a call.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Listed, CallNumber)> + '_ {
        self.members.values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).unwrap()
    }

    /// A process without lineage, started at the time of its pid.
    fn process(number: i32, parent: i32, group: i32) -> Listed {
        Listed {
            pid: pid(number),
            parent: Pid::from_raw(parent),
            group: Pid::from_raw(group),
            started: u64::try_from(number).unwrap(),
            lineage: None,
        }
    }

    fn with_lineage(process: Listed, own: u64, starter: u64) -> Listed {
        Listed { lineage: Some(Lineage { own, starter }), ..process }
    }

    fn pids(families: &Families, call: CallNumber) -> Vec<i32> {
        let of_call = families.members().filter(|(_, number)| *number == call);
        let mut pids: Vec<_> = of_call.map(|(process, _)| process.pid.as_raw_nonzero().get()).collect();
        pids.sort_unstable();
        pids
    }

    fn leaders() -> HashMap<Pid, CallNumber> {
        HashMap::from([(pid(100), 1), (pid(200), 2)])
    }

    const NO_MARK: fn(&Listed) -> Option<CallNumber> = |_| None;

    #[test]
    fn a_process_belongs_to_the_call_of_its_group_or_its_parent() {
        let mut families = Families::default();
        // The grandchild comes before its parent in the table, as a reused low pid does.
        let table =
            [process(50, 101, 50), process(100, 9, 100), process(101, 100, 101), process(201, 1, 200)];
        families.update(&table, &leaders(), NO_MARK, Instant::now());
        assert_eq!(pids(&families, 1), [50, 100, 101]);
        assert_eq!(pids(&families, 2), [201]);
    }

    #[test]
    fn an_orphan_is_known_by_an_earlier_reading_by_its_mark_or_by_its_starter() {
        let mut families = Families::default();
        let leader = with_lineage(process(100, 9, 100), 7000, 6000);
        families.add(&leader, 1);
        families.update(&[leader, process(101, 100, 101)], &leaders(), NO_MARK, Instant::now());
        // All that led here have ended: each of these is a child of init in a session of its own.
        let table = [
            process(101, 1, 101),
            process(102, 1, 102),
            with_lineage(process(103, 1, 103), 7003, 7000),
            with_lineage(process(104, 1, 104), 7004, 7003),
        ];
        let carried = |process: &Listed| (process.pid == pid(102)).then_some(1);
        families.update(&table, &HashMap::new(), carried, Instant::now());
        assert_eq!(pids(&families, 1), [101, 102, 103, 104]);
    }

    #[test]
    fn a_group_that_a_member_has_founded_outlives_it() {
        let mut families = Families::default();
        families.update(&[process(100, 9, 100), process(101, 100, 101)], &leaders(), NO_MARK, Instant::now());
        families.update(&[process(105, 1, 101)], &HashMap::new(), NO_MARK, Instant::now());
        assert_eq!(pids(&families, 1), [105]);
    }

    #[test]
    fn nobody_else_is_taken_for_a_member() {
        let mut families = Families::default();
        let joined = process(101, 100, 9);
        families.update(&[process(100, 9, 100), joined], &leaders(), NO_MARK, Instant::now());
        let table = [
            // A member has joined the group of others, which does not make them members.
            joined,
            process(10, 1, 9),
            // Init, which adopts orphans, and a stranger that it has started.
            process(1, 0, 1),
            process(11, 1, 11),
            // A new process with the pid of a member that has ended.
            Listed { started: 999, ..process(100, 1, 9) },
        ];
        families.update(&table, &HashMap::new(), NO_MARK, Instant::now());
        assert_eq!(pids(&families, 1), [101]);
    }

    #[test]
    fn groups_and_ancestors_of_a_call_that_has_left_are_forgotten() {
        let mut families = Families::default();
        families.add(&with_lineage(process(100, 9, 100), 7000, 6000), 1);
        families.forget_calls(|call| call != 1);
        let table = [process(105, 1, 100), with_lineage(process(106, 1, 106), 7006, 7000)];
        families.update(&table, &HashMap::new(), NO_MARK, Instant::now());
        assert_eq!(pids(&families, 1), Vec::<i32>::new());
    }

    #[test]
    fn the_environment_of_a_process_is_read_until_it_is_no_longer_new() {
        let (mut families, begin) = (Families::default(), Instant::now());
        let reads = std::cell::Cell::new(0);
        for after in [Duration::ZERO, SETTLED / 2, SETTLED, 2 * SETTLED] {
            let carried = |_: &Listed| {
                reads.set(reads.get() + 1);
                None
            };
            families.update(&[process(10, 1, 10)], &HashMap::new(), carried, begin + after);
        }
        assert_eq!(reads.get(), 2);
    }

    #[test]
    fn a_process_that_was_loading_its_program_is_found_later() {
        let (mut families, begin) = (Families::default(), Instant::now());
        let table = [process(10, 1, 10)];
        families.update(&table, &HashMap::new(), NO_MARK, begin);
        families.update(&table, &HashMap::new(), |_| Some(1), begin + SETTLED / 2);
        assert_eq!(pids(&families, 1), [10]);
    }
}
