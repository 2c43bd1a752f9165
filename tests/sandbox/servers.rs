//! Servers of the test, which answer with what they receive. They live as long as the tests.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::thread::spawn;

pub(super) struct Servers {
    pub(super) tcp: SocketAddr,
    /// None on machines without IPv6.
    pub(super) tcp_6: Option<SocketAddr>,
    pub(super) udp: SocketAddr,
    pub(super) unix: PathBuf,
    pub(super) unix_datagram: PathBuf,
    pub(super) abstract_name: String,
}

impl Servers {
    /// The sockets with a path are in `folder`, and open to all users.
    pub(super) fn start(folder: &Path) -> Self {
        let (unix, unix_datagram) = (folder.join("stream.socket"), folder.join("datagram.socket"));
        serve_unix(UnixListener::bind(&unix).expect("a socket"));
        serve_datagrams(UnixDatagram::bind(&unix_datagram).expect("a socket"));
        for socket in [&unix, &unix_datagram] {
            std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o777)).expect("permissions");
        }
        let abstract_name = format!("mcp-bash-test{}", folder.display());
        let name = UnixAddress::from_abstract_name(&abstract_name).expect("a name");
        serve_unix(UnixListener::bind_addr(&name).expect("a socket"));
        let tcp = serve_tcp("127.0.0.1:0").expect("a port");
        Self { tcp, tcp_6: serve_tcp("[::1]:0").ok(), udp: serve_udp(), unix, unix_datagram, abstract_name }
    }
}

fn serve_tcp(address: &str) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    spawn(move || listener.incoming().flatten().for_each(echo));
    Ok(address)
}

fn serve_unix(listener: UnixListener) {
    spawn(move || listener.incoming().flatten().for_each(echo));
}

/// Answers once.
fn echo(mut connection: impl Read + Write) {
    let mut bytes = [0; 100];
    if let Ok(count) = connection.read(&mut bytes) {
        let _ = connection.write_all(&bytes[..count]);
    }
}

fn serve_udp() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("an address");
    spawn(move || {
        let mut bytes = [0; 100];
        while let Ok((count, from)) = socket.recv_from(&mut bytes) {
            let _ = socket.send_to(&bytes[..count], from);
        }
    });
    address
}

fn serve_datagrams(socket: UnixDatagram) {
    spawn(move || {
        let mut bytes = [0; 100];
        while let Ok((count, from)) = socket.recv_from(&mut bytes) {
            let _ = socket.send_to_addr(&bytes[..count], &from);
        }
    });
}
