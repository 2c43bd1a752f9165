//! Connections to the outside, of every kind that a kernel offers. The outside answers with what it receives:
//! only an answer counts.

use super::attack::{Attack, Attempt, Failure};
use super::system_call::{address, address_mut, call, descriptor, number_of};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixStream};
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(5);
const MESSAGE: &[u8] = b"hostile";
const MPTCP: usize = 262;
const FAST_OPEN_CONNECT: usize = 30;

pub(super) const ATTACKS: &[Attack] = &[
    Attack { name: "tcp", usage: "ADDRESS", run: tcp },
    Attack { name: "udp", usage: "ADDRESS", run: |parameters| datagram(parameters, MESSAGE) },
    Attack { name: "dns", usage: "ADDRESS", run: |parameters| datagram(parameters, QUESTION) },
    Attack { name: "mptcp", usage: "ADDRESS", run: mptcp },
    Attack { name: "fast-open", usage: "ADDRESS", run: fast_open },
    Attack { name: "fast-open-connect", usage: "ADDRESS", run: fast_open_connect },
    Attack { name: "accept", usage: "ADDRESS", run: accept },
    Attack { name: "listen", usage: "NETWORK", run: listen_without_bind },
    Attack { name: "unix", usage: "FILE", run: |parameters| answers(UnixStream::connect(parameters[0])?) },
    Attack { name: "unix-datagram", usage: "FILE", run: unix_datagram },
    Attack { name: "abstract", usage: "NAME", run: abstract_name },
    Attack { name: "raw", usage: "", run: |_| socket(libc::AF_INET, libc::SOCK_RAW, 1) },
    Attack { name: "packet", usage: "", run: |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0) },
    Attack { name: "vsock", usage: "", run: |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0) },
    Attack { name: "crypto", usage: "", run: |_| socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0) },
    Attack { name: "netlink-audit", usage: "", run: |_| netlink(libc::NETLINK_AUDIT) },
    Attack { name: "netlink-sockets", usage: "", run: |_| netlink(libc::NETLINK_SOCK_DIAG) },
    Attack { name: "netlink-devices", usage: "", run: |_| netlink(libc::NETLINK_KOBJECT_UEVENT) },
    Attack { name: "family-with-high-bits", usage: "", run: family_with_high_bits },
];

/// A question for the address of `a.test`, as a resolver sends it.
const QUESTION: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x01\0\x01";

fn address_in(parameters: &[&str]) -> Result<SocketAddr, Failure> {
    parameters[0].parse().map_err(|_| Failure::without_errno(format!("not an address: {}", parameters[0])))
}

fn answers(mut connection: impl Read + Write + Into<OwnedFd>) -> Attempt {
    connection.write_all(MESSAGE)?;
    has_answer(connection)
}

/// Waits for the answer on any kind of socket.
fn has_answer(connection: impl Into<OwnedFd>) -> Attempt {
    let mut connection = TcpStream::from(connection.into());
    connection.set_read_timeout(Some(TIMEOUT))?;
    let mut answer = [0; 100];
    match connection.read(&mut answer)? {
        0 => Err(Failure::without_errno("closed without an answer")),
        count => Ok(format!("{count} bytes were answered")),
    }
}

fn tcp(parameters: &[&str]) -> Attempt {
    answers(TcpStream::connect_timeout(&address_in(parameters)?, TIMEOUT)?)
}

fn datagram(parameters: &[&str], message: &[u8]) -> Attempt {
    let target = address_in(parameters)?;
    let own = if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(own)?;
    socket.connect(target)?;
    socket.send(message)?;
    has_answer(socket)
}

/// An address as the kernel reads it. Only IPv4: the family matters to the plain attacks only.
fn for_the_kernel(parameters: &[&str]) -> Result<[u8; 16], Failure> {
    let SocketAddr::V4(target) = address_in(parameters)? else {
        return Err(Failure::without_errno("not an IPv4 address"));
    };
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&target.port().to_be_bytes());
    bytes[4..8].copy_from_slice(&target.ip().octets());
    Ok(bytes)
}

