//! Listeners: TCP, Unix sockets, and sockets inherited from the service manager.

mod address;
mod inherited;
mod stream;
mod unix;

pub use address::{Address, AddressError};
pub(crate) use stream::{Peer, Stream};

use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, UnixListener};
pub(crate) use unix::SocketFile;

/// Length of the queue of connections that were not accepted yet.
const BACKLOG: u32 = 1024;

/// The shortest time that sent data may stay unacknowledged before the connection is closed.
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("`{0}` is in use by another program; stop that one, or choose another port with `--http`")]
    InUse(SocketAddr),
    #[error("`{0}` is in use by another program; stop that one, or choose another port with `--metrics`")]
    InUseForMetrics(SocketAddr),
    #[error("`{address}` cannot be listened on: {error}")]
    Tcp { address: SocketAddr, error: io::Error },
    #[error("another server listens on `{}`; stop that one, or choose another path", .0.display())]
    SocketInUse(PathBuf),
    #[error("`{}` exists and is no socket; remove it, or choose another path", .0.display())]
    NoSocket(PathBuf),
    #[error("`{}` cannot be listened on: {error}", path.display())]
    Unix { path: PathBuf, error: io::Error },
    #[error(
        "no socket was handed over: `--http systemd` is for services that a socket unit starts (LISTEN_FDS and LISTEN_PID)"
    )]
    NothingInherited,
    #[error("`systemd` is named twice; all sockets that were handed over belong to one `--http systemd`")]
    InheritedBefore,
    #[error(
        "the sockets in LISTEN_FDS were meant for process {0}, not for this one; let systemd start mcp-bash itself, or use `exec`"
    )]
    MeantForAnother(String),
    #[error(
        "descriptor {0}, handed over as a socket, does not listen for connections: {1}; the socket unit needs `ListenStream=` and no `Accept=yes`"
    )]
    NotListening(i32, io::Error),
}

impl ListenError {
    /// The error for the address of the health listener, which has an option of its own.
    pub(crate) fn of_metrics(self) -> Self {
        match self {
            Self::InUse(address) => Self::InUseForMetrics(address),
            other => other,
        }
    }
}

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// The socket file that this server created, which is removed at shutdown. Inherited sockets belong to the process that
        /// passed them on.
        file: Option<SocketFile>,
    },
}

impl Listener {
    /// Opens an address. Inherited sockets can be more than one listener. Must be called within a runtime.
    pub(crate) fn open(address: &Address) -> Result<Vec<Self>, ListenError> {
        match address {
            Address::Tcp(address) => Ok(vec![Self::Tcp(tcp(*address)?)]),
            Address::Unix(path) => {
                let (listener, file) = unix::listen(path)?;
                Ok(vec![Self::Unix { listener, file: Some(file) }])
            }
            Address::Inherited => inherited::take(),
        }
    }

    /// Sets `TCP_USER_TIMEOUT`, which closes connections whose peer has vanished: streams send something every few seconds, and
    /// sent data has to be acknowledged. Data that a client does not read counts as unacknowledged too, so it may wait for as
    /// long as a client may go without reading. Accepted connections inherit the option.
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    pub(crate) fn limit_unacknowledged(&self, stall_time: Duration) {
        if let Self::Tcp(listener) = self {
            let time = u32::try_from(stall_time.max(UNACKNOWLEDGED).as_millis()).unwrap_or(u32::MAX);
            // Without it the system closes such connections later.
            let _ = rustix::net::sockopt::set_tcp_user_timeout(listener, time);
        }
    }

    #[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
    #[expect(clippy::unused_self, reason = "the same method as on Linux")]
    pub(crate) fn limit_unacknowledged(&self, _stall_time: Duration) {}

    /// Takes the socket file that this server created, so that it can be removed earlier or later than the listener.
    pub(crate) fn take_file(&mut self) -> Option<SocketFile> {
        match self {
            Self::Tcp(_) => None,
            Self::Unix { file, .. } => file.take(),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<(Stream, Peer)> {
        loop {
            match self.accept_one().await {
                // The client disconnected before it was accepted: accept the next one at once.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                accepted => return accepted,
            }
        }
    }

    async fn accept_one(&self) -> io::Result<(Stream, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Responses are written in one piece and should be sent at once. If the peer is already gone, a later write
                // fails.
                let _ = stream.set_nodelay(true);
                Ok((Stream::Tcp(stream), Peer::Tcp(address)))
            }
            Self::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                let uid = stream.peer_cred()?.uid();
                Ok((Stream::Unix(stream), Peer::Unix { uid }))
            }
        }
    }

    /// The address that other machines can reach, if any. An unknown address counts as reachable.
    pub(crate) fn wide_address(&self) -> Option<SocketAddr> {
        let Self::Tcp(listener) = self else { return None };
        let unknown = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        Some(listener.local_addr().unwrap_or(unknown))
            .filter(|address| !address::is_loopback_ip(address.ip()))
    }

    /// The value of the OpenTelemetry attribute `network.transport`.
    pub(crate) fn transport(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Unix { .. } => "unix",
        }
    }

    /// The address for the operator: `http://127.0.0.1:8765` or `unix:/run/mcp.sock`.
    pub(crate) fn describe(&self, tls: bool) -> String {
        let scheme = if tls { "https" } else { "http" };
        match self {
            Self::Tcp(listener) => {
                listener.local_addr().map_or_else(|error| error.to_string(), |at| format!("{scheme}://{at}"))
            }
            Self::Unix { listener, .. } => {
                let address = listener.local_addr().ok();
                let path = address.as_ref().and_then(|address| address.as_pathname());
                path.map_or_else(|| "unix:".to_owned(), |path| format!("unix:{}", path.display()))
            }
        }
    }
}

fn tcp(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let open = || -> io::Result<TcpListener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // Connections in TIME_WAIT must not keep the server from being restarted.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    open().map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::InUse(address),
        _ => ListenError::Tcp { address, error },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn a_port_is_listened_on_once() {
        let listeners = Listener::open(&Address::parse("127.0.0.1:0").unwrap()).unwrap();
        let [Listener::Tcp(tcp)] = &listeners[..] else { panic!() };
        let address = tcp.local_addr().unwrap();
        assert_eq!(listeners[0].describe(false), format!("http://{address}"));
        let refused = Listener::open(&Address::Tcp(address)).unwrap_err();
        assert!(matches!(refused, ListenError::InUse(at) if at == address), "{refused}");

        listeners[0].limit_unacknowledged(Duration::from_secs(600));
        let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
        let (mut stream, peer) = listeners[0].accept().await.unwrap();
        assert_eq!(peer, Peer::Tcp(client.local_addr().unwrap()));
        let Stream::Tcp(socket) = &stream else { panic!() };
        assert!(socket.nodelay().unwrap());
        #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
        assert_eq!(rustix::net::sockopt::tcp_user_timeout(socket).unwrap(), 600_000);
        client.write_all(b"there").await.unwrap();
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        drop(stream);
        let mut back = String::new();
        client.read_to_string(&mut back).await.unwrap();
        assert_eq!(back, "there");
    }

    #[tokio::test]
    async fn only_what_other_machines_reach_is_wide() {
        for (address, wide) in [("127.0.0.1:0", false), ("127.9.9.9:0", false), ("0.0.0.0:0", true)] {
            let listeners = Listener::open(&Address::parse(address).unwrap()).unwrap();
            assert_eq!(listeners[0].wide_address().is_some(), wide, "{address}");
        }
    }
}
