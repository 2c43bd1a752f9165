//! Runs a filter as the kernel does, with its checks of a filter at installation.

use libc::sock_filter;

/// The data of one call (`struct seccomp_data`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    pub(super) number: u32,
    pub(super) abi: u32,
    pub(super) arguments: [u64; 6],
}

/// The return value of the filter.
pub(super) fn run(program: &[sock_filter], data: Data) -> u32 {
    let (mut at, mut accumulator) = (0, 0);
    loop {
        let instruction = program[at];
        let (value, then, otherwise) = (instruction.k, instruction.jt, instruction.jf);
        at += 1;
        let skip = |condition: bool| usize::from(if condition { then } else { otherwise });
        match instruction.code {
            // LD W ABS
            0x20 => accumulator = data.word(value),
            // ALU AND K
            0x54 => accumulator &= value,
            // JMP JA
            0x05 => at += usize::try_from(value).unwrap(),
            // JMP JEQ K
            0x15 => at += skip(accumulator == value),
            // JMP JGE K
            0x35 => at += skip(accumulator >= value),
            // RET K
            0x06 => return value,
            code => panic!("the kernel does not accept instruction {code:#x}"),
        }
    }
}

/// How many instructions the filter runs at most, whatever the call is.
pub(super) fn longest_path(program: &[sock_filter]) -> usize {
    let mut longest = vec![0; program.len()];
    for (at, instruction) in program.iter().enumerate().rev() {
        let skipped = match instruction.code {
            0x06 => vec![],
            0x05 => vec![usize::try_from(instruction.k).unwrap()],
            0x15 | 0x35 => vec![usize::from(instruction.jt), usize::from(instruction.jf)],
            _ => vec![0],
        };
        longest[at] = 1 + skipped.into_iter().map(|skipped| longest[at + 1 + skipped]).max().unwrap_or(0);
    }
    longest[0]
}

impl Data {
    fn word(self, offset: u32) -> u32 {
        assert!(offset.is_multiple_of(4), "a word is aligned");
        match offset {
            0 => self.number,
            4 => self.abi,
            16..64 => {
                let argument = self.arguments[usize::try_from((offset - 16) / 8).unwrap()];
                let half = if offset.is_multiple_of(8) { argument } else { argument >> 32 };
                u32::try_from(half & u64::from(u32::MAX)).unwrap()
            }
            _ => panic!("offset {offset} is no word of a call"),
        }
    }
}
