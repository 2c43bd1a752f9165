//! Compiles rules into a filter: a program of the Berkeley Packet Filter.
//!
//! The program checks the ABI, then searches the number of the call in a balanced tree. At installation the kernel runs
//! a filter for every number there is, so that the length of the paths, not of the program, is the cost of a start.
//!
//! Jumps only go forward, so the program is built from its end: the targets of an instruction are known when it is
//! added. Equal decisions are compiled once.

use super::calls::{Architecture, NEWEST};
use super::decision::{Decision, Match, Word};
use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter,
};

/// Where the kernel puts the parts of a call (`struct seccomp_data`).
const NUMBER_OFFSET: u32 = 0;
const ABI_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

/// A conditional jump skips 255 instructions at most. Two may be added before it, to reach its two targets.
const REACH: usize = 253;

/// The filter that decides by these rules. Other calls up to the newest known one are allowed.
pub(super) fn compile(architecture: Architecture, rules: &[(u32, Decision)]) -> Vec<sock_filter> {
    let mut program = Program::default();
    let kill = program.push(BPF_RET | BPF_K, libc::SECCOMP_RET_KILL_PROCESS);
    let ranges: Vec<_> = ranges(rules).map(|(first, decision)| (first, program.decide(&decision))).collect();
    let tree = program.search(&ranges);
    let search = program.load(NUMBER_OFFSET, tree);
    let check = program.jump(BPF_JEQ, architecture.audit(), search, kill);
    program.load(ABI_OFFSET, check);
    program.reversed.into_iter().rev().collect()
}

/// Splits all numbers into ranges of equal decisions, each given by its first number. The last one, above the newest
/// known call, also has the numbers of the x32 ABI.
fn ranges(rules: &[(u32, Decision)]) -> impl Iterator<Item = (u32, Decision)> {
    let mut rules: Vec<_> = rules.to_vec();
    rules.sort_by_key(|(number, _)| *number);
    let mut ranges = Vec::new();
    let mut next = 0;
    for (number, decision) in rules {
        if number > next {
            ranges.push((next, Decision::Allow));
        }
        ranges.push((number, decision));
        next = number + 1;
    }
    if next <= NEWEST {
        ranges.push((next, Decision::Allow));
    }
    ranges.push((NEWEST + 1, Decision::Fail(libc::ENOSYS)));
    ranges.dedup_by(|later, earlier| later.1 == earlier.1);
    ranges.into_iter()
}

/// An instruction, by the number of instructions after it.
type Label = usize;

#[derive(Default)]
struct Program {
    /// The last instruction comes first.
    reversed: Vec<sock_filter>,
    compiled: Vec<(Decision, Label)>,
}

impl Program {
    fn decide(&mut self, decision: &Decision) -> Label {
        if let Some((_, label)) = self.compiled.iter().find(|(compiled, _)| compiled == decision) {
            return *label;
        }
        let label = match decision {
            Decision::Allow => self.push(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW),
            Decision::Fail(error) => {
                self.push(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | error.cast_unsigned())
            }
            Decision::Notify => self.push(BPF_RET | BPF_K, libc::SECCOMP_RET_USER_NOTIF),
            Decision::Match(decision) => self.compare(decision),
        };
        self.compiled.push((decision.clone(), label));
        label
    }

    fn compare(&mut self, decision: &Match) -> Label {
        let otherwise = self.decide(&decision.otherwise);
        let targets: Vec<_> =
            decision.cases.iter().map(|(value, then)| (*value, self.decide(then))).collect();
        let compare = targets
            .into_iter()
            .rev()
            .fold(otherwise, |otherwise, (value, then)| self.jump(BPF_JEQ, value, then, otherwise));
        let masked = match decision.mask {
            u32::MAX => compare,
            mask => self.before(compare, BPF_ALU | BPF_AND | BPF_K, mask),
        };
        self.load(offset(decision.word), masked)
    }

    /// A balanced tree over ranges of numbers.
    fn search(&mut self, ranges: &[(u32, Label)]) -> Label {
        match ranges {
            [] => unreachable!("there is a range for every number"),
            [(_, label)] => *label,
            _ => {
                let (lower, upper) = ranges.split_at(ranges.len() / 2);
                let (below, from) = (self.search(lower), self.search(upper));
                self.jump(BPF_JGE, upper[0].0, from, below)
            }
        }
    }

    fn load(&mut self, offset: u32, next: Label) -> Label {
        self.before(next, BPF_LD | BPF_W | BPF_ABS, offset)
    }

    /// A conditional jump.
    fn jump(&mut self, test: u32, value: u32, then: Label, otherwise: Label) -> Label {
        let (then, otherwise) = (self.within_reach(then), self.within_reach(otherwise));
        let label = self.push(BPF_JMP | test | BPF_K, value);
        let skipped = |target| u8::try_from(label - target - 1).expect("targets are within reach");
        self.reversed[label].jt = skipped(then);
        self.reversed[label].jf = skipped(otherwise);
        label
    }

    /// The target, or a jump to it that is near.
    fn within_reach(&mut self, target: Label) -> Label {
        if self.reversed.len() - target <= REACH { target } else { self.jump_always(target) }
    }

    fn jump_always(&mut self, target: Label) -> Label {
        let skipped = self.reversed.len() - target - 1;
        self.push(BPF_JMP | BPF_JA, u32::try_from(skipped).expect("a filter is short"))
    }

    /// An instruction that goes on with `next`.
    fn before(&mut self, next: Label, code: u32, value: u32) -> Label {
        if next + 1 != self.reversed.len() {
            self.jump_always(next);
        }
        self.push(code, value)
    }

    fn push(&mut self, code: u32, value: u32) -> Label {
        let code = u16::try_from(code).expect("codes have 16 bits");
        self.reversed.push(sock_filter { code, jt: 0, jf: 0, k: value });
        self.reversed.len() - 1
    }
}

/// Both processors are little-endian.
fn offset(word: Word) -> u32 {
    match word {
        Word::Low(argument) => ARGUMENTS_OFFSET + 8 * u32::from(argument),
        Word::High(argument) => ARGUMENTS_OFFSET + 8 * u32::from(argument) + 4,
    }
}
