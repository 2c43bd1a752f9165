//! Namespaces: a user, a network and System V IPC of a process's own, made ahead by a helper process and entered with two system calls.
//!
//! A process with threads cannot make a user namespace for itself, and a socket belongs to the namespace that it was made
//! in. So this program is started again as the maker: it makes the namespaces, switches the loopback device on, opens the
//! listening sockets that are wanted, hands all of it over a socket, and ends. The descriptors keep the namespaces alive.

#![expect(unsafe_code, reason = "no crate we use enters namespaces or switches a network device on")]

use parking_lot::Mutex;
use rustix::io::{Errno, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::ffi::c_int;
use std::fs;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

/// The argument that makes this program the maker.
const MAKER_ARGUMENT: &str = "__namespaces";

/// How many descriptors the maker hands over at most.
const MOST_DESCRIPTORS: usize = 32;

/// How many listening sockets a namespace may have.
pub const MOST_LISTENERS: usize = MOST_DESCRIPTORS - 3;

/// The namespaces of one confined process at a time.
#[derive(Debug)]
pub struct Namespaces {
    /// `None` if this system allows root a network, and nobody a user namespace.
    pub(crate) user: Option<Arc<OwnedFd>>,
    pub(crate) network: Arc<OwnedFd>,
    /// Shared memory, semaphores and message queues.
    pub(crate) ipc: Arc<OwnedFd>,
    /// Listening sockets on the loopback device of the network, in the order of the ports asked for.
    pub listeners: Vec<TcpListener>,
}

/// Namespaces that were made to try it, and are not used yet.
static UNUSED: Mutex<Option<Namespaces>> = Mutex::new(None);

impl Namespaces {
    /// Makes them, with a listening socket for each port.
    pub fn make(ports: &[u16]) -> io::Result<Self> {
        let unused = if ports.is_empty() { UNUSED.lock().take() } else { None };
        unused.map_or_else(|| Self::make_new(ports), Ok)
    }

    /// Lets the next ones that need no sockets be these.
    pub(super) fn keep_for_later(self) {
        *UNUSED.lock() = Some(self);
    }

    pub(super) fn make_new(ports: &[u16]) -> io::Result<Self> {
        if ports.len() > MOST_LISTENERS {
            return Err(io::Error::other(format!("at most {MOST_LISTENERS} ports can be opened")));
        }
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let mut maker = Command::new("/proc/self/exe")
            .arg0(std::env::current_exe()?)
            .arg(MAKER_ARGUMENT)
            .args(ports.iter().map(u16::to_string))
            .env_clear()
            .current_dir("/")
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let received = receive(ours.as_fd());
        let _ = maker.wait();
        let (message, descriptors) = received?;
        let mut descriptors = descriptors.into_iter();
        let user = match message.as_slice() {
            b"user" => descriptors.next().map(Arc::new),
            b"root" => None,
            problem => return Err(io::Error::other(String::from_utf8_lossy(problem).into_owned())),
        };
        let mut next =
            || descriptors.next().map(Arc::new).ok_or_else(|| io::Error::other("a namespace is missing"));
        let (network, ipc) = (next()?, next()?);
        Ok(Self { user, network, ipc, listeners: descriptors.map(TcpListener::from).collect() })
    }

    pub fn has_user(&self) -> bool {
        self.user.is_some()
    }
}

/// Makes the calling process a member of a namespace. Safe to call in the child of `vfork`.
pub(crate) fn enter(namespace: BorrowedFd<'_>, kind: c_int) -> rustix::io::Result<()> {
    // SAFETY: It takes no memory of ours.
    match unsafe { libc::setns(namespace.as_raw_fd(), kind) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Runs the maker if this process was started as one. To be called first in `main`.
pub fn run_maker_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != MAKER_ARGUMENT {
        return None;
    }
    let ports: Vec<u16> = words.filter_map(|word| word.to_str()?.parse().ok()).collect();
    let socket = io::stdin();
    let sent = match make_here(&ports) {
        Ok(Made { kind, descriptors }) => {
            let descriptors: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
            send(socket.as_fd(), kind, &descriptors)
        }
        Err(error) => send(socket.as_fd(), error.to_string().as_bytes(), &[]),
    };
    Some(if sent.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Made {
    kind: &'static [u8],
    descriptors: Vec<OwnedFd>,
}

/// Makes the namespaces for this process, which has one thread.
fn make_here(ports: &[u16]) -> io::Result<Made> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let with_user = unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWIPC);
    if let Err(error) = &with_user {
        if uid != 0 {
            return Err(io::Error::new(error.kind(), format!("no user namespace can be made: {error}")));
        }
        unshare(libc::CLONE_NEWNET | libc::CLONE_NEWIPC)?;
    } else {
        map_ids(uid, gid)
            .map_err(|error| io::Error::new(error.kind(), format!("ids cannot be mapped: {error}")))?;
    }
    // Some systems allow the namespace and no configuration of it. It is as closed without.
    let is_up = switch_loopback_on();
    if !ports.is_empty() {
        is_up.map_err(|error| io::Error::new(error.kind(), format!("no loopback device: {error}")))?;
    }
    let mut descriptors = Vec::new();
    if with_user.is_ok() {
        descriptors.push(namespace_of_this_process("user")?);
    }
    descriptors.push(namespace_of_this_process("net")?);
    descriptors.push(namespace_of_this_process("ipc")?);
    for port in ports {
        descriptors.push(TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?.into());
    }
    Ok(Made { kind: if with_user.is_ok() { b"user" } else { b"root" }, descriptors })
}

fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: It changes only what this process sees; it has one thread.
    if unsafe { libc::unshare(flags) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes this user the only one of the namespace, under its own number.
#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn map_ids(uid: u32, gid: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel")]
fn namespace_of_this_process(name: &str) -> io::Result<OwnedFd> {
    Ok(fs::File::open(format!("/proc/self/ns/{name}"))?.into())
}

fn switch_loopback_on() -> io::Result<()> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: A request of zeroes is valid; name and flags are set before the kernel reads them.
    unsafe {
        let mut request: libc::ifreq = MaybeUninit::zeroed().assume_init();
        request.ifr_name[..2].copy_from_slice(std::slice::from_raw_parts(c"lo".as_ptr(), 2));
        request.ifr_ifru.ifru_flags = libc::IFF_UP.try_into().unwrap_or_default();
        // The libraries disagree about the type of the second argument of `ioctl`.
        if libc::syscall(libc::SYS_ioctl, socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

fn send(socket: BorrowedFd<'_>, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(socket, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

fn receive(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut text = [0; 512];
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut text)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    if received.bytes == 0 {
        return Err(io::Error::other("the maker of namespaces ended without an answer"));
    }
    Ok((text[..received.bytes].to_vec(), descriptors))
}
