//! Calls with their arguments, and what must become of them: written down apart from the rules.

use super::{ALLOW, ARCHITECTURES, all_choices, compiled, fail};
use crate::filter_choices::{FilterChoices, Sockets};
use crate::seccomp::calls::*;
use crate::seccomp::tests::evaluator::{Data, run};
use libc::{EAFNOSUPPORT, EOPNOTSUPP, EPERM, EPROTONOSUPPORT};

/// Bits that the kernel ignores in an argument of type `int`.
const IGNORED: u64 = 0xDEAD_BEEF_0000_0000;

const UNIX: u64 = 1;
const INET: u64 = 2;
const INET6: u64 = 10;
const NETLINK: u64 = 16;
const STREAM: u64 = 1;
const DATAGRAM: u64 = 2;
const RAW: u64 = 3;
const SEQUENTIAL: u64 = 5;
/// `SOCK_CLOEXEC | SOCK_NONBLOCK`.
const FLAGS: u64 = 0o2_004_000;

/// The answer for these arguments, the same on both processors.
fn answer(choices: FilterChoices, call: Call, arguments: &[u64]) -> u32 {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    let answers = ARCHITECTURES.map(|architecture| {
        let number = architecture.number(call).expect("a call of both processors");
        run(&compiled(architecture, choices), Data { number, abi: architecture.audit(), arguments: all })
    });
    assert_eq!(answers[0], answers[1]);
    answers[0]
}

fn with(sockets: Sockets) -> FilterChoices {
    FilterChoices { sockets, unix_sockets: true }
}

fn socket(choices: FilterChoices, family: u64, kind: u64, protocol: u64) -> u32 {
    let plain = answer(choices, SOCKET, &[family, kind, protocol]);
    let odd = [family | IGNORED, kind | FLAGS | IGNORED, protocol | IGNORED];
    assert_eq!(answer(choices, SOCKET, &odd), plain, "ignored bits decide about {family} {kind} {protocol}");
    plain
}

#[test]
fn namespaces_cannot_be_made_by_clone() {
    for choices in all_choices() {
        for flag in [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
            for others in [0, 17, 0x3D_0F00, IGNORED] {
                assert_eq!(answer(choices, CLONE, &[flag | others]), fail(EPERM), "{flag:#x}");
            }
        }
        // A fork, a thread of glibc, `vfork`.
        for flags in [0x0120_0011, 0x003D_0F00, 0x4111] {
            assert_eq!(answer(choices, CLONE, &[flags]), ALLOW, "{flags:#x}");
        }
    }
}

#[test]
fn terminals_cannot_be_typed_into() {
    for choices in all_choices() {
        for request in [0x5412, 0x541C, 0x541D, 0x5423] {
            assert_eq!(answer(choices, IOCTL, &[0, request]), fail(EPERM));
            assert_eq!(answer(choices, IOCTL, &[0, request | IGNORED]), fail(EPERM));
        }
        // TCGETS, TIOCGWINSZ, FIONREAD; and a request that only resembles one.
        for request in [0x5401, 0x5413, 0x541B, 0x1_5412] {
            assert_eq!(answer(choices, IOCTL, &[0x5412, request]), ALLOW);
        }
    }
}

#[test]
fn devices_cannot_be_made() {
    let choices = with(Sockets::All);
    for (mode, verdict) in [
        (0o020_666, fail(EPERM)),
        (0o060_666, fail(EPERM)),
        (0o010_666, ALLOW),
        (0o100_666, ALLOW),
        (0, ALLOW),
    ] {
        assert_eq!(answer(choices, MKNODAT, &[0, 0, mode]), verdict, "{mode:o}");
        // The kernel takes 16 bits of the mode.
        assert_eq!(answer(choices, MKNODAT, &[0, 0, mode | IGNORED | 0x5_0000]), verdict, "{mode:o}");
    }
}

#[test]
fn limits_of_other_processes_can_be_read_but_not_set() {
    let choices = with(Sockets::All);
    let set = |pid, new| answer(choices, PRLIMIT64, &[pid, 7, new, 0x7FFF_0000]);
    assert_eq!([set(0, 0x7FFF_1234_5678), set(IGNORED, 1), set(1, 0)], [ALLOW; 3]);
    // Pointers of which one half is 0.
    assert_eq!([set(1, 0x7FFF_1234_5678), set(1, 0x1_0000_0000), set(1, 0x1000)], [fail(EPERM); 3]);
}

#[test]
fn a_process_sets_its_own_priority_and_not_that_of_the_user() {
    let choices = with(Sockets::All);
    for (call, process, group, user) in [(SETPRIORITY, 0, 1, 2), (IOPRIO_SET, 1, 2, 3)] {
        let set = |which, who| answer(choices, call, &[which, who, 19]);
        assert_eq!([set(process, 0), set(group, 0)], [ALLOW; 2]);
        assert_eq!([set(process, 1), set(group, 1), set(user, 0), set(user, 1000)], [fail(EPERM); 4]);
    }
}

