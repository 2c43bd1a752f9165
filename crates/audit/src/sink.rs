//! Sinks of an audit log: a file, syslog, the journal or standard error.

use crate::chain::Head;
use crate::error::AuditError;
use crate::file::AuditFile;
use crate::file::rotation::Rotation;
use crate::sockets::{Datagrams, Protocol};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    File(PathBuf),
    /// With the socket of the receiver, if it is not the usual one.
    Syslog(Option<PathBuf>),
    Journal(Option<PathBuf>),
    StandardError,
}

impl Destination {
    /// The destination that a setting names: a path, `syslog`, `journal` or `stderr`. A socket may follow, as in
    /// `syslog:/run/log`.
    pub fn parse(text: &str) -> Self {
        let (word, socket) = match text.split_once(':') {
            Some((word, socket)) if socket.starts_with('/') => (word, Some(PathBuf::from(socket))),
            _ => (text, None),
        };
        match word {
            "syslog" => Self::Syslog(socket),
            "journal" => Self::Journal(socket),
            "stderr" if socket.is_none() => Self::StandardError,
            _ => Self::File(text.into()),
        }
    }

    /// The word that a setting names it by.
    pub fn word(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Syslog(_) => "syslog",
            Self::Journal(_) => "journal",
            Self::StandardError => "stderr",
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }
}

pub(crate) enum Sink {
    File(AuditFile),
    Datagrams(Datagrams),
    StandardError(Head),
}

impl Sink {
    pub(crate) fn new(destination: &Destination, rotation: Rotation) -> Self {
        let datagrams = |protocol: Protocol, socket: &Option<PathBuf>| {
            let socket = socket.clone().unwrap_or_else(|| protocol.usual_socket());
            Self::Datagrams(Datagrams::new(protocol, socket))
        };
        match destination {
            Destination::File(path) => Self::File(AuditFile::new(path.clone(), rotation)),
            Destination::Syslog(socket) => datagrams(Protocol::Syslog, socket),
            Destination::Journal(socket) => datagrams(Protocol::Journal, socket),
            Destination::StandardError => Self::StandardError(Head::START),
        }
    }

    /// Opens it, so that a mistake is found before there is anything to write.
    pub(crate) fn prepare(&mut self) -> Result<(), AuditError> {
        match self {
            Self::File(file) => file.prepare(),
            Self::Datagrams(datagrams) => datagrams.prepare(),
            Self::StandardError(_) => Ok(()),
        }
    }

    /// Appends a line, and returns the file that has it.
    pub(crate) fn append(&mut self, members: &str) -> Result<Option<Arc<File>>, AuditError> {
        match self {
            Self::File(file) => file.append(members).map(Some),
            Self::Datagrams(datagrams) => datagrams.append(members).map(|()| None),
            Self::StandardError(head) => {
                let (line, next) = head.next(members);
                let written = io::stderr().lock().write_all(line.as_bytes());
                written.map_err(|source| AuditError::StandardError { source })?;
                *head = next;
                Ok(None)
            }
        }
    }

    pub(crate) fn reopen(&mut self) {
        if let Self::File(file) = self {
            file.reopen();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_a_destination() {
        let parse = Destination::parse;
        assert_eq!(parse("syslog"), Destination::Syslog(None));
        assert_eq!(parse("journal:/run/x"), Destination::Journal(Some("/run/x".into())));
        assert_eq!(parse("stderr"), Destination::StandardError);
        for path in ["/var/log/audit.jsonl", "logs/syslog", "a:b", "stderr:/x"] {
            assert_eq!(parse(path), Destination::File(path.into()), "{path}");
        }
    }
}
