//! The rules for the calls of sockets.
//!
//! A kind of socket that is refused fails as on a kernel that does not have it (`EAFNOSUPPORT`, `EPROTONOSUPPORT`), and
//! TCP Fast Open as on one where it is switched off (`EOPNOTSUPP`): programs know these errors and use what is left, for
//! example TCP where Go would prefer MPTCP. `EPERM` would be an error that they report.

use super::calls::{Call, LISTEN, SENDMMSG, SENDMSG, SENDTO, SETSOCKOPT, SOCKET, SOCKETPAIR};
use super::decision::Decision::{self, Allow, Fail};
use super::decision::{by, by_bits};
use crate::filter_choices::{FilterChoices, Sockets};
use libc::{EAFNOSUPPORT, EOPNOTSUPP, EPERM, EPROTONOSUPPORT};

/// The bits of the type of a socket that are not flags.
const TYPE: u32 = 0xF;
/// The type that turns an internet socket into a packet socket, for compatibility with Linux 2.0.
const SOCK_PACKET: u32 = 10;

pub(super) fn rules(choices: FilterChoices) -> Vec<(Call, Decision)> {
    let mut rules = vec![(SOCKET, socket(choices)), (SOCKETPAIR, socket_pair(choices))];
    if choices.sockets == Sockets::TcpOnly {
        rules.extend([
            (LISTEN, Fail(EPERM)),
            (SENDTO, without_fast_open(3)),
            (SENDMSG, without_fast_open(2)),
            (SENDMMSG, without_fast_open(3)),
            (SETSOCKOPT, set_option()),
        ]);
    }
    rules
}

/// Unix, internet and routing sockets. All other families (vsock, kernel crypto, packets, Bluetooth and so on) are
/// denied.
fn socket(choices: FilterChoices) -> Decision {
    let unix = if choices.unix_sockets { Allow } else { Fail(EAFNOSUPPORT) };
    let internet = internet_socket(choices.sockets);
    // Lists network interfaces. The other protocols configure the firewall, audit and much more.
    let netlink = by(2, vec![(word(libc::NETLINK_ROUTE), Allow)], Fail(EPROTONOSUPPORT));
    let families = vec![
        (word(libc::AF_UNIX), unix),
        (word(libc::AF_INET), internet.clone()),
        (word(libc::AF_INET6), internet),
        (word(libc::AF_NETLINK), netlink),
    ];
    by(0, families, Fail(EAFNOSUPPORT))
}

fn internet_socket(sockets: Sockets) -> Decision {
    let unsupported = Fail(EPROTONOSUPPORT);
    match sockets {
        Sockets::All | Sockets::Isolated => by_bits(1, TYPE, vec![(SOCK_PACKET, unsupported)], Allow),
        Sockets::TcpOnly => {
            // An allow list: MPTCP, SMC and SCTP are streams too, and Landlock checks none of them.
            let tcp = [libc::IPPROTO_IP, libc::IPPROTO_TCP].map(|protocol| (word(protocol), Allow));
            let stream = by(2, tcp.to_vec(), unsupported.clone());
            by_bits(1, TYPE, vec![(word(libc::SOCK_STREAM), stream)], unsupported)
        }
        Sockets::None => Fail(EAFNOSUPPORT),
    }
}

/// The two ends of a stream cannot be connected to anything else. A datagram socket can, even if it is one of a pair.
fn socket_pair(choices: FilterChoices) -> Decision {
    let unix = if choices.unix_sockets {
        Allow
    } else {
        let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| (word(kind), Allow));
        by_bits(1, TYPE, connected.to_vec(), Fail(EPROTONOSUPPORT))
    };
    by(0, vec![(word(libc::AF_UNIX), unix)], Fail(EAFNOSUPPORT))
}

/// Fast Open sends data to an address without `connect`.
fn without_fast_open(flags: u8) -> Decision {
    by_bits(flags, word(libc::MSG_FASTOPEN), vec![(0, Allow)], Fail(EOPNOTSUPP))
}

/// An upper-layer protocol (`TCP_ULP`) can turn a TCP socket into one of SMC.
fn set_option() -> Decision {
    let denied = [libc::TCP_FASTOPEN, libc::TCP_FASTOPEN_CONNECT, libc::TCP_ULP];
    let option = by(2, denied.map(|option| (word(option), Fail(EOPNOTSUPP))).to_vec(), Allow);
    by(1, vec![(word(libc::IPPROTO_TCP), option)], Allow)
}

fn word(value: i32) -> u32 {
    value.cast_unsigned()
}
