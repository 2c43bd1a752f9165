//! The compiled filters, run by an evaluator, against the rules that they were compiled from and against known answers.

mod evaluator;
mod known_answers;

use super::calls::{Architecture, NEWEST};
use super::decision::{Decision, Match, Word};
use super::{program, rules};
use crate::filter_choices::{FilterChoices, Sockets};
use evaluator::{Data, longest_path, run};
use libc::sock_filter;
use std::collections::BTreeSet;

const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];
const ALL_SOCKETS: [Sockets; 4] = [Sockets::All, Sockets::Isolated, Sockets::TcpOnly, Sockets::None];
const ALLOW: u32 = 0x7FFF_0000;
const KILL: u32 = 0x8000_0000;

fn fail(error: i32) -> u32 {
    0x0005_0000 | error.cast_unsigned()
}

fn all_choices() -> Vec<FilterChoices> {
    let with = |sockets| [true, false].map(|unix_sockets| FilterChoices { sockets, unix_sockets });
    ALL_SOCKETS.into_iter().flat_map(with).collect()
}

fn compiled(architecture: Architecture, choices: FilterChoices) -> Vec<sock_filter> {
    program::compile(architecture, &rules::rules(architecture, choices))
}

/// What the rules say, without a program.
fn expected(decision: &Decision, arguments: [u64; 6]) -> u32 {
    match decision {
        Decision::Allow => ALLOW,
        Decision::Fail(error) => fail(*error),
        Decision::Notify => libc::SECCOMP_RET_USER_NOTIF,
        Decision::Match(matched) => {
            let Match { word, mask, cases, otherwise } = &**matched;
            let half = match *word {
                Word::Low(argument) => arguments[usize::from(argument)] & 0xFFFF_FFFF,
                Word::High(argument) => arguments[usize::from(argument)] >> 32,
            };
            let found = cases.iter().find(|(value, _)| half & u64::from(*mask) == u64::from(*value));
            expected(found.map_or(otherwise, |(_, then)| then), arguments)
        }
    }
}

/// All values that a decision compares arguments with.
fn values(decision: &Decision, found: &mut BTreeSet<u64>) {
    if let Decision::Match(matched) = decision {
        for (value, then) in &matched.cases {
            found.insert(u64::from(*value));
            values(then, found);
        }
        found.insert(u64::from(matched.mask));
        values(&matched.otherwise, found);
    }
}

/// Combinations of the values that a decision knows and others, in the first four arguments.
fn arguments_for(decision: &Decision) -> Vec<[u64; 6]> {
    let mut interesting = BTreeSet::from([0, 1, u64::MAX, 1 << 32]);
    values(decision, &mut interesting);
    let interesting: Vec<u64> = interesting.into_iter().collect();
    if matches!(decision, Decision::Allow | Decision::Fail(_)) {
        return interesting.iter().map(|value| [*value; 6]).collect();
    }
    let mut all = Vec::new();
    for first in &interesting {
        for second in &interesting {
            for third in &interesting {
                all.extend(interesting.iter().map(|fourth| [*first, *second, *third, *fourth, 0, 0]));
            }
        }
    }
    all
}

#[test]
fn every_number_is_decided_by_the_table() {
    for architecture in ARCHITECTURES {
        for choices in all_choices() {
            let table = rules::rules(architecture, choices);
            let program = program::compile(architecture, &table);
            for number in 0..600 {
                let rule = table.iter().find(|(ruled, _)| *ruled == number).map(|(_, decision)| decision);
                let newer = Decision::Fail(libc::ENOSYS);
                let decision = rule.unwrap_or(if number > NEWEST { &newer } else { &Decision::Allow });
                for arguments in arguments_for(decision) {
                    let data = Data { number, abi: architecture.audit(), arguments };
                    assert_eq!(
                        run(&program, data),
                        expected(decision, arguments),
                        "{architecture:?} {choices:?} {data:x?}"
                    );
                }
            }
        }
    }
}

