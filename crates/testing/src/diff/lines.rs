//! Line diff: the hunks in which two texts differ, by Myers' algorithm.
//!
//! The shortest difference is found if it has at most [`MOST_EDITS`] lines. Beyond that, the texts are split at lines that
//! occur once in each of them, and a part without a short difference counts as replaced. Both bound the time, so there is
//! no timeout, and equal texts always give equal hunks.
//!
//! Not `similar`: only lines are compared here, and that crate brings its own splitting, grouping and rendering.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// The longest difference that is searched for, in lines.
const MOST_EDITS: usize = 512;

/// Lines of one text that were replaced by lines of the other. One of the ranges may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Lines that are the same in both texts.
#[derive(Debug, Clone, Copy)]
struct Run {
    old: usize,
    new: usize,
    length: usize,
}

/// The differences between two sequences of lines, in order. Between two hunks there is at least one equal line.
pub(crate) fn hunks<L: Eq + Hash>(old: &[L], new: &[L]) -> Vec<Hunk> {
    let mut known: HashMap<&L, usize> = HashMap::new();
    let mut numbers = Vec::with_capacity(old.len() + new.len());
    for line in old.iter().chain(new) {
        let next = known.len();
        numbers.push(*known.entry(line).or_insert(next));
    }
    let (old, new) = numbers.split_at(old.len());
    let mut runs = Vec::new();
    Part { old, new, old_start: 0, new_start: 0 }.compare(true, &mut runs);
    between(&runs, old.len(), new.len())
}

/// What is not in a run.
fn between(runs: &[Run], old_end: usize, new_end: usize) -> Vec<Hunk> {
    let end = Run { old: old_end, new: new_end, length: 0 };
    let (mut hunks, mut old, mut new) = (Vec::new(), 0, 0);
    for run in runs.iter().filter(|run| run.length > 0).chain([&end]) {
        if run.old > old || run.new > new {
            hunks.push(Hunk { old: old..run.old, new: new..run.new });
        }
        (old, new) = (run.old + run.length, run.new + run.length);
    }
    hunks
}

/// A part of each text, as the numbers of its lines, and where it begins.
#[derive(Clone, Copy)]
struct Part<'a> {
    old: &'a [usize],
    new: &'a [usize],
    old_start: usize,
    new_start: usize,
}

impl Part<'_> {
    fn part(self, old: Range<usize>, new: Range<usize>) -> Self {
        let (old_start, new_start) = (self.old_start + old.start, self.new_start + new.start);
        Self { old: &self.old[old], new: &self.new[new], old_start, new_start }
    }

    fn run(self, old: usize, new: usize, length: usize) -> Run {
        Run { old: self.old_start + old, new: self.new_start + new, length }
    }

    /// Finds runs of equal lines, in order: those of the shortest difference, or if that is too long, those between lines
    /// that occur once.
    fn compare(self, may_split: bool, runs: &mut Vec<Run>) {
        let is_same = |(one, other): &(&usize, &usize)| one == other;
        let start = self.old.iter().zip(self.new).take_while(is_same).count();
        let rest = self.part(start..self.old.len(), start..self.new.len());
        let end = rest.old.iter().rev().zip(rest.new.iter().rev()).take_while(is_same).count();
        let (old_end, new_end) = (self.old.len() - end, self.new.len() - end);
        let middle = self.part(start..old_end, start..new_end);
        runs.push(self.run(0, 0, start));
        match middle.shortest() {
            Some(found) => runs.extend(found.into_iter().map(|run| middle.run(run.old, run.new, run.length))),
            None if may_split => middle.split(runs),
            None => {}
        }
        runs.push(self.run(old_end, new_end, end));
    }

    /// Compares the parts between lines that occur once in each text.
    fn split(self, runs: &mut Vec<Run>) {
        let (mut old, mut new) = (0, 0);
        for (old_at, new_at) in self.unique_lines() {
            self.part(old..old_at, new..new_at).compare(false, runs);
            runs.push(self.run(old_at, new_at, 1));
            (old, new) = (old_at + 1, new_at + 1);
        }
        self.part(old..self.old.len(), new..self.new.len()).compare(false, runs);
    }

    /// The positions of the lines that occur once in each text, as far as they are in the same order: the longest
    /// increasing sequence.
    fn unique_lines(self) -> Vec<(usize, usize)> {
        let (in_old, in_new) = (once(self.old), once(self.new));
        let mut pairs: Vec<(usize, usize)> =
            in_old.iter().filter_map(|(line, old)| Some((*old, *in_new.get(line)?))).collect();
        pairs.sort_unstable();
        // For each length, the pair with the lowest `new` that ends a sequence of that length; and the one before each pair.
        let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        for (at, (_, new)) in pairs.iter().enumerate() {
            let length = ends.partition_point(|end| pairs[*end].1 < *new);
            before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
            match ends.get_mut(length) {
                Some(end) => *end = at,
                None => ends.push(at),
            }
        }
        let mut sequence = Vec::new();
        let mut next = ends.last().copied();
        while let Some(at) = next {
            sequence.push(pairs[at]);
            next = before[at];
        }
        sequence.reverse();
        sequence
    }

    /// The runs of the shortest difference, unless it has more than [`MOST_EDITS`] lines.
    ///
    /// A path leads from the beginning of both texts to their ends. A step takes a line of the old text (`x`) or of the new
    /// one (`y`), and equal lines cost nothing. For each number of steps, the furthest `x` on each diagonal `x - y` is noted.
    fn shortest(self) -> Option<Vec<Run>> {
        let mut furthest = vec![0; 2 * CENTRE + 1];
        let mut trace = Vec::new();
        for steps in 0..=MOST_EDITS {
            trace.push(furthest.clone());
            for diagonal in (CENTRE - steps..=CENTRE + steps).step_by(2) {
                let (mut x, mut y) = Step::to(diagonal, steps, &furthest).to;
                while x < self.old.len() && y < self.new.len() && self.old[x] == self.new[y] {
                    (x, y) = (x + 1, y + 1);
                }
                furthest[diagonal] = x;
                if x >= self.old.len() && y >= self.new.len() {
                    return Some(walk_back(x, y, &trace));
                }
            }
        }
        None
    }
}

