//! Stage: files, sockets and a process of this command, for probes to try things on. Sockets are on the loopback device.

use mcp_bash_runner::StateDir;
use mcp_bash_sandbox::Trial;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest wait for a datagram that was sent on this machine.
const DELIVERY: Duration = Duration::from_millis(200);

pub(super) struct Stage {
    /// The project that probes belong to.
    project: PathBuf,
    /// What no project allows.
    outside: PathBuf,
    ipv4: TcpListener,
    /// `None` where there is no IPv6.
    ipv6: Option<TcpListener>,
    udp: UdpSocket,
    abstract_name: String,
    /// They listen as long as they exist.
    _sockets: [UnixListener; 2],
}

impl Stage {
    pub(super) fn make(state_dir: &StateDir) -> io::Result<Self> {
        let [project, outside] = [state_dir.fresh("probe")?, state_dir.fresh("outside")?];
        for folder in [&project, &outside] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        mcp_bash_files::write_whole(&outside.join("file"), b"text")?;
        let abstract_name = format!("mcp-bash-{}", state_dir.unguessable_token()?);
        let sockets = [
            UnixListener::bind(outside.join("socket"))?,
            UnixListener::bind_addr(&UnixAddress::from_abstract_name(&abstract_name)?)?,
        ];
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        udp.set_read_timeout(Some(DELIVERY))?;
        Ok(Self {
            project,
            outside,
            ipv4: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            ipv6: TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).ok(),
            udp,
            abstract_name,
            _sockets: sockets,
        })
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// What a trial is made on; an error if this machine has nothing of the kind.
    pub(super) fn target(&self, trial: Trial) -> io::Result<OsString> {
        let address = |address: io::Result<SocketAddr>| address.map(|address| address.to_string().into());
        Ok(match trial {
            Trial::ReadFile | Trial::TruncateFile => self.outside.join("file").into(),
            Trial::ListFolder => self.outside.clone().into(),
            Trial::CreateFile => self.outside.join("new").into(),
            Trial::ConnectPath => self.outside.join("socket").into(),
            Trial::ConnectIpv4 => return address(self.ipv4.local_addr()),
            Trial::ConnectIpv6 => match &self.ipv6 {
                Some(listener) => return address(listener.local_addr()),
                None => return Err(io::Error::other("this machine has no IPv6")),
            },
            Trial::SendUdp => return address(self.udp.local_addr()),
            Trial::ConnectAbstract => self.abstract_name.clone().into(),
            Trial::SignalProcess | Trial::ReadProcess => std::process::id().to_string().into(),
            _ => OsString::new(),
        })
    }

    /// Whether a trial that a probe calls successful had its effect here.
    pub(super) fn has_noticed(&self, trial: Trial) -> bool {
        trial != Trial::SendUdp || self.udp.recv(&mut [0; 16]).is_ok()
    }
}