/// The kernel takes the strictest of several filters.
#[test]
fn the_parts_of_a_filter_decide_together_as_the_whole() {
    for architecture in ARCHITECTURES {
        for choices in all_choices() {
            let table = rules::rules(architecture, choices);
            let (inherited, rest) = rules::split(architecture, &table);
            assert!(!rest.is_empty() && rest.len() + inherited.len() == table.len());
            let [whole, inherited, rest] =
                [&table, &inherited, &rest].map(|rules| program::compile(architecture, rules));
            for number in 0..600 {
                let rule = table.iter().find(|(ruled, _)| *ruled == number).map(|(_, decision)| decision);
                for arguments in arguments_for(rule.unwrap_or(&Decision::Allow)) {
                    let data = Data { number, abi: architecture.audit(), arguments };
                    let strictest = match (run(&inherited, data), run(&rest, data)) {
                        (ALLOW, decision) | (decision, ALLOW) => decision,
                        (one, other) => {
                            assert_eq!(one, other, "{data:x?}");
                            one
                        }
                    };
                    assert_eq!(strictest, run(&whole, data), "{architecture:?} {choices:?} {data:x?}");
                }
            }
            let other_abi = Data { number: 0, abi: 0x4000_0003, arguments: [0; 6] };
            assert_eq!((run(&inherited, other_abi), run(&rest, other_abi)), (KILL, KILL));
        }
    }
}

#[test]
fn a_call_has_one_rule() {
    for architecture in ARCHITECTURES {
        for choices in all_choices() {
            let table = rules::rules(architecture, choices);
            let numbers: BTreeSet<u32> = table.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers.len(), table.len(), "{architecture:?} {choices:?}");
            assert!(numbers.iter().all(|number| *number <= NEWEST));
        }
    }
}

#[test]
fn a_call_of_another_abi_kills_the_process() {
    // i386, x86-64, arm, aarch64.
    let abis = [0x4000_0003, 0xC000_003E, 0x4000_0028, 0xC000_00B7];
    for architecture in ARCHITECTURES {
        for choices in all_choices() {
            let program = compiled(architecture, choices);
            for abi in abis.into_iter().filter(|abi| *abi != architecture.audit()) {
                for number in 0..600 {
                    assert_eq!(run(&program, Data { number, abi, arguments: [0; 6] }), KILL);
                }
            }
        }
    }
}

#[test]
fn numbers_of_the_x32_abi_do_not_exist() {
    for choices in all_choices() {
        let program = compiled(Architecture::X86_64, choices);
        for number in (0..600).map(|number| number | 0x4000_0000).chain([0x7FFF_FFFF, 0x8000_0000, u32::MAX])
        {
            let data = Data { number, abi: Architecture::X86_64.audit(), arguments: [0; 6] };
            assert_eq!(run(&program, data), fail(libc::ENOSYS), "{number:#x}");
        }
    }
}

/// The length of the paths is the cost of every start. A search in 100 ranges takes 7 steps.
#[test]
fn paths_are_short() {
    for architecture in ARCHITECTURES {
        for choices in all_choices() {
            let program = compiled(architecture, choices);
            let longest = longest_path(&program);
            assert!(longest <= 24, "{architecture:?} {choices:?}: {longest}");
            assert!(program.len() <= 168, "{architecture:?} {choices:?}: {} instructions", program.len());
        }
    }
}

/// Jumps that are too far for one instruction take two.
#[test]
fn a_long_program_still_decides_by_its_table() {
    let number_of_rules = 230;
    let rules: Vec<(u32, Decision)> = (0..number_of_rules)
        .map(|index| {
            let by_argument = Match {
                word: Word::High(5),
                mask: 0xFF,
                cases: vec![(index, Decision::Allow)],
                otherwise: Decision::Fail(i32::try_from(index).unwrap()),
            };
            (2 * index, Decision::Match(Box::new(by_argument)))
        })
        .collect();
    let program = program::compile(Architecture::X86_64, &rules);
    assert!(program.len() > 1000);
    for (number, decision) in &rules {
        for value in [u64::from(*number) / 2, 255] {
            let arguments = [0, 0, 0, 0, 0, value << 32];
            let data = Data { number: *number, abi: Architecture::X86_64.audit(), arguments };
            assert_eq!(run(&program, data), expected(decision, arguments), "{number}");
            assert_eq!(run(&program, Data { number: number + 1, ..data }), ALLOW, "{}", number + 1);
        }
    }
}

#[test]
fn a_program_without_rules_allows_what_is_known() {
    let program = program::compile(Architecture::Aarch64, &[]);
    let answer =
        |number| run(&program, Data { number, abi: Architecture::Aarch64.audit(), arguments: [0; 6] });
    assert_eq!((answer(0), answer(NEWEST), answer(NEWEST + 1)), (ALLOW, ALLOW, fail(libc::ENOSYS)));
}