/// The index of the diagonal `x == y`.
const CENTRE: usize = MOST_EDITS + 1;

/// A step to the next diagonal, with the points that it leads from and to.
struct Step {
    from: (usize, usize),
    to: (usize, usize),
}

impl Step {
    /// The step to a diagonal that leads furthest, from the points that one step less reaches.
    fn to(diagonal: usize, steps: usize, furthest: &[usize]) -> Self {
        let (lower, upper) = (furthest[diagonal - 1], furthest[diagonal + 1]);
        let takes_new = diagonal == CENTRE - steps || diagonal != CENTRE + steps && lower < upper;
        let x = if takes_new { upper } else { lower + 1 };
        let y = x + CENTRE - diagonal;
        // Before the first step, `y` is 0 already.
        let from = if takes_new { (x, y.saturating_sub(1)) } else { (lower, y) };
        Self { from, to: (x, y) }
    }
}

/// The runs on the path to a point, from the points that each number of steps reached.
fn walk_back(mut x: usize, mut y: usize, trace: &[Vec<usize>]) -> Vec<Run> {
    let mut runs = Vec::new();
    for (steps, furthest) in trace.iter().enumerate().skip(1).rev() {
        let step = Step::to(x + CENTRE - y, steps, furthest);
        let (old, new) = step.to;
        runs.push(Run { old, new, length: x - old });
        (x, y) = step.from;
    }
    runs.push(Run { old: 0, new: 0, length: x });
    runs.reverse();
    runs
}

/// The lines that occur once, with their positions.
fn once(lines: &[usize]) -> HashMap<usize, usize> {
    let mut places: HashMap<usize, Option<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        places.entry(*line).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places.into_iter().filter_map(|(line, place)| Some((line, place?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The new text, made of the old one and the hunks.
    fn applied(old: &[u8], new: &[u8], hunks: &[Hunk]) -> Vec<u8> {
        let (mut text, mut at) = (Vec::new(), 0);
        for hunk in hunks {
            text.extend_from_slice(&old[at..hunk.old.start]);
            text.extend_from_slice(&new[hunk.new.clone()]);
            at = hunk.old.end;
        }
        text.extend_from_slice(&old[at..]);
        text
    }

    fn edits(hunks: &[Hunk]) -> usize {
        hunks.iter().map(|hunk| hunk.old.len() + hunk.new.len()).sum()
    }

    /// The length of the shortest difference, by the table of all common subsequences.
    fn fewest(old: &[u8], new: &[u8]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for line in old {
            let mut diagonal = 0;
            for (at, other) in new.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if line == other { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        old.len() + new.len() - 2 * row[new.len()]
    }

    fn check(old: &[u8], new: &[u8]) -> Vec<Hunk> {
        let found = hunks(old, new);
        assert_eq!(applied(old, new, &found), new);
        assert!(found.iter().all(|hunk| hunk.old.len() + hunk.new.len() > 0), "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0].old.end < pair[1].old.start), "{found:?}");
        found
    }

    proptest! {
        #[test]
        fn hunks_make_the_new_text_of_the_old_one_with_the_fewest_lines(
            old in prop::collection::vec(0_u8..6, 0..60),
            new in prop::collection::vec(0_u8..6, 0..60),
        ) {
            prop_assert_eq!(edits(&check(&old, &new)), fewest(&old, &new));
        }

        #[test]
        fn a_few_changes_in_a_long_text_are_found_exactly(
            old in prop::collection::vec(0_u8..40, 200..400),
            changes in prop::collection::vec((0_usize..200, 0_u8..40), 0..12),
        ) {
            let mut new = old.clone();
            for (at, line) in changes {
                new.splice(at..at + usize::from(line % 2 == 0), [line].into_iter().filter(|line| line % 3 == 0));
            }
            prop_assert_eq!(edits(&check(&old, &new)), fewest(&old, &new));
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn texts_that_differ_too_much_are_still_told_apart(
            old in prop::collection::vec(any::<u8>(), 700..900),
            new in prop::collection::vec(any::<u8>(), 700..900),
        ) {
            check(&old, &new);
        }
    }

    #[test]
    fn beyond_the_limit_lines_that_occur_once_stay_equal() {
        let lines = |seed: usize| -> Vec<usize> { (0..2000).map(|line| line * 2 + seed).collect() };
        let (mut old, mut new) = (lines(0), lines(1));
        for at in [100, 900, 1500] {
            old[at] = 1_000_000 + at;
            new[at + 50] = 1_000_000 + at;
        }
        let found = hunks(&old, &new);
        let starts: Vec<(usize, usize)> = found.iter().map(|hunk| (hunk.old.end, hunk.new.end)).collect();
        assert_eq!(starts, [(100, 150), (900, 950), (1500, 1550), (2000, 2000)]);
    }

    #[test]
    fn lines_that_repeat_have_no_anchor_and_are_replaced() {
        let old = [[1_u8, 2].repeat(600), [9].repeat(3)].concat();
        let new = [[3_u8, 4].repeat(600), [9].repeat(3)].concat();
        assert_eq!(check(&old, &new), [Hunk { old: 0..1200, new: 0..1200 }]);
    }
}
