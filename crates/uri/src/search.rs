//! Template search: runs a program on a URI.

use crate::pattern::Mark;
use crate::percent;
use crate::program::{Instruction, Program};

/// The visited pairs of instruction and position. A pair that did not lead to the end the first time will not the
/// second time, so that no pair has to be visited twice.
pub(crate) struct Seen {
    bits: Vec<u64>,
    positions: usize,
}

impl Seen {
    pub(crate) fn new(program: &Program, uri: &str) -> Self {
        let positions = uri.len() + 1;
        Self { bits: vec![0; (program.instructions.len() * positions).div_ceil(64)], positions }
    }

    /// False if the pair was there before.
    fn insert(&mut self, instruction: usize, position: usize) -> bool {
        let index = instruction * self.positions + position;
        let bit = 1 << (index % 64);
        let word = &mut self.bits[index / 64];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// An alternative that was not taken: where it begins, and how many marks had been recorded by then.
struct Fork {
    instruction: usize,
    position: usize,
    marks: usize,
}

/// The marks on the first path to the end, and their positions.
pub(crate) fn search(program: &Program, uri: &str, seen: &mut Seen) -> Option<Vec<(Mark, usize)>> {
    let bytes = uri.as_bytes();
    let mut marks = Vec::new();
    let mut forks = vec![Fork { instruction: 0, position: 0, marks: 0 }];
    while let Some(Fork { mut instruction, mut position, marks: noted }) = forks.pop() {
        marks.truncate(noted);
        while seen.insert(instruction, position) {
            match program.instructions[instruction] {
                Instruction::Byte(byte) if bytes.get(position) == Some(&byte) => position += 1,
                Instruction::Character(ends) if bytes.get(position).is_some_and(|&byte| !ends.at(byte)) => {
                    position = character_end(bytes, position);
                }
                Instruction::Mark(mark) => marks.push((mark, position)),
                Instruction::Jump(target) => {
                    instruction = target;
                    continue;
                }
                Instruction::Either(first, second) => {
                    forks.push(Fork { instruction: second, position, marks: marks.len() });
                    instruction = first;
                    continue;
                }
                Instruction::End if position == bytes.len() => return Some(marks),
                Instruction::Byte(_) | Instruction::Character(_) | Instruction::End => break,
            }
            instruction += 1;
        }
    }
    None
}

/// The end of the character that begins here. It may be written as several escapes, one for each of its bytes.
fn character_end(bytes: &[u8], start: usize) -> usize {
    if percent::escape_at(bytes, start).is_none() {
        return start + 1;
    }
    let mut end = start + 3;
    while percent::escape_at(bytes, end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end += 3;
    }
    end
}