#[test]
fn only_known_families_of_sockets_exist() {
    for choices in all_choices() {
        for family in (0..64).filter(|family| ![UNIX, INET, INET6, NETLINK].contains(family)) {
            for kind in [STREAM, DATAGRAM, RAW, SEQUENTIAL] {
                assert_eq!(socket(choices, family, kind, 0), fail(EAFNOSUPPORT), "family {family}");
            }
        }
        assert_eq!(socket(choices, NETLINK, RAW, 0), ALLOW);
        for protocol in 1..32 {
            assert_eq!(socket(choices, NETLINK, RAW, protocol), fail(EPROTONOSUPPORT));
        }
    }
}

#[test]
fn unix_sockets_can_be_denied_but_pairs_of_streams_cannot() {
    for sockets in super::ALL_SOCKETS {
        for (unix_sockets, verdict, datagrams) in
            [(true, ALLOW, ALLOW), (false, fail(EAFNOSUPPORT), fail(EPROTONOSUPPORT))]
        {
            let choices = FilterChoices { sockets, unix_sockets };
            assert_eq!(socket(choices, UNIX, STREAM, 0), verdict);
            assert_eq!(socket(choices, UNIX, DATAGRAM, 0), verdict);
            let pair = |family, kind| answer(choices, SOCKETPAIR, &[family, kind, 0]);
            assert_eq!([pair(UNIX, STREAM | FLAGS), pair(UNIX | IGNORED, SEQUENTIAL)], [ALLOW; 2]);
            assert_eq!([pair(UNIX, DATAGRAM | FLAGS), pair(UNIX, RAW | IGNORED)], [datagrams; 2]);
            for family in [INET, NETLINK, 30] {
                assert_eq!(pair(family, STREAM), fail(EAFNOSUPPORT));
            }
        }
    }
}

#[test]
fn internet_sockets_are_those_of_the_choice() {
    for family in [INET, INET6] {
        for sockets in [Sockets::All, Sockets::Isolated] {
            for (kind, protocol) in [(STREAM, 0), (STREAM, 6), (STREAM, 262), (DATAGRAM, 17), (RAW, 1)] {
                assert_eq!(socket(with(sockets), family, kind, protocol), ALLOW);
            }
            // SOCK_PACKET.
            assert_eq!(socket(with(sockets), family, 10, 0x300), fail(EPROTONOSUPPORT));
        }
        for kind in 0..16 {
            // The default, TCP, UDP, SCTP, SMC, MPTCP, raw.
            for protocol in [0, 6, 17, 132, 256, 262, 255] {
                let tcp = kind == STREAM && [0, 6].contains(&protocol);
                let verdict = if tcp { ALLOW } else { fail(EPROTONOSUPPORT) };
                assert_eq!(socket(with(Sockets::TcpOnly), family, kind, protocol), verdict);
                assert_eq!(socket(with(Sockets::None), family, kind, protocol), fail(EAFNOSUPPORT));
            }
        }
    }
}

#[test]
fn nothing_gets_around_rules_for_ports() {
    const FAST_OPEN: u64 = 0x2000_0000;
    for choices in all_choices() {
        let held = choices.sockets == Sockets::TcpOnly;
        let denied = |error| if held { fail(error) } else { ALLOW };
        assert_eq!(answer(choices, LISTEN, &[3, 128]), denied(EPERM));
        // MSG_NOSIGNAL, and nothing.
        for others in [0x4000, 0, IGNORED] {
            let unsupported = denied(EOPNOTSUPP);
            assert_eq!(answer(choices, SENDTO, &[3, 1, 1, FAST_OPEN | others, 1, 16]), unsupported);
            assert_eq!(answer(choices, SENDMSG, &[3, 1, FAST_OPEN | others]), unsupported);
            assert_eq!(answer(choices, SENDMMSG, &[3, 1, 1, FAST_OPEN | others]), unsupported);
            assert_eq!(answer(choices, SENDTO, &[FAST_OPEN, 1, FAST_OPEN, others, 1, 16]), ALLOW);
            assert_eq!(answer(choices, SENDMSG, &[3, FAST_OPEN, others]), ALLOW);
            assert_eq!(answer(choices, SENDMMSG, &[3, 1, FAST_OPEN, others]), ALLOW);
        }
        for ignored in [0, IGNORED] {
            let option =
                |level, name| answer(choices, SETSOCKOPT, &[3, level | ignored, name | ignored, 1, 4]);
            for name in [23, 30, 31] {
                assert_eq!(option(6, name), denied(EOPNOTSUPP));
                // The same numbers are other options of other levels.
                assert_eq!([option(1, name), option(0, name), option(41, name)], [ALLOW; 3]);
            }
            // TCP_NODELAY, TCP_KEEPIDLE.
            assert_eq!([option(6, 1), option(6, 4)], [ALLOW; 2]);
        }
    }
}