fn stream_socket(protocol: usize) -> Result<OwnedFd, Failure> {
    Ok(descriptor(libc::SYS_socket, &[libc::AF_INET as usize, libc::SOCK_STREAM as usize, protocol])?)
}

fn connect(socket: OwnedFd, target: &[u8; 16]) -> Attempt {
    call(libc::SYS_connect, &[number_of(&socket), address(target), target.len()])?;
    answers(TcpStream::from(socket))
}

fn mptcp(parameters: &[&str]) -> Attempt {
    connect(stream_socket(MPTCP)?, &for_the_kernel(parameters)?)
}

/// Connects by sending.
fn fast_open(parameters: &[&str]) -> Attempt {
    let (socket, target) = (stream_socket(0)?, for_the_kernel(parameters)?);
    let flags = libc::MSG_FASTOPEN as usize;
    let arguments =
        [number_of(&socket), address(MESSAGE), MESSAGE.len(), flags, address(&target), target.len()];
    call(libc::SYS_sendto, &arguments)?;
    has_answer(socket)
}

fn fast_open_connect(parameters: &[&str]) -> Attempt {
    let (socket, on) = (stream_socket(0)?, 1_i32);
    let arguments =
        [number_of(&socket), libc::IPPROTO_TCP as usize, FAST_OPEN_CONNECT, address(&on), size_of_val(&on)];
    call(libc::SYS_setsockopt, &arguments)?;
    connect(socket, &for_the_kernel(parameters)?)
}

/// Waits for a connection from the outside.
fn accept(parameters: &[&str]) -> Attempt {
    let listener = TcpListener::bind(address_in(parameters)?)?;
    listener.set_nonblocking(true)?;
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline {
        if listener.accept().is_ok() {
            return Ok("a connection was accepted".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Err(Failure::without_errno("no connection came"))
}

/// The kernel chooses a port. It is reachable if this is the network of the test: a link such as `net:[1]`.
fn listen_without_bind(parameters: &[&str]) -> Attempt {
    let socket = stream_socket(0)?;
    call(libc::SYS_listen, &[number_of(&socket), 1])?;
    let mut own = [0_u8; 16];
    let mut length = own.len() as u32;
    call(libc::SYS_getsockname, &[number_of(&socket), address_mut(&mut own), address_mut(&mut length)])?;
    let port = u16::from_be_bytes([own[2], own[3]]);
    let network = std::fs::read_link("/proc/self/ns/net")?;
    if network.to_string_lossy() == parameters[0] {
        Ok(format!("listens on {}", SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)))
    } else {
        Err(Failure::without_errno("listens in a network of its own"))
    }
}

fn unix_datagram(parameters: &[&str]) -> Attempt {
    let socket = UnixDatagram::unbound()?;
    // A name that the kernel chooses, so that the answer has a target.
    let family = (libc::AF_UNIX as u16).to_ne_bytes();
    call(libc::SYS_bind, &[number_of(&socket), address(&family), family.len()])?;
    socket.connect(parameters[0])?;
    socket.send(MESSAGE)?;
    has_answer(socket)
}

fn abstract_name(parameters: &[&str]) -> Attempt {
    answers(UnixStream::connect_addr(&UnixAddress::from_abstract_name(parameters[0])?)?)
}

fn socket(family: i32, kind: i32, protocol: i32) -> Attempt {
    descriptor(libc::SYS_socket, &[family as usize, kind as usize, protocol as usize])?;
    Ok("a socket was made".to_owned())
}

fn netlink(protocol: i32) -> Attempt {
    socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol)
}

/// The kernel reads 32 bits of the family; a filter that compares 64 sees another number.
fn family_with_high_bits(_: &[&str]) -> Attempt {
    let family = libc::AF_VSOCK as usize | 1 << 32;
    descriptor(libc::SYS_socket, &[family, libc::SOCK_STREAM as usize, 0])?;
    Ok("a socket was made".to_owned())
}
