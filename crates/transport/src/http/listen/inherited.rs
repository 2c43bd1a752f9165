//! Socket activation: sockets that the service manager opened before it started us (`sd_listen_fds`).

#![expect(unsafe_code, reason = "a descriptor that was handed over is known by its number alone")]

use super::{ListenError, Listener};
use rustix::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use std::io;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first inherited descriptor (`SD_LISTEN_FDS_START`).
const FIRST: RawFd = 3;

/// More sockets than this are refused.
const MOST: RawFd = 64;

/// Whether the sockets were taken already. A second owner would close descriptors of the first.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the inherited sockets. Succeeds only once in the life of a process.
pub(super) fn take() -> Result<Vec<Listener>, ListenError> {
    let count = count(|name| std::env::var(name).ok(), std::process::id())?;
    if TAKEN.swap(true, Ordering::AcqRel) {
        return Err(ListenError::InheritedBefore);
    }
    (FIRST..FIRST + count).map(take_one).collect()
}

/// How many sockets were passed, if `LISTEN_PID` names this process.
fn count(variable: impl Fn(&str) -> Option<String>, own_id: u32) -> Result<RawFd, ListenError> {
    let (Some(count), Some(meant_for)) = (variable("LISTEN_FDS"), variable("LISTEN_PID")) else {
        return Err(ListenError::NothingInherited);
    };
    if meant_for.parse() != Ok(own_id) {
        return Err(ListenError::MeantForAnother(meant_for.escape_default().to_string()));
    }
    let count = count.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.ok_or(ListenError::NothingInherited)
}

fn take_one(number: RawFd) -> Result<Listener, ListenError> {
    let refused = |error| ListenError::NotListening(number, error);
    // SAFETY: the descriptor is only inspected, and a number that is not open yields an error.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    if !does_listen(borrowed).map_err(refused)? {
        return Err(refused(io::Error::from(io::ErrorKind::InvalidInput)));
    }
    // Not inherited by children, which would keep it open after us.
    fcntl_setfd(borrowed, FdFlags::CLOEXEC).map_err(|error| refused(error.into()))?;
    // SAFETY: the descriptor is open, was passed to this process, and nothing else in it takes inherited descriptors.
    adopt(unsafe { OwnedFd::from_raw_fd(number) }).map_err(refused)
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
fn does_listen(socket: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(rustix::net::sockopt::socket_acceptconn(socket)?)
}

/// On other systems this shows when a connection is accepted.
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
fn does_listen(socket: BorrowedFd<'_>) -> io::Result<bool> {
    rustix::net::sockopt::socket_type(socket)?;
    Ok(true)
}

/// Converts a listening socket, TCP or Unix, to a listener.
fn adopt(socket: OwnedFd) -> io::Result<Listener> {
    let socket = UnixListener::from(socket);
    socket.set_nonblocking(true)?;
    if socket.local_addr().is_ok() {
        return Ok(Listener::Unix { listener: tokio::net::UnixListener::from_std(socket)?, file: None });
    }
    let socket = std::net::TcpListener::from(OwnedFd::from(socket));
    socket.local_addr()?;
    Ok(Listener::Tcp(tokio::net::TcpListener::from_std(socket)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(fds: Option<&str>, pid: Option<&str>) -> Result<RawFd, ListenError> {
        count(|name| if name == "LISTEN_FDS" { fds } else { pid }.map(str::to_owned), 42)
    }

    #[test]
    fn sockets_are_taken_by_whom_they_were_meant_for() {
        assert_eq!(counted(Some("2"), Some("42")).unwrap(), 2);
        for nothing in [(None, None), (Some("1"), None), (None, Some("42"))] {
            assert!(
                matches!(counted(nothing.0, nothing.1), Err(ListenError::NothingInherited)),
                "{nothing:?}"
            );
        }
        for count in ["0", "-1", "65", "1e3", "", "99999999999"] {
            assert!(
                matches!(counted(Some(count), Some("42")), Err(ListenError::NothingInherited)),
                "{count}"
            );
        }
        for pid in ["41", "", "42\n", "-42", "x\u{1b}[2J"] {
            let refused = counted(Some("1"), Some(pid)).unwrap_err();
            assert!(matches!(refused, ListenError::MeantForAnother(_)), "{pid:?}");
            assert!(!refused.to_string().contains(char::is_control), "{pid:?}");
        }
    }

    #[tokio::test]
    async fn both_kinds_of_sockets_are_adopted() {
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let tcp = adopt(tcp.into()).unwrap();
        assert_eq!(tcp.describe(true), format!("https://{address}"));
        let client = tokio::net::TcpStream::connect(address).await.unwrap();
        tcp.accept().await.unwrap();
        drop(client);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let unix = adopt(UnixListener::bind(&path).unwrap().into()).unwrap();
        let client = tokio::net::UnixStream::connect(&path).await.unwrap();
        unix.accept().await.unwrap();
        assert!(unix.wide_address().is_none());
        drop((client, unix));
        assert!(path.exists(), "the file belongs to the process that created it");
    }

    #[test]
    fn a_descriptor_that_is_not_a_listening_socket_is_refused() {
        // Too high to be open.
        assert!(matches!(take_one(1_000_000), Err(ListenError::NotListening(1_000_000, _))));
        let connected = std::os::unix::net::UnixStream::pair().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&connected.0);
        assert!(matches!(take_one(number), Err(ListenError::NotListening(..))));
    }
}
