//! Syslog (RFC 5424) and the journal (its native protocol), over their local sockets.

use crate::chain::Head;
use crate::error::AuditError;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How long a receiver may take to make room.
const PATIENCE: Duration = Duration::from_millis(250);

/// Facility `authpriv`, severity `info`.
const PRIORITY: u8 = 10 * 8 + 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Syslog,
    Journal,
}

impl Protocol {
    /// Where its receiver listens.
    pub(crate) fn usual_socket(self) -> PathBuf {
        match self {
            Self::Syslog => "/dev/log".into(),
            Self::Journal => "/run/systemd/journal/socket".into(),
        }
    }

    fn message(self, line: &str, seq: u64) -> String {
        match self {
            Self::Syslog => {
                let (time, process) = (mcp_bash_utc::precise(SystemTime::now()), std::process::id());
                format!("<{PRIORITY}>1 {time} - mcp-bash {process} audit - {line}")
            }
            Self::Journal => {
                format!("MESSAGE={line}\nPRIORITY=6\nSYSLOG_IDENTIFIER=mcp-bash\nMCP_AUDIT_SEQ={seq}\n")
            }
        }
    }
}

/// A receiver of datagrams. The chain of its lines begins with this process.
pub(crate) struct Datagrams {
    protocol: Protocol,
    path: PathBuf,
    socket: Option<UnixDatagram>,
    head: Head,
}

impl Datagrams {
    pub(crate) fn new(protocol: Protocol, path: PathBuf) -> Self {
        Self { protocol, path, socket: None, head: Head::START }
    }

    pub(crate) fn prepare(&mut self) -> Result<(), AuditError> {
        if self.socket.is_none() {
            self.socket = Some(self.connect().map_err(|source| self.unreachable(source))?);
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, members: &str) -> Result<(), AuditError> {
        let (line, head) = self.head.next(members);
        let message = self.protocol.message(line.trim_end(), head.seq);
        self.send(message.as_bytes()).map_err(|source| self.unreachable(source))?;
        self.head = head;
        Ok(())
    }

    /// Sends a datagram. A receiver that was restarted has another socket.
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        if let Some(socket) = self.socket.take()
            && socket.send(message).is_ok()
        {
            self.socket = Some(socket);
            return Ok(());
        }
        let socket = self.connect()?;
        socket.send(message)?;
        self.socket = Some(socket);
        Ok(())
    }

    fn connect(&self) -> io::Result<UnixDatagram> {
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(PATIENCE))?;
        socket.connect(&self.path)?;
        Ok(socket)
    }

    fn unreachable(&self, source: io::Error) -> AuditError {
        AuditError::Socket { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(socket: &UnixDatagram) -> String {
        let mut message = vec![0; 1 << 16];
        let count = socket.recv(&mut message).unwrap();
        String::from_utf8(message[..count].to_vec()).unwrap()
    }

    #[test]
    fn lines_go_to_a_receiver_that_may_be_restarted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut syslog = Datagrams::new(Protocol::Syslog, path.clone());
        assert!(matches!(syslog.append("\"a\":1"), Err(AuditError::Socket { .. })));
        for seq in 1..=2 {
            let _ = std::fs::remove_file(&path);
            let receiver = UnixDatagram::bind(&path).unwrap();
            syslog.append("\"a\":1").unwrap();
            let message = received(&receiver);
            assert!(message.starts_with("<86>1 20"), "{message}");
            let process = std::process::id();
            let parts = format!(" - mcp-bash {process} audit - {{\"seq\":{seq},\"prev\":\"");
            assert!(message.contains(&parts) && message.ends_with("\"a\":1}"), "{message}");
        }
    }

    #[test]
    fn a_journal_receives_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let receiver = UnixDatagram::bind(&path).unwrap();
        Datagrams::new(Protocol::Journal, path).append("\"a\":1").unwrap();
        let message = received(&receiver);
        let fields: Vec<&str> = message.lines().collect();
        assert!(fields[0].starts_with("MESSAGE={\"seq\":1,"), "{message}");
        assert_eq!(fields[1..], ["PRIORITY=6", "SYSLOG_IDENTIFIER=mcp-bash", "MCP_AUDIT_SEQ=1"]);
    }
}
