//! Template program: a template as a program that reads URIs.
//!
//! It is a small automaton of the kind that regular expressions become. It has no counters and no memory: whatever
//! follows an instruction at a position is the same however it was reached, so that the search in `search.rs` visits
//! every such pair only once.

use crate::part::{Part, Variable};
use crate::pattern::{Ends, Greed, Mark, Pattern};

/// No template matches a longer URI.
pub const MAX_URI_BYTES: usize = 8192;

/// With `MAX_URI_BYTES` this limits the cost of one match.
const MAX_INSTRUCTIONS: usize = 20_000;

#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) instructions: Vec<Instruction>,
    /// The variables that marks refer to. A variable that is written twice is here twice.
    pub(crate) variables: Vec<Variable>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Instruction {
    /// Exactly this byte.
    Byte(u8),
    /// One character that does not end a value here.
    Character(Ends),
    /// Continues at the first target, and at the second if the first leads nowhere.
    Either(usize, usize),
    Jump(usize),
    Mark(Mark),
    /// The end of the template, which has to be that of the URI.
    End,
}

impl Program {
    /// `None` if it would be too long.
    pub(crate) fn of(parts: &[Part]) -> Option<Self> {
        let mut program = Self { instructions: Vec::new(), variables: Vec::new() };
        for part in parts {
            let pattern = Pattern::of(part, &mut program.variables);
            program.add(&pattern);
            if program.instructions.len() >= MAX_INSTRUCTIONS {
                return None;
            }
        }
        program.instructions.push(Instruction::End);
        Some(program)
    }

    fn add(&mut self, pattern: &Pattern) {
        // The caller refuses an overlong program.
        if self.here() >= MAX_INSTRUCTIONS {
            return;
        }
        match pattern {
            Pattern::Text(text) => self.instructions.extend(text.bytes().map(Instruction::Byte)),
            Pattern::Characters { ends, least, most } => self.characters(*ends, *least, *most),
            Pattern::Sequence(members) => members.iter().for_each(|member| self.add(member)),
            Pattern::Start(members) => {
                let mut forks = Vec::new();
                for member in members {
                    forks.push(self.reserve());
                    self.add(member);
                }
                for fork in forks {
                    self.instructions[fork] = Instruction::Either(fork + 1, self.here());
                }
            }
            Pattern::Alternatives(alternatives) => self.alternatives(alternatives),
            Pattern::Repeat { pattern, greed } => self.repeat(*greed, |program| program.add(pattern)),
            Pattern::Mark(mark) => self.instructions.push(Instruction::Mark(*mark)),
        }
    }

    fn characters(&mut self, ends: Ends, least: usize, most: Option<usize>) {
        let one = Instruction::Character(ends);
        self.instructions.extend(std::iter::repeat_n(one, least));
        // A limit that no URI reaches is no limit.
        let Some(most) = most.filter(|&most| most < MAX_URI_BYTES) else {
            self.repeat(Greed::AsFewAsPossible, |program| program.instructions.push(one));
            return;
        };
        let end = self.here() + 2 * most.saturating_sub(least);
        while self.here() < end && self.here() < MAX_INSTRUCTIONS {
            let more = self.here() + 1;
            self.instructions.extend([Instruction::Either(end, more), one]);
        }
    }

    fn alternatives(&mut self, alternatives: &[Pattern]) {
        let mut exits = Vec::new();
        for alternative in alternatives {
            let fork = self.reserve();
            self.add(alternative);
            exits.push(self.reserve());
            self.instructions[fork] = Instruction::Either(fork + 1, self.here());
        }
        // All alternatives were tried.
        let nowhere = self.reserve();
        self.instructions[nowhere] = Instruction::Jump(nowhere);
        for exit in exits {
            self.instructions[exit] = Instruction::Jump(self.here());
        }
    }

    fn repeat(&mut self, greed: Greed, body: impl FnOnce(&mut Self)) {
        let fork = self.reserve();
        body(self);
        self.instructions.push(Instruction::Jump(fork));
        let (more, end) = (fork + 1, self.here());
        self.instructions[fork] = match greed {
            Greed::AsManyAsPossible => Instruction::Either(more, end),
            Greed::AsFewAsPossible => Instruction::Either(end, more),
        };
    }

    fn here(&self) -> usize {
        self.instructions.len()
    }

    /// Reserves the place of an instruction that is not known yet.
    fn reserve(&mut self) -> usize {
        self.instructions.push(Instruction::End);
        self.here() - 1
    }
}
